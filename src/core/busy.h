/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_BUSY_H
#define PROTON_CORE_BUSY_H
/* All that a process did on a device as one, from its strips: when anything ran there, whatever stream it was on, and
 * why nothing did in between.
 *
 *   stream 7    ──[gemm]────────────[relu]────[gemm]──
 *   stream 8    ─────[copy]───────────────────────────
 *   as one      ──[██████]──────────[████]─░░─[████]──  pieces: when one began, and how long the device had worked by then
 *                         │ a gap: late, launch …  (core/gaps.h has the rules, as for gaps that a collector charges)
 *                                          │ not recorded, and nothing is known of it: no gap, and of no share a part
 *
 * Of a moment the pieces answer by a search how long the device had worked; a column of any width is two of these.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "core/gaps.h"
#include "core/strips.h"
#include "core/unrecorded.h"

struct busy_piece {
	uint64_t start_ns, before_ns;
};

struct busy {
	const struct strips *t;
	size_t first_strip, n_strips;
	struct busy_piece *pieces;
	size_t n, cap;
	uint64_t total_ns;
	struct unrecorded told;       /* on the clock of the picture … */
	struct unrecorded unrecorded; /* … without the pieces */
	uint64_t least_ns;            /* from a launch to its work, of all; UINT64_MAX: not known */
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

/* The gap that a moment is in. False: something runs then, or all is before the first work or after the last, or not
 * all of it was recorded. */
bool busy_gap_at(const struct busy *b, uint64_t ns, struct busy_gap *ret);
/* The part that took most of it; GAP_N_PARTS: that is not known. */
enum gap_part busy_gap_reason(const struct busy_gap *gap);
/* The longest gaps, the longest first; of those that are as long, the earlier one. Returns how many, no more than max. */
size_t busy_longest(const struct busy *b, struct busy_gap *ret, size_t max);

/* What a part is called where there is little room, and its letter where there is none; NULL: no trace tells of it. */
struct gap_words {
	const char *word, *letter;
};
extern const struct gap_words gap_words[GAP_N_PARTS];
/* Is any reason known? */
bool busy_has_parts(const struct busy_gap *gap);
/* "late 1.05ms, launch 50us"; nothing where none is known. */
void busy_put_parts(const struct busy_gap *gap, struct buf *out);

/* Columns of a view that look the same. */
struct busy_run {
	double share;         /* of the column in which it was busy; 0: of none of them */
	enum gap_part reason; /* that has a letter, for the middle one; GAP_N_PARTS: none */
	enum unrecorded_reason
		unrecorded;   /* of most of each nothing is known; UNRECORDED_N: it is */
	unsigned middle, end; /* columns */
};
struct busy_run busy_run(const struct busy *b, const struct strip_view *view, unsigned column);
/* The share of [from, to) in which it was busy, as far as that is known; NaN: nothing of it is. */
double busy_share(const struct busy *b, uint64_t from_ns, uint64_t to_ns);
/* How much of [from, to) is known. */
uint64_t busy_known_ns(const struct busy *b, uint64_t from_ns, uint64_t to_ns);
/* How long it worked in [from, to) while not all was recorded: that is known nevertheless, and counts. */
uint64_t busy_unrecorded_ns(const struct busy *b, uint64_t from_ns, uint64_t to_ns);
/* Why most of a column is not known; UNRECORDED_N: it is. */
enum unrecorded_reason busy_unrecorded(const struct busy *b, const struct strip_view *view,
				       unsigned column);

#endif
