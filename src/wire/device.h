/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_DEVICE_H
#define PROTON_WIRE_DEVICE_H
#include <stdint.h>
#include "core/session.h"

/* The device of what proton itself put on a tape. SESSION_NONE: it is not known yet. */
uint32_t wire_device_by_uuid(const struct session *s, const char *uuid);

#endif
