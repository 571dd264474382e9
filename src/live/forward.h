/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_FORWARD_H
#define PROTON_LIVE_FORWARD_H
/* The stream of a run, live, to somebody who looks at it elsewhere: standard output, or a socket that another
 * proton listens at. What is sent is a tape (wire/wire.h).
 *
 *     frames ── forward_put() ──> whole frames ── forward_poll() ──> pipe, socket
 *                                  at most 64 MiB
 *
 * Nobody waits for a reader. What a slow one leaves no room for is left out; when it has read what there was, it
 * is told all again, and so is one that comes later, or anew: values are cumulative. Of an instance it gets nothing
 * before that has said hello again, or has been told of by somebody who knows it.
 *
 *   errors  -errno
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct forward;

/* Something that is no target, or somebody else's: -EINVAL no such form, -ENAMETOOLONG, -ENOTSOCK it is something
 * else, -EPERM another user's, -ENOTCONN standard output is closed. */
int forward_new(const char *target, struct forward **ret_forward);
struct forward *forward_free(struct forward *f);

/* Connect, if it is time, and send what there is, as far as the reader takes it. */
void forward_poll(struct forward *f);
/* What can be waited for with POLLOUT; -1: there is nothing to send. */
int forward_fd(const struct forward *f);

/* Is there a reader who has to be told all? Then say what instance 0 has to say, and ask all others. */
bool forward_is_fresh(const struct forward *f);
void forward_begin(struct forward *f);
/* Bytes of the stream, in any pieces. */
void forward_put(struct forward *f, const void *data, size_t n);
/* Has the reader, or will it have, heard an instance's hello? Yes, too, while there is no reader to tell. */
bool forward_knows(const struct forward *f, uint64_t instance);
/* What was put last told of an instance in place of it, with ids of its own: it is heard again from its next hello on. */
void forward_retold(struct forward *f, uint64_t instance);

/* Wait for the reader of the rest, as long as it reads on. leave() is asked now and then, and ends the wait. */
void forward_finish(struct forward *f, bool (*leave)(void *ctx), void *ctx);
/* What went wrong, in a sentence; NULL: nothing. Valid until the next call. */
const char *forward_trouble(struct forward *f);
/* Frames that were left out since the beginning. */
uint64_t forward_left_out(const struct forward *f);

#endif
