/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_PROGRESS_H
#define PROTON_REPORT_PROGRESS_H
/* A line on the terminal while something takes long:
 *
 *   reading files: 37 of 512
 *
 * Nothing is written during the first half second, nor where standard error is no terminal. */
#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;
	uint64_t n;
	const char *unit;            /* " s", behind them; NULL: none */
	uint64_t begin_ns, shown_ns; /* 0: not begun, not shown */
};

void progress_at(struct progress *p, uint64_t i); /* before the i-th of n */
void progress_done(struct progress *p);           /* takes the line away */

#endif
