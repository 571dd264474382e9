/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_BUSY_H
#define PROTON_CORE_BUSY_H
/* All that a process did on a device as one, from its strips: when anything ran there, whatever stream it was on, and
 * why nothing did in between.
 *
 *   stream 7    ──[gemm]────────────[relu]──
 *   stream 8    ─────[copy]─────────────────
 *   as one      ──[██████]──────────[████]──    pieces: when one began, and how long the device had worked by then
 *                         │ a gap: late, launch …  (core/gaps.h has the rules, as for gaps that a collector charges)
 *
 * Of a moment the pieces answer by a search how long the device had worked; a column of any width is two of these.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/gaps.h"
#include "core/strips.h"

struct busy_piece {
	uint64_t start_ns, before_ns;
};

struct busy {
	const struct strips *t;
	size_t first_strip, n_strips;
	struct busy_piece *pieces;
	size_t n, cap;
	uint64_t total_ns;
	uint64_t least_ns; /* from a launch to its work, of all; UINT64_MAX: not known */
};

/* The strips of the device of lane `lane`, which is none of the host, as its process used it: lanes of one stand
 * together. 0 or -ENOMEM. */
int busy_init(struct busy *b, const struct strips *t, uint32_t lane);
void busy_done(struct busy *b);

/* How long it had worked at a moment. */
uint64_t busy_until(const struct busy *b, uint64_t ns);

/* What was between two pieces. */
struct busy_gap {
	struct strip_place before, after; /* what ended last, and what began next */
	struct gap of;                    /* its parts: what is in none of them is not known */
	bool may_be_copy; /* what is late here may have been held up by the copy before */
};

/* The gap that a moment is in. False: something runs then, or all is before the first work or after the last. */
bool busy_gap_at(const struct busy *b, uint64_t ns, struct busy_gap *ret);
/* The part that took most of it; GAP_N_PARTS: that is not known. */
enum gap_part busy_gap_reason(const struct busy_gap *gap);

#endif
