/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_SESSION_IMPL_H
#define PROTON_CORE_SESSION_IMPL_H
/* What only the files of a session see: session.c, session_counters.c. */
#include "base/idindex.h"
#include "base/util.h"
#include "core/row_tables.h"
#include "core/session.h"

/* How much room a table's array has, and its rows by their keys. */
struct table_store {
	size_t cap;
	struct idindex index;
};

struct session_private {
	struct idindex frames, nodes, sets, hists;
	size_t cap_frames, cap_nodes, cap_rows, cap_values, cap_present, cap_sets, cap_hists;
	union { /* as the tables of the session */
		struct {
#define _(id, array, type)                                                                         \
	size_t cap_##array;                                                                        \
	struct idindex array;
			ROW_TABLES(_)
#undef _
		};
		struct table_store tables[TABLE_N];
	};
	uint32_t *seen_in; /* by metric: value of n_looked_at for the last set that had it */
	size_t cap_seen_in, n_seen_in;
	uint32_t n_looked_at;
	struct idindex rows; /* holds the first n_indexed_rows; filled once a chain is long */
	size_t n_indexed_rows;
	char name[64];        /* of the last (module, offset) frame that was asked for */
	struct strtab *whole; /* session_text() of strings with NUL bytes; made with the first */
};

/* Room for one more element of one of the session's arrays. */
#define ROOM(s, what) (ARRAY_ROOM((s)->what, (s)->p->cap_##what, (s)->n_##what + 1) == 0)

/* Add an element that was not there, to its array and, by its hash, to the index of the same name.
 * Its id, or SESSION_NONE: out of memory. */
#define APPEND(s, what, hash, element)                                                             \
	(ROOM(s, what) && idindex_add(&(s)->p->what, hash, (uint32_t)(s)->n_##what) == 0           \
		 ? ((s)->generation++, (s)->what[(s)->n_##what] = (element),                       \
		    (uint32_t)(s)->n_##what++)                                                     \
		 : SESSION_NONE)

/* Room for one more row at the end of a table's array. 0 or -ENOMEM. */
static inline int session_table_room(struct session *s, enum table_id id)
{
	struct table_rows *rows = &s->tables[id];

	return array_reserve(&rows->v, &s->p->tables[id].cap, rows->n + 1, row_tables[id].row_size);
}

#endif
