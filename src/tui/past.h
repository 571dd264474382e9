/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PAST_H
#define PROTON_TUI_PAST_H
/* What a number of a row was in the last windows, for rows that were drawn: a profile may have a
 * million of them, and nobody looks at more than a few. A row is known by a key of its panel's. */
#include <stddef.h>
#include <stdint.h>
#include "base/idindex.h"

#define PAST_WINDOWS 16
#define PAST_ROWS    4096 /* most that are kept: those that were not drawn for long go first */

struct past_row {
	uint64_t key;
	uint64_t window;       /* the newest that is known */
	uint64_t drawn;        /* the last one in which it was */
	float v[PAST_WINDOWS]; /* of window w: v[w % PAST_WINDOWS]; NaN: not known */
};

struct past {
	struct past_row *rows;
	size_t n, cap;
	struct idindex by_key;
};

void past_done(struct past *p); /* empty and reusable */
/* The row of a key that was drawn before; NULL: it was not. Valid until past_draw(). */
struct past_row *past_find(struct past *p, uint64_t key);
/* Its number in a window, which may be known already; those between that nobody noted are NaN. */
void past_note(struct past_row *r, uint64_t window, double v);
/* A row is drawn in a window: from now on it is kept. NULL: out of memory. */
struct past_row *past_draw(struct past *p, uint64_t key, uint64_t window);
/* The last windows, up to this one, the oldest first. */
void past_read(const struct past_row *r, uint64_t window, float out[PAST_WINDOWS]);

#endif
