/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_POSITIONS_H
#define PROTON_NAMING_POSITIONS_H
/* The places of a signature at which it can differ from another one, and what stands there.
 *
 *     f<g<4>, float>(int)     0.0 g   0.0.0 4   0.1 float   parameters.0 int
 *
 * A place has up to three forms, each longer than the one before: its name, its name with what stands
 * around it, and all of its text. They are those that marks ask for (naming/brief.h).
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "naming/brief.h"

struct buf;

struct position {
	uint64_t id; /* of place and form; the same in every signature */
	const char *text;
	size_t len;
	unsigned cost; /* of showing it, in quarters of a character */
};

/* Is the position to be marked? */
typedef bool position_fn(void *ctx, const struct position *p);

/* The positions of a signature. deep: also all of a text, and parameters where they were read. Sets the
 * marks of its parts. scratch: for texts. */
void positions_walk(struct signature *s, bool deep, struct buf *scratch, position_fn *visit,
		    void *ctx);

#endif
