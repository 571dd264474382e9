/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_ENCODE_H
#define PROTON_WIRE_ENCODE_H
/* Makes frames. Used by the collector's sender (libc only, no malloc) and by tests.
 *
 * An encoder fills one frame at a time and hands each full one to `emit`, which may fail (-EAGAIN:
 * the pipe is full): the error sticks until wire_encoder_clear(), and what was in the failed frame
 * must be sent again by the caller.
 *   thread  one an encoder */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/wire.h"

struct wire_encoder {
	/* Write a whole frame of n bytes (padded). 0 or a negative errno. */
	int (*emit)(void *arg, const void *frame, size_t n);
	void *arg;
	uint64_t instance, seq;
	int error;
	size_t used; /* bytes in frame, 0 = none open */
	union {
		struct wire_header header;
		unsigned char frame[WIRE_FRAME_MAX];
	};
};

void wire_encoder_init(struct wire_encoder *e, uint64_t instance,
		       int (*emit)(void *arg, const void *frame, size_t n), void *arg);
/* Room for one entry of size bytes in a frame of this kind; the open frame is sent when it is of
 * another kind or full. NULL: error or size > WIRE_PAYLOAD_MAX. */
void *wire_encode(struct wire_encoder *e, enum wire_kind kind, size_t size);
/* The same, with the entry in it. 0, or the error. */
int wire_put(struct wire_encoder *e, enum wire_kind kind, const void *entry, size_t size);
/* … with n numbers behind it. */
int wire_put_numbers(struct wire_encoder *e, enum wire_kind kind, const void *entry, size_t size,
		     const uint64_t *v, size_t n);
/* A string of at most WIRE_TEXT_MAX bytes, in as many parts as needed. */
int wire_encode_text(struct wire_encoder *e, uint32_t id, const char *s, uint32_t len);
int wire_encoder_flush(struct wire_encoder *e);  /* send the open frame; returns the error */
void wire_encoder_clear(struct wire_encoder *e); /* drop the open frame and the error */

#endif
