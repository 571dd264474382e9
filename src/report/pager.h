/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_PAGER_H
#define PROTON_REPORT_PAGER_H
/* Long text on a terminal goes through a pager, as git does it: $PROTON_PAGER, else $PAGER, else less
 * where it is installed. LESS is set to FRX unless it is set already: less then ends by itself if
 * the text fits the screen.
 *
 *	struct pager pager;
 *
 *	pager_start(&pager, !o.no_pager);   from here on stdout goes to the pager
 *	...
 *	pager_finish(&pager);               waits until the user has left the pager
 */
#include <stdbool.h>
#include <sys/types.h>

struct pager {
	pid_t pid; /* 0: there is none */
};

/* Does nothing when not wanted, when stdout is not a terminal or a dumb one, and when the variable
 * is empty or "cat". */
void pager_start(struct pager *p, bool wanted);
void pager_finish(struct pager *p);

#endif
