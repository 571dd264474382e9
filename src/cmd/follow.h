/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_FOLLOW_H
#define PROTON_CMD_FOLLOW_H
/* proton top of what was not started for it: the loops that take what comes, show it on the screen or print pictures
 * of it, and keep it in a file. What comes, and from where, is a table: streams of runs elsewhere (join.c). */
#include <stdbool.h>
#include <stdint.h>
#include "cmd/pictures.h"
#include "cmd/screen_options.h"

struct follow_options {
	const char *output; /* where the profile is kept; NULL: nowhere */
	struct screen_options *screen;
	struct profile_options *profile;
	struct pictures pictures;
	uint64_t interval_ns, save_ns;
	bool batch; /* no screen */
	bool leave_at_end, quiet;
};

/* data is the first argument of each. */
struct followed {
	enum tui_source source;
	bool is_endless; /* it is over when nobody wants more */
	/* Take what there is into the session, whose `ended` and end_ns say whether more may come. 0 or -ENOMEM. */
	int (*read)(void *data);
	/* The last: whoever looks leaves. NULL: then what is missing is a loss. */
	void (*finish)(void *data);
	/* Readable when there is something to read; -1: it is asked for. */
	int (*fd)(void *data);
	bool (*is_behind)(void *data); /* is there more, that need not be waited for? */
	bool (*has_begun)(void *data); /* is there anything to print? */
	/* Something to say that was not said before: NULL, or a sentence that is valid until the next call. */
	const char *(*news)(void *data);
	void (*status)(void *data, struct tui_status *ret);
	/* What the screen says at first; "": nothing. */
	void (*greet)(void *data, struct tui *t);
};

/* Until it is over, or left, also by a signal. An exit status. */
int follow_run(const struct follow_options *options, const struct followed *of, void *data,
	       struct session *s);

#endif
