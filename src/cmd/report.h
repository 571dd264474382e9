/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_REPORT_H
#define PROTON_CMD_REPORT_H
/* What other commands use of `report`. */
#include "cmd/load.h"
#include "cmd/profile_options.h"

/* Text on stdout. 0, -EINVAL (no such metric), -ENODATA (nothing left; that an expression would match
 * within names was said) or -errno. */
int report_print(const struct session *s, const struct report_options *options, enum group group);
/* What `report` does with a profile that was read. Exit status; a line on stderr when not 0. */
int report_profile(const struct loaded *l, struct profile_options *o, const char *path);
void list_metrics(const struct session *s); /* as `proton list` */

#endif
