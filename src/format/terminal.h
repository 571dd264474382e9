/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_TERMINAL_H
#define PROTON_FORMAT_TERMINAL_H
/* Output of a writer that goes to a terminal. A file keeps names exactly, and some formats cannot
 * escape anything; a terminal must not obey what is in a name. So each line is made safe to show,
 * as base/shown.h says.
 *   thread  one */
#include "format/out.h"

struct terminal {
	int fd;
	size_t n_rest; /* of a character whose other bytes have not been written yet */
	char rest[4];
};

/* As out_to_fd(). After the last flush terminal_end() writes what is left in `t`. */
void out_to_terminal(struct out *o, struct terminal *t, int fd);
int terminal_end(struct terminal *t); /* 0 or -errno */

#endif
