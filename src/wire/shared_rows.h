/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_SHARED_ROWS_H
#define PROTON_WIRE_SHARED_ROWS_H
/* Several slots of an instance in one row of the session: calls of one function from two addresses are
 * one calling context once they have a name.
 *
 * A slot's values are cumulative, and replace what it said before. Of a shared row, each slot's part is
 * kept, and the row is made of the parts: sums grow by what the part grew.
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"
#include "wire/idmap.h"

struct shared_rows {
	struct idmap first; /* row: the first slot that had it */
	struct idmap parts; /* slot of a shared row: index of its first value in `last` */
	uint64_t *last;     /* what each said last, by bits */
	size_t n, cap;
};

void shared_rows_done(struct shared_rows *r);
/* A slot has this row from now on. 0 or -ENOMEM. */
int shared_rows_claim(struct shared_rows *r, const struct session *s, uint32_t slot, uint32_t row);
/* A slot says a value of its row: what session_row_set() is for slots that share none. */
void shared_rows_set(struct shared_rows *r, struct session *s, uint32_t slot, uint32_t row,
		     uint32_t i, union metric_value v);

/* What the slot `from` says becomes what `into` says, too, and `from` says nothing: rows of one set.
 * into_row SESSION_NONE: it is dropped. */
void shared_rows_merge(struct shared_rows *r, struct session *s, uint32_t from, uint32_t from_row,
		       uint32_t into, uint32_t into_row);

#endif
