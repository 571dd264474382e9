/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_RUN_H
#define PROTON_WIRE_RUN_H
/* What a tape says of its run (struct session_run): written by who starts the program, not by a
 * collector. It is put together from RUN frames, of which each has a piece.
 *   errors  -errno
 *   thread  one */
#include "base/buf.h"
#include "core/session.h"

/* Frames that say all of a run, ready for a tape. Nothing when it is too long (WIRE_TEXT_MAX). */
void wire_run_frames(const struct session *s, const struct session_run *run, uint64_t time_ns,
		     struct buf *out);

/* The run of a tape as far as it came. Zeroed at first. */
struct wire_run_reader {
	struct buf text; /* that is under way */
	uint32_t total;
	size_t run; /* in the session, +1; 0: none yet */
};
void wire_run_reader_done(struct wire_run_reader *r);
/* The payload of one frame. The last piece adds the run to the session, or replaces the one that came
 * before. 0, -EBADMSG or -ENOMEM. */
int wire_run_take(struct wire_run_reader *r, struct session *s, const void *payload, size_t size);

#endif
