/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_PROBE_H
#define PROTON_LAUNCH_PROBE_H
/* A question that may crash or hang whoever asks it: a child asks, within a deadline.
 *
 * The answer is lines "KEY VALUE", told as they are found, so that a child which dies has said how
 * far it came: "stage TEXT" is what it was about to do.
 *
 *   errors  an end that is not PROBE_ANSWERED
 *   thread  one */
#include <stdbool.h>
#include <sys/types.h>
#include "base/buf.h"

enum probe_end {
	PROBE_ANSWERED, /* it ended by itself, with status 0 */
	PROBE_FAILED,   /* it could not be started: detail is the errno */
	PROBE_LEFT,     /* somebody else's code ended it: detail is the status */
	PROBE_DIED,     /* detail is the signal */
	PROBE_HUNG,     /* it did not end in time: detail is the deadline, in seconds */
};

struct probe {
	enum probe_end end;
	int detail;
	struct buf text;
};

/* Called in the child: tells lines to the descriptor, and returns. */
typedef void probe_fn(const void *ctx, int fd);

/* One that goes on, for as long as it is wanted: what it told so far is in a struct probe. */
struct probe_child {
	pid_t pid; /* 0: there is none */
	int fd;
	bool is_open; /* it may tell more */
};

/* Ask. Fills *ret, which probe_done() frees. The child has no standard streams, leaves no core, and
 * ends with us. */
void probe_run(probe_fn *fn, const void *ctx, unsigned deadline_ms, struct probe *ret);
/* … and tell meanwhile, again and again, for how long it was waited. NULL: nobody. */
struct probe_waiting {
	void (*call)(void *data, unsigned ms);
	void *data;
};
void probe_run_told(probe_fn *fn, const void *ctx, unsigned deadline_ms,
		    const struct probe_waiting *waiting, struct probe *ret);
/* Ask n at once, each by a child of its own with its ctx[i]: at most PROBES_MAX. */
enum { PROBES_MAX = 16 };
void probe_run_all(probe_fn *fn, const void *const ctx[], size_t n, unsigned deadline_ms,
		   struct probe ret[]);
void probe_done(struct probe *p);

/* Start one, whose lines probe_look() adds to *ret: which the caller may take out of ret->text. False: it could not be
 * started, ret->end says why. */
bool probe_begin(probe_fn *fn, const void *ctx, struct probe *ret, struct probe_child *child);
/* Without waiting: take what it told. True: it has ended, all it told is there, and how is in ret. */
bool probe_look(struct probe_child *child, struct probe *ret);
/* End it, if it has not ended: as one that did not answer in so many seconds. */
void probe_stop(struct probe_child *child, unsigned seconds, struct probe *ret);

/* In the child: a line of the answer. Line ends in what is told become blanks. */
void probe_tell(int fd, const char *format, ...) _printf_(2, 3);

/* The value of the n-th line of this key, cut out of the answer; NULL: there is no such line. */
const char *probe_value(struct buf *scratch, const struct probe *p, const char *key, unsigned n);
/* A value that is a number, of the first line of this key. */
bool probe_number(const struct probe *p, const char *key, long *ret);

/* What became of it, when it did not answer: "cuInit crashed with SIGSEGV". */
void probe_say_end(const struct probe *p, struct buf *out);
/* … where it was at one thing all the time. */
void probe_say_end_of(const char *what, const struct probe *p, struct buf *out);

#endif
