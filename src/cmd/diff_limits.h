/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_DIFF_LIMITS_H
#define PROTON_CMD_DIFF_LIMITS_H
/* How much a comparison may differ: the exit status of `diff`, for scripts. */
#include <stdbool.h>
#include "core/diff.h"
#include "report/diff.h"

/* The exit statuses are those of diff and cmp, not those of the other commands. */
enum { STATUS_WITHIN = 0, STATUS_OVER = 1, STATUS_TROUBLE = 2 };

struct diff_limits {
	double over,
		under; /* what the total may grow and shrink by, of A; negative: not asked for */
	bool each;     /* or any one path */
};

bool diff_limits_any(const struct diff_limits *limits);
/* An exit status; a line on stderr says what is beyond a limit, or why there is no telling. Of several
 * metrics the first one is held to it: those beside it may be such that should grow, where it should
 * shrink. */
int diff_limits_judge(const struct diff_limits *limits, const struct diff *d,
		      const struct diff_print *p);
/* A pattern that leaves nothing of a run may be one that looks for its name at the wrong place. */
void diff_complain_inside(const struct diff *d, const char *include);

#endif
