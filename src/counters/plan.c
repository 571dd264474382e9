/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/plan.h"
#include <errno.h>
#include <stdlib.h>
#include "base/util.h"

const char *const plan_words[N_PLAN_STATES] = {
#define _(id, word) [PLAN_##id] = word,
	PLAN_STATES(_)
#undef _
};

struct planning {
	const struct metric_set *set;
	const struct plan_source *source;
	struct plan *plan;
	const char **counted; /* names so far */
};

/* Takes one name if it may; its state. */
static enum plan_state try_name(struct planning *p, const char *name, struct plan_row *row)
{
	const struct plan_source *source = p->source;
	size_t n = p->plan->n_counted, together;

	row->name = name;
	if (source->passes(source->ctx, &name, 1, &row->passes)) {
		row->passes = 0;
		return PLAN_REFUSED;
	}
	p->counted[n] = name;
	if (p->set->most_passes && (source->passes(source->ctx, p->counted, n + 1, &together) ||
				    together > p->set->most_passes))
		return PLAN_LEFT_OUT;
	p->plan->n_counted++;
	return PLAN_COUNTED;
}

/* The first of the names that can be counted; where none can, the first that the chip has says why. */
static struct plan_row choose(struct planning *p, const struct metric_choice *choice)
{
	struct plan_row first = {choice->names[0], PLAN_ABSENT, 0};

	for (size_t i = 0; i < choice->n; i++) {
		struct plan_row row;

		if (!p->source->has(p->source->ctx, choice->names[i]))
			continue;
		row.state = try_name(p, choice->names[i], &row);
		if (row.state == PLAN_COUNTED)
			return row;
		if (first.state == PLAN_ABSENT)
			first = row;
	}
	return first;
}

int plan_make(const struct metric_set *set, const struct plan_source *source, struct plan *ret)
{
	_cleanup_(freep) const char **counted = calloc(set->n + 1, sizeof(*counted));
	struct planning p = {set, source, ret, counted};

	*ret = (struct plan){.rows = calloc(set->n + 1, sizeof(*ret->rows)), .n = set->n};
	if (!ret->rows || !counted)
		return -ENOMEM;
	for (size_t i = 0; i < set->n; i++)
		ret->rows[i] = choose(&p, &set->choices[i]);
	if (!ret->n_counted)
		return 0;
	return source->passes(source->ctx, counted, ret->n_counted, &ret->passes);
}

void plan_done(struct plan *plan)
{
	free(plan->rows);
	*plan = (struct plan){.rows = NULL};
}
