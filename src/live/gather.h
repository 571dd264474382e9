/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_GATHER_H
#define PROTON_LIVE_GATHER_H
/* The other end of forward.h: streams of runs elsewhere, joined in one session. One comes on standard input, or any
 * number of them to a socket. Each has a decoder of its own, and none is trusted: what comes is a stream of proton
 * or is left alone.
 *
 *   errors  -errno
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"

struct gather;

/* Is it "-" or "unix:PATH"? */
bool gather_is_source(const char *word);
/* -errno as of local_socket.h. */
int gather_new(const char *source, struct gather **ret_gather);
struct gather *gather_free(struct gather *g);

struct session *gather_session(struct gather *g);
/* Readable when there is something to read. */
int gather_fd(const struct gather *g);
/* Is there more that was not waited for (a file)? */
bool gather_is_behind(const struct gather *g);
/* Take what is there, a few MiB at most. 0 or -ENOMEM. */
int gather_read(struct gather *g);

/* Streams that there are now, and that there ever were. */
unsigned gather_n_open(const struct gather *g);
unsigned gather_n_streams(const struct gather *g);
/* Will nothing more come? At a socket others may: then, that all that came have ended. */
bool gather_is_over(const struct gather *g);
/* Something to say that was not said before: NULL, or a sentence that is valid until the next call. */
const char *gather_news(struct gather *g);

#endif
