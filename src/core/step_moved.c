/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/step_moved.h"
#include <string.h>

static void begin(struct step_moved *m)
{
	for (unsigned i = 0; i < STEP_N_TOTALS; i++)
		step_trend_clear(&m->of[i]);
}

void step_moved_clear(struct step_moved *m)
{
	begin(m);
	m->has_memory = false;
	m->open.start_ns = 0;
}

void step_moved_go_on(struct step_moved *m, const struct step_marks *marks, uint64_t start_ns,
		      uint64_t until_ns)
{
	if (m->open.start_ns == start_ns || start_ns > until_ns)
		return;
	m->open.start_ns = step_marks_at(marks, start_ns, m->open.before) ? start_ns : 0;
}

void step_moved_add(struct step_moved *m, const struct step_marks *marks,
		    const struct step_ended *step)
{
	uint64_t before[STEP_N_TOTALS], after[STEP_N_TOTALS];
	bool is_known = step_marks_at(marks, step->end_ns, after);

	if (m->open.start_ns == step->start_ns)
		memcpy(before, m->open.before, sizeof(before));
	else
		is_known = is_known && step_marks_at(marks, step->start_ns, before);
	if (step->is_first) { /* it is in none of the numbers */
		begin(m);
		return;
	}
	if (!is_known)
		return;
	m->has_memory = marks->has_memory;
	step_trend_add(&m->of[STEP_TOTAL_LIVE], step->nth, after[STEP_TOTAL_LIVE]);
	for (unsigned i = STEP_TOTAL_LIVE + 1; i < STEP_N_TOTALS; i++)
		step_trend_add(&m->of[i], step->nth, after[i] - before[i]);
}

void step_moved_tell(const struct step_moved *m, struct step_moved_told *ret)
{
	*ret = (struct step_moved_told){.n = m->of[STEP_TOTAL_LIVE].n, .has_memory = m->has_memory};
	for (unsigned i = 0; i < STEP_N_TOTALS; i++) {
		const struct step_trend *t = &m->of[i];

		ret->of[i] = (struct step_moved_number){t->sum, t->max, step_trend_growth(t)};
		ret->has_copies |= i != STEP_TOTAL_LIVE && t->sum;
	}
}
