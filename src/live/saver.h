/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_SAVER_H
#define PROTON_LIVE_SAVER_H
/* Writes the profile, or what is beside it, again and again while the program runs, in a forked child: its memory is a
 * picture of the session at the fork, and the loop that reads the pipe never waits for the disk.
 * The period grows with the cost, so that saving takes at most 1 % of one core.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"

struct saver {
	char *path;
	uint64_t period_ns;         /* wanted; the real one may be longer */
	uint64_t next_ns;           /* CLOCK_MONOTONIC */
	uint64_t started_ns;        /* start of the child; part of its temporary file's name */
	uint64_t generation;        /* of what is saved at the last save */
	int child;                  /* pid, 0: none */
	int error;                  /* of the last save */
	bool no_trace;              /* when operations ran is left out, also at the end */
	unsigned n_saves, n_failed; /* by children */
};

/* path is copied. 0 or -ENOMEM. period 0 = one second. */
int saver_init(struct saver *v, const char *path, uint64_t period_ns);
void saver_done(struct saver *v);
/* When due and something changed: fork and write. Also notices the end of the last child. */
void saver_poll(struct saver *v, struct session *s);
/* The same of something else. Call saver_start() when saver_is_due(), which notices the end of the last child, says so. */
typedef int saver_fn(const struct saver *v, void *ctx); /* 0 or -errno; in a child */
bool saver_is_due(struct saver *v);
void saver_start(struct saver *v, uint64_t generation, saver_fn *save, void *ctx);
/* What saver_poll() writes: the session, which may go on. 0 or -errno; in a child. */
int saver_save_part(const struct saver *v, struct session *s);
/* Wait for the last child, after which nobody renames a file any more. */
void saver_settle(struct saver *v);
/* The last save, in this process. When the session has not ended, it is told of the loss that the rest
 * is, as the files that saver_poll() makes are. 0 or -errno. */
int saver_finish(struct saver *v, struct session *s);
/* How long until saver_poll() wants to be called, ms. */
int saver_wait_ms(const struct saver *v);

#endif
