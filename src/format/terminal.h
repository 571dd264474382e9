/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_TERMINAL_H
#define PROTON_FORMAT_TERMINAL_H
/* Files that are written to a terminal. A file keeps names exactly, and some formats have no way to
 * escape; on a terminal all of it is text to look at: base/shown.h, line by line.
 *   thread  one */
#include "format/out.h"

struct terminal {
	int fd;
	size_t n_rest; /* of a character whose other bytes have not been written yet */
	char rest[4];
};

/* As out_to_fd(); what is left in `t` at the end goes out with terminal_end(). */
void out_to_terminal(struct out *o, struct terminal *t, int fd);
int terminal_end(struct terminal *t); /* 0 or -errno */

#endif
