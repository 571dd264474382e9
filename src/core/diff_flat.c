/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include "core/column.h"
#include "core/diff_impl.h"

int diff_flat_make(struct diff_picture *p)
{
	p->flat = flat_new(p->numbers);
	return p->flat ? flat_update(p->flat) : -ENOMEM;
}

/* Frames that differ in more than their names are one here, as paths of these names are. */
uint32_t diff_flat_node(const struct diff_picture *p, uint32_t row)
{
	const struct flat_row *r = flat_row(p->flat, row);
	uint32_t node = snapshot_node(p->snap, r->node)->session_node;

	return diff_node_intern(p->d, 0, session_node_name(snapshot_session(p->snap), node),
				r->kind);
}

double diff_flat_value(const struct diff_picture *p, uint32_t row, const struct derived *m,
		       size_t slot)
{
	const struct number_ask ask = {.metric = m, .slot = USUAL_N + (unsigned)slot};

	return flat_value(p->flat, row, &ask);
}
