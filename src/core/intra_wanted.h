/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_INTRA_WANTED_H
#define PROTON_CORE_INTRA_WANTED_H
/* What scopes within kernels of a program without any are wanted (record --intra). proton writes it into a file of the session's
 * directory, from which the processes that rewrite modules read it:
 *
 *   mode default:buffer_type=shared   one line; intra/intra_mode.h
 *   libraries all                     or users: those of vendors are left alone
 *   func,loop                         from here on rules, to the file's end
 *
 *   thread  one */
#include <stdbool.h>

#define INTRA_FILE "intra"
/* How long rewriting a module may take, unless a run says it otherwise. */
enum { INTRA_LIMIT_S = 60 };

struct intra_wanted {
	char *mode;
	bool has_all; /* libraries */
	char *rules;
};

/* The text of such a file; free() it. NULL: no memory. */
char *intra_wanted_text(const struct intra_wanted *w);
/* False: it is no such text, or no memory. intra_wanted_done() in either case. */
bool intra_wanted_parse(const char *text, struct intra_wanted *ret);
void intra_wanted_done(struct intra_wanted *w);

#endif
