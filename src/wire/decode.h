/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_DECODE_H
#define PROTON_WIRE_DECODE_H
/* The distrustful reader: bytes of a stream, in any pieces, into a session. What it cannot
 * understand it counts (LOSS_WIRE_ERROR) and skips; it never asserts on input. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
struct native_namer;
struct session;
struct wire_decoder;

struct wire_decoder *wire_decoder_new(struct session *s); /* borrows s; NULL: no memory */
struct wire_decoder *wire_decoder_free(struct wire_decoder *d);
/* Take n bytes of a frame stream. 0, or -ENOMEM. */
int wire_decoder_feed(struct wire_decoder *d, const void *data, size_t n);
/* Frames of compiled code are named by it as they come, else they stay a file and an address. Borrowed. */
void wire_decoder_set_namer(struct wire_decoder *d, const struct native_namer *namer);
/* What is fed is a tape's (behind its header), which says what was run, too. Instances of another origin are others,
 * whatever their number: several such decoders may fill one session. */
void wire_decoder_of_tape(struct wire_decoder *d, uint64_t origin);
/* Nothing comes any more of processes that have not said that they end: they have vanished, as far as we know, but for
 * those of which was told that they went on. */
void wire_decoder_cut_off(struct wire_decoder *d);
/* … and of the run. Had it not ended either? */
bool wire_decoder_vanish(struct wire_decoder *d);
/* The host of the first of its processes, a string of the session; SESSION_NONE: there is none yet. */
uint32_t wire_decoder_host(const struct wire_decoder *d);
/* Are times from another machine's clock? They are on ours, as well as wall clocks agree. */
bool wire_decoder_is_elsewhere(const struct wire_decoder *d);
/* The namer had no time: wire_decoder_feed() goes on with what it has, or with no bytes. */
bool wire_decoder_stalled(const struct wire_decoder *d);
/* Bytes at the end that are not yet a whole frame. */
size_t wire_decoder_pending(const struct wire_decoder *d);
/* They will never be: what comes next begins a frame. */
void wire_decoder_cut(struct wire_decoder *d);
uint64_t wire_decoder_frames(const struct wire_decoder *d);

/* A bulk file that an instance announced; the reader of a live stream hands its bytes to the decoder
 * as BULK frames (WIRE_NO_SEQ), from `taken` on. */
struct wire_segment_state {
	uint64_t instance;
	uint32_t id;
	const char *path;     /* as it was sent: not to be trusted */
	size_t entry;         /* pieces are whole entries of so many bytes */
	uint64_t size, taken; /* whole entries too: a part of one at the end is not there yet */
};
/* The i-th of all instances; false: there are not so many. */
bool wire_decoder_segment(const struct wire_decoder *d, size_t i, struct wire_segment_state *ret);

/* A session that the program of an instance started for itself (struct wire_session). */
struct wire_session_state {
	uint64_t instance;
	uint32_t id, state; /* WIRE_SESSION_*; an id may be another one's after FINALIZED … */
	uint32_t serial;    /* … and this is not: how many the program began before it */
	uint32_t process;   /* of the session that this is decoded into */
	bool taken;         /* wire_decoder_session_take() */
	const char *name, *context, *device_type,
		*format; /* as they were sent: not to be trusted. The name stays until the next feed */
};
/* The i-th of all instances, in an order that does not change but by more at the end of each instance;
 * false: there are not so many. */
bool wire_decoder_session(const struct wire_decoder *d, size_t i, struct wire_session_state *ret);
/* Somebody has done what its end asks for. It stays so, however often the end is told. */
void wire_decoder_session_take(struct wire_decoder *d, size_t i);
/* Which rows are of it: a byte for each of the rows, 1 where it is. 0, -ENOENT or -ENOMEM. */
int wire_decoder_session_rows(const struct wire_decoder *d, size_t i, uint8_t *rows);

/* The lowest phase that it has, from this one on; WIRE_NONE: there is none. */
uint32_t wire_decoder_session_phase(const struct wire_decoder *d, size_t i, uint32_t from);

/* What the program of an instance asks for (struct wire_ask). */
struct wire_ask_state {
	struct wire_session_state session;
	uint32_t id, what, phase;
	const char *format; /* as it was sent: not to be trusted */
};
/* The one that was asked first is taken; false: there is none. */
bool wire_decoder_ask(struct wire_decoder *d, struct wire_ask_state *ret);
/* As wire_decoder_session_rows(), of a phase of a session that asks. 0 or -ENOMEM. */
int wire_decoder_phase_rows(struct wire_decoder *d, uint64_t instance, uint32_t session,
			    uint32_t phase, uint8_t *rows);

/* The lowest epoch, by the number that its instance has for it, that a phase of a session is in, from this one on; any phase:
 * WIRE_NONE. WIRE_NONE: there is none. */
uint32_t wire_decoder_phase_epoch(struct wire_decoder *d, uint64_t instance, uint32_t session,
				  uint32_t phase, uint32_t from);

/* Nothing comes any more: what was announced and did not come is counted (LOSS_TRACE_UNREAD). */
void wire_decoder_finish(struct wire_decoder *d);

/* Is this the beginning of a tape? */
int wire_is_tape(const void *head, size_t n);
/* A whole tape into s; read gives bytes, 0 at the end, or -errno. -EBADMSG: not a tape, or of
 * another version. A torn end is LOSS_WIRE_ERROR, not an error. *ret_offset (may be NULL): bytes
 * read. namer: as wire_decoder_set_namer(), or NULL. */
int wire_read_tape(ssize_t (*read)(void *ctx, void *data, size_t n), void *ctx,
		   const struct native_namer *namer, struct session *s, uint64_t *ret_offset);

#endif
