/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/pair.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/merge.h"
#include "core/regroup.h"

/* Both trees in the same order, hence the same ids; the values of one. */
static struct session *side_make(const struct session *const inputs[PAIR_N],
				 enum pair_side with_values)
{
	struct session *s = session_new();
	_cleanup_(merge_freep) struct merge *m = s ? merge_new(s) : NULL;
	int r = m ? 0 : -ENOMEM;

	if (m)
		merge_by_name(m);
	for (unsigned i = 0; i < PAIR_N && r == 0; i++)
		r = i == with_values ? merge_add(m, inputs[i], NULL) : merge_add_tree(m, inputs[i]);
	return r < 0 ? session_free(s) : s;
}

int pair_make(const struct session *before, const struct session *after,
	      struct session *ret_sides[PAIR_N])
{
	const struct session *const inputs[PAIR_N] = {before, after};
	struct session *a = side_make(inputs, PAIR_BEFORE);
	struct session *b = a ? side_make(inputs, PAIR_AFTER) : NULL;

	if (!b) {
		session_free(a);
		return -ENOMEM;
	}
	a->ended = b->ended = true;
	ret_sides[PAIR_BEFORE] = a;
	ret_sides[PAIR_AFTER] = b;
	return 0;
}

int pair_make_grouped(const struct session *before, const struct session *after, enum group group,
		      struct session *ret_sides[PAIR_N])
{
	_cleanup_(session_freep) struct session *a = NULL, *b = NULL;

	if (group == GROUP_NONE)
		return pair_make(before, after, ret_sides);
	a = session_regroup(before, group);
	b = a ? session_regroup(after, group) : NULL;
	return b ? pair_make(a, b, ret_sides) : -ENOMEM;
}

uint8_t *pair_present(const struct session *side)
{
	uint8_t *present = calloc(1, side->n_nodes);

	/* A parent's id is smaller than its children's. */
	for (size_t i = side->n_nodes; present && i-- > 0;) {
		present[i] |= session_first_row(side, i) != SESSION_NONE || i == SESSION_ROOT;
		if (present[i] && i)
			present[side->nodes[i].parent] = 1;
	}
	return present;
}

double pair_delta(double a, double b)
{
	if (isnan(a) && isnan(b))
		return NAN;
	return (isnan(b) ? 0 : b) - (isnan(a) ? 0 : a);
}
