/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_PAGER_H
#define PROTON_REPORT_PAGER_H
/* Long text on a terminal goes through a pager, as git does it: $PROTON_PAGER, else $PAGER, else less
 * where it is installed, with LESS=FRX unless set: what fits the screen is just printed.
 *
 *	struct pager pager;
 *
 *	pager_start(&pager, !o.no_pager);   from here on stdout is the pager's
 *	...
 *	pager_finish(&pager);               until it has been left
 */
#include <stdbool.h>
#include <sys/types.h>

struct pager {
	pid_t pid; /* 0: there is none */
};

/* Nothing where stdout is no terminal or a dumb one, where the variable is empty or "cat", and when not wanted. */
void pager_start(struct pager *p, bool wanted);
void pager_finish(struct pager *p);

#endif
