/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_TOP_DEVICES_H
#define PROTON_CMD_TOP_DEVICES_H
/* proton top --device: what devices say of themselves, without any program. */
#include "cmd/follow.h"
#include "live/devices.h"

/* "0", "0,2", "all": added to *numbers (struct devices_options). 0 or -EINVAL. */
int devices_parse(const char *text, uint64_t *numbers);

/* Until it is left. An exit status. */
int top_devices_run(const struct devices_options *of, const struct follow_options *options);

#endif
