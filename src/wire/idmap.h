/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_IDMAP_H
#define PROTON_WIRE_IDMAP_H
/* Ids of one kind: the sender's -> the session's.
 *
 * A sender counts its ids from 0, so they are kept in an array. What arrives need not be honest: an
 * id far above the number of ids seen so far is kept in a hashed table beside it, so that memory
 * follows what was sent and never the value of an id.
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "base/idindex.h"

#define IDMAP_NONE UINT32_MAX

struct idmap_far {
	uint32_t id, value;
};

struct idmap {
	uint32_t *v; /* the array; IDMAP_NONE: not here */
	size_t n, cap;
	struct idmap_far *far;
	size_t n_far, cap_far;
	struct idindex index; /* of far */
	size_t n_known;
};

void idmap_done(struct idmap *m);
/* 0 or -ENOMEM. Memory in use is at most proportional to the number of different ids. */
int idmap_set(struct idmap *m, uint32_t id, uint32_t value);
uint32_t idmap_get_far(const struct idmap *m, uint32_t id);

/* IDMAP_NONE: never set. */
static inline uint32_t idmap_get(const struct idmap *m, uint32_t id)
{
	if (id < m->n && m->v[id] != IDMAP_NONE)
		return m->v[id];
	return m->n_far ? idmap_get_far(m, id) : IDMAP_NONE;
}

#endif
