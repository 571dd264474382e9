/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/step_marks.h"
#include <string.h>
#include "base/util.h"

void step_marks_init(struct step_marks *m, struct step_mark *room, uint32_t max)
{
	*m = (struct step_marks){.v = room, .max = max};
}

static void settle_one(struct step_marks *m, struct step_mark *mark)
{
	if (mark->what == STEP_TOTAL_LIVE)
		m->now[mark->what] = mark->v[mark->what];
	else
		m->now[mark->what] += mark->v[mark->what];
	memcpy(mark->v, m->now, sizeof(mark->v));
}

void step_marks_settle(struct step_marks *m, uint64_t until_ns)
{
	while (m->n_settled < m->n && m->v[m->n_settled].at_ns < until_ns)
		settle_one(m, &m->v[m->n_settled++]);
}

void step_marks_raise_floor(struct step_marks *m, uint64_t floor_ns)
{
	m->floor = MAX(m->floor, floor_ns);
}

void step_marks_keep(struct step_marks *m, uint32_t n)
{
	uint32_t gone = m->n_settled > n ? m->n_settled - n : 0;

	if (!gone)
		return;
	step_marks_raise_floor(m, m->v[gone - 1].at_ns + 1);
	memcpy(m->before, m->v[gone - 1].v, sizeof(m->before));
	m->n -= gone;
	m->n_settled -= gone;
	memmove(m->v, m->v + gone, m->n * sizeof(*m->v));
}

/* Half of them go, settled or not, for more have come than there is time to look at. */
static void make_room(struct step_marks *m, uint32_t n)
{
	if (m->n + n <= m->max)
		return;
	while (m->n_settled < m->n / 2)
		settle_one(m, &m->v[m->n_settled++]);
	step_marks_keep(m, m->n_settled - m->n / 2);
}

/* From behind, to where it belongs; not before what is settled. */
void step_marks_add(struct step_marks *m, const struct step_change *run, uint32_t n)
{
	uint32_t old, at;

	make_room(m, n);
	old = m->n;
	m->n = at = old + n;
	while (n) {
		const struct step_change *c = &run[n - 1];
		struct step_mark *to = &m->v[--at];

		if (old > m->n_settled && m->v[old - 1].at_ns > c->at_ns) {
			*to = m->v[--old];
			continue;
		}
		*to = (struct step_mark){.at_ns = c->at_ns, .what = c->what};
		if (m->n_settled)
			to->at_ns = MAX(to->at_ns, m->v[m->n_settled - 1].at_ns);
		to->v[c->what] = c->bytes;
		m->has_memory |= c->what == STEP_TOTAL_LIVE;
		n--;
	}
}

bool step_marks_at(const struct step_marks *m, uint64_t at_ns, uint64_t ret[STEP_N_TOTALS])
{
	uint32_t from = 0;

	if (at_ns < m->floor)
		return false;
	BISECT(from, m->n_settled, mid, m->v[mid].at_ns < at_ns)
	memcpy(ret, from ? m->v[from - 1].v : m->before, sizeof(m->before));
	return true;
}
