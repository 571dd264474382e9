/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/gaps.h"
#include <string.h>
#include "base/util.h"

/* ---- who waited ---- */

void gaps_waits_init(struct gaps_waits *w, struct gaps_wait *room, uint32_t max, uint64_t differ_ns)
{
	*w = (struct gaps_waits){.v = room, .max = max, .differ_ns = differ_ns};
}

/* The first that ended after a time. */
static uint32_t first_after(const struct gaps_waits *w, uint64_t ns)
{
	uint32_t low = 0;

	if (!w->n || w->v[w->n - 1].end <= ns)
		return w->n;
	BISECT(low, w->n, mid, w->v[mid].end <= ns)
	return low;
}

/* Some more than need be, so that this is rare. */
static void forget_waits(struct gaps_waits *w)
{
	uint32_t gone = 1 + w->max / 8;

	w->floor = w->v[gone - 1].end;
	w->n -= gone;
	memmove(w->v, w->v + gone, w->n * sizeof(*w->v));
}

void gaps_waited(struct gaps_waits *w, const struct gaps_wait *wait)
{
	uint32_t at;

	if (wait->end <= w->floor)
		return;
	if (w->n == w->max)
		forget_waits(w);
	at = first_after(w, wait->end);
	memmove(w->v + at + 1, w->v + at, (w->n - at) * sizeof(*w->v));
	w->v[at] = *wait;
	w->n++;
}

/* Did the thread wait as the device ran out of work, before it launched some more? */
static bool had_waited(const struct gaps_waits *w, uint32_t thread, uint64_t from, uint64_t until)
{
	uint64_t least = from - MIN(from, w->differ_ns);

	for (uint32_t i = first_after(w, least); i < w->n && w->v[i].end <= until; i++)
		if (w->v[i].thread == thread && w->v[i].start < from)
			return true;
	return false;
}

/* ---- pieces ---- */

void gaps_init(struct gaps *g, struct gaps_piece *room, uint32_t max)
{
	*g = (struct gaps){.v = room, .max = max, .least_ns = UINT64_MAX};
}

void gaps_forget(struct gaps *g)
{
	g->n = 0;
	g->has_frontier = false;
}

static struct gaps_piece piece_of(const struct gaps_work *w)
{
	return (struct gaps_piece){w->start,
				   w->end,
				   {w->launched, w->who, w->thread, w->graph},
				   {w->launched, w->thread, w->graph, w->blocks}};
}

static void lengthen(struct gaps_piece *p, const struct gaps_piece *by)
{
	if (by->end <= p->end)
		return;
	p->end = by->end;
	p->last = by->last;
}

static void settle_piece(struct gaps *g, const struct gaps_piece *p)
{
	if (g->has_frontier)
		lengthen(&g->frontier, p);
	else
		g->frontier = *p;
	g->has_frontier = true;
}

/* The oldest have no gaps. */
static void forget_pieces(struct gaps *g, uint32_t n)
{
	uint32_t gone = MIN(n + g->max / 8, g->n);

	if (!gone)
		return;
	g->n_lost += gone;
	settle_piece(g, &g->v[gone - 1]);
	g->n -= gone;
	memmove(g->v, g->v + gone, g->n * sizeof(*g->v));
}

/* The first piece that does not end before `start`. */
static uint32_t first_touched(const struct gaps *g, uint64_t start)
{
	uint32_t low = 0;

	if (!g->n || g->v[g->n - 1].end < start) /* in order: the usual case */
		return g->n;
	BISECT(low, g->n, mid, g->v[mid].end < start)
	return low;
}

/* One more at the end; it does not start before the last one does. */
static void append(struct gaps *g, const struct gaps_piece *p)
{
	struct gaps_piece *last = g->n ? &g->v[g->n - 1] : NULL;

	if (last && p->start <= last->end)
		lengthen(last, p);
	else
		g->v[g->n++] = *p;
}

static void append_work(struct gaps *g, const struct gaps_work *w)
{
	struct gaps_piece p = piece_of(w);

	if (w->launched && w->launched <= w->start)
		g->least_ns = MIN(g->least_ns, w->start - w->launched);
	append(g, &p);
}

/* What comes behind the first of these moves up by n, and both are merged into the room below: what was written is never
 * ahead of what was read. */
void gaps_add(struct gaps *g, const struct gaps_work *run, uint32_t n)
{
	struct gaps_piece *tail;
	uint32_t from, n_tail, i, j = 0;

	if (!n)
		return;
	if (g->n + n > g->max)
		forget_pieces(g, g->n + n - g->max);
	from = first_touched(g, run[0].start);
	n_tail = g->n - from;
	tail = g->v + from + n;
	memmove(tail, g->v + from, n_tail * sizeof(*g->v));
	g->n = from;
	for (i = 0; i < n_tail; i++) {
		for (; j < n && run[j].start < tail[i].start; j++)
			append_work(g, &run[j]);
		append(g, &tail[i]);
	}
	for (; j < n; j++)
		append_work(g, &run[j]);
}

/* ---- gaps ---- */

/* Why nothing was launched from the end of `before` on. GAP_N_PARTS: not known. */
static enum gap_part why_late(const struct gaps_piece *before, const struct gaps_piece *after,
			      const struct gaps_waits *waits)
{
	if (before->last.blocks && before->last.thread == after->first.thread)
		return GAP_COPY;
	if (waits && before->end < waits->floor)
		return GAP_N_PARTS;
	if (waits && had_waited(waits, after->first.thread, before->end, after->first.launched))
		return GAP_SYNC;
	return GAP_LATE;
}

static bool is_one_launch(const struct gaps_piece *before, const struct gaps_piece *after)
{
	return after->first.graph && after->first.graph == before->last.graph &&
	       after->first.launched == before->last.launched;
}

/* Could it have started before `at`? */
static bool was_there(const struct gaps *g, uint64_t launched, uint64_t at)
{
	return launched < at && (g->least_ns == UINT64_MAX || at - launched > g->least_ns);
}

static void make_parts(const struct gaps *g, const struct gaps_piece *before,
		       const struct gaps_piece *after, const struct gaps_waits *waits,
		       struct gap *gap)
{
	uint64_t launched = MIN(after->first.launched, gap->end), whole = gap->end - gap->start;
	enum gap_part late;

	if (is_one_launch(before, after)) {
		gap->parts[GAP_GRAPH] = whole;
	} else if (!launched) {
		return;
	} else if (was_there(g, launched, gap->start)) {
		gap->parts[GAP_QUEUED] = whole;
	} else if (launched <= gap->start) {
		gap->parts[GAP_LAUNCH] = whole;
	} else {
		gap->parts[GAP_LAUNCH] = gap->end - launched;
		late = why_late(before, after, waits);
		if (late < GAP_N_PARTS)
			gap->parts[late] = launched - gap->start;
	}
}

void gaps_settle(struct gaps *g, uint64_t until, const struct gaps_waits *waits,
		 void (*charge)(void *user, const struct gap *gap), void *user)
{
	uint32_t i;

	for (i = 0; i < g->n && g->v[i].start < until; i++) {
		const struct gaps_piece *p = &g->v[i];
		struct gap gap = {p->first.who, g->frontier.end, p->start, {0}};

		if (g->has_frontier && gap.start < gap.end) {
			make_parts(g, &g->frontier, p, waits, &gap);
			charge(user, &gap);
		}
		settle_piece(g, p);
	}
	g->n -= i;
	memmove(g->v, g->v + i, g->n * sizeof(*g->v));
}
