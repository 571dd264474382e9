/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_ASKS_H
#define PROTON_COLLECT_ASKS_H
/* What the program asks proton for: a phase of a session, as data or as a file (wire.h, struct wire_ask).
 *
 *     FREE ── ask_post() ──> POSTED ── burst.c ──> SENT        until ask_done()
 *                              └─ ask_leave() ─> LEFT ── burst.c ──> FREE
 *
 * The answer is in a file that we make in the session directory before we ask. */
#include <stddef.h>
#include <stdint.h>
#include "collect/internal.h"

enum ask_state { ASK_FREE = 0, ASK_FILLED, ASK_POSTED, ASK_SENT, ASK_LEFT };

struct ask {
	uint32_t what, session, phase, format; /* format: a string */
};

/* Ask: its place, or a negative errno: -EAGAIN where too many wait for an answer. Any thread. */
int ask_post(const struct ask *ask);
/* 1: it is answered, with *ret_error (0, or a positive errno) and, unless ret_fd is NULL, a descriptor of the
 * file, whose data begins behind WIRE_ANSWER_HEAD. 0: not yet. -errno: the file is gone. */
int ask_look(int place, int *ret_error, int *ret_fd);
/* Nobody waits for it any more. */
void ask_done(int place);
/* … but it is to be done all the same. */
void ask_leave(int place);

/* The sender: what was asked and not sent when the limits of a burst were read. One is sent only when all that
 * was there by then is. */
struct ask_due {
	int place;
	uint32_t id;
	struct ask ask;
};
uint32_t asks_due(struct ask_due due[static MAX_ASKS]);
void ask_sent(const struct ask_due *due);
/* In a fork child nobody waits. */
void asks_forked(void);

#endif
