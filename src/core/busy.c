/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/busy.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/human.h"
#include "base/util.h"

/* No trace tells of a copy that it blocked. */
const struct gap_words gap_words[GAP_N_PARTS] = {
	[GAP_LATE] = {"late", "l"},     [GAP_SYNC] = {"sync", "s"},
	[GAP_COPY] = {"copy", NULL},    [GAP_LAUNCH] = {"launch", "n"},
	[GAP_QUEUED] = {"queued", "q"}, [GAP_GRAPH] = {"graph", "g"},
};

#define WAITS_MAX 16 /* ranges around a moment that are looked at: they lie within each other */

/* ---- as one ---- */

/* The next interval of a strip. */
struct head {
	uint64_t start_ns, end_ns;
	const struct strip *strip;
	size_t i;
};

static bool head_read(const struct strips *t, struct head *h)
{
	if (h->i == h->strip->n)
		return false;
	h->start_ns = strip_start_ns(t, h->strip, h->i);
	h->end_ns = strip_end_ns(t, h->strip, h->i);
	return true;
}

/* Heads are a heap, the earliest first: what is at `at` may be too late for its place. */
static void sink(struct head *heads, size_t n, size_t at)
{
	struct head h = heads[at];
	size_t child;

	while ((child = 2 * at + 1) < n) {
		child += child + 1 < n && heads[child + 1].start_ns < heads[child].start_ns;
		if (heads[child].start_ns >= h.start_ns)
			break;
		heads[at] = heads[child];
		at = child;
	}
	heads[at] = h;
}

static size_t heads_make(const struct busy *b, struct head *heads)
{
	size_t n = 0;

	for (size_t k = 0; k < b->n_strips; k++) {
		heads[n] = (struct head){.strip = &b->t->strips[b->first_strip + k]};
		n += head_read(b->t, &heads[n]);
	}
	for (size_t i = n / 2; i-- > 0;)
		sink(heads, n, i);
	return n;
}

/* One more, which begins no earlier than those before it did. *end_ns: until when the last piece goes. */
static int add(struct busy *b, const struct head *h, uint64_t *end_ns)
{
	if (b->n && h->start_ns <= *end_ns) {
		if (h->end_ns > *end_ns) {
			b->total_ns += h->end_ns - *end_ns;
			*end_ns = h->end_ns;
		}
		return 0;
	}
	if (ARRAY_ROOM(b->pieces, b->cap, b->n + 1) < 0)
		return -ENOMEM;
	b->pieces[b->n++] = (struct busy_piece){h->start_ns, b->total_ns};
	b->total_ns += h->end_ns - h->start_ns;
	*end_ns = h->end_ns;
	return 0;
}

/* A call that seems to come after its work took no time, by clocks that differ (interval_latency()). */
static void note_latency(struct busy *b, const struct head *h)
{
	uint32_t latency_ns = strip_interval(b->t, h->strip, h->i)->latency_ns;

	if (latency_ns > 1)
		b->least_ns = MIN(b->least_ns, latency_ns);
}

static int merge(struct busy *b, struct head *heads, size_t n)
{
	uint64_t end_ns = 0;
	int r = 0;

	while (n && r == 0) {
		r = add(b, &heads[0], &end_ns);
		note_latency(b, &heads[0]);
		heads[0].i++;
		if (!head_read(b->t, &heads[0]))
			heads[0] = heads[--n];
		sink(heads, MAX(n, 1), 0);
	}
	return r;
}

/* Strips of lanes that stand together do, too; those of pages, which are no work, are behind them. */
static void find_strips(struct busy *b, uint32_t lane)
{
	const struct strips *t = b->t;
	uint32_t from = strips_device_lane(t, lane);

	b->first_strip = t->lanes[from].first_strip;
	for (uint32_t i = from;
	     i < t->n_lanes && !t->lanes[i].pages && strips_device_lane(t, i) == from; i++)
		b->n_strips += t->lanes[i].n_strips;
}

static uint64_t length(const struct busy *b, size_t i)
{
	return (i + 1 < b->n ? b->pieces[i + 1].before_ns : b->total_ns) - b->pieces[i].before_ns;
}

static uint64_t end_of(const struct busy *b, size_t i)
{
	return b->pieces[i].start_ns + length(b, i);
}

/* So many pieces began at a moment or before. */
static size_t begun(const struct busy *b, uint64_t ns)
{
	size_t lo = 0;

	BISECT(lo, b->n, middle, b->pieces[middle].start_ns <= ns)
	return lo;
}

/* What pieces leave of a time that was not recorded. */
static int add_unknown(struct busy *b, const struct unrecorded_span *span)
{
	uint64_t from_ns = span->start_ns;
	size_t i = begun(b, from_ns);
	int r = 0;

	if (i > 0)
		from_ns = MAX(from_ns, end_of(b, i - 1));
	for (; r == 0 && i < b->n && b->pieces[i].start_ns < span->end_ns; i++) {
		r = unrecorded_append(&b->unrecorded, from_ns, b->pieces[i].start_ns, span->reason);
		from_ns = end_of(b, i);
	}
	return r ? r : unrecorded_append(&b->unrecorded, from_ns, span->end_ns, span->reason);
}

static int find_unknown(struct busy *b, const struct strip_lane *lane)
{
	int r = unrecorded_init(&b->told, b->t->s, lane->process, lane->shift_ns);

	for (size_t i = 0; r == 0 && i < b->told.n; i++)
		r = add_unknown(b, &b->told.v[i]);
	return r;
}

int busy_init(struct busy *b, const struct strips *t, uint32_t lane)
{
	struct head *heads;
	int r;

	*b = (struct busy){.t = t, .least_ns = UINT64_MAX};
	find_strips(b, lane);
	heads = malloc((b->n_strips + 1) * sizeof(*heads));
	r = heads ? merge(b, heads, heads_make(b, heads)) : -ENOMEM;
	free(heads);
	r = r ? r : find_unknown(b, &t->lanes[lane]);
	if (r < 0)
		busy_done(b);
	return r;
}

void busy_done(struct busy *b)
{
	free(b->pieces);
	unrecorded_done(&b->told);
	unrecorded_done(&b->unrecorded);
	*b = (struct busy){0};
}

/* ---- at a moment ---- */

uint64_t busy_until(const struct busy *b, uint64_t ns)
{
	size_t n = begun(b, ns);

	if (!n)
		return 0;
	return b->pieces[n - 1].before_ns + MIN(ns - b->pieces[n - 1].start_ns, length(b, n - 1));
}

/* ---- why nothing ran ---- */

/* What ended as the gap began: on each strip nothing ends later than what began last. */
static struct strip_place ended_at(const struct busy *b, uint64_t ns)
{
	struct strip_place last = {NULL, 0};
	uint64_t last_ns = 0;

	for (size_t k = 0; k < b->n_strips; k++) {
		const struct strip *strip = &b->t->strips[b->first_strip + k];
		size_t n = strip_begun(b->t, strip, ns);
		uint64_t end_ns = n ? strip_end_ns(b->t, strip, n - 1) : 0;

		if (n && (!last.strip || end_ns > last_ns)) {
			last = (struct strip_place){strip, n - 1};
			last_ns = end_ns;
		}
	}
	return last;
}

static struct strip_place begun_at(const struct busy *b, uint64_t ns)
{
	for (size_t k = 0; k < b->n_strips; k++) {
		const struct strip *strip = &b->t->strips[b->first_strip + k];
		size_t i = strip_begun(b->t, strip, ns - 1);

		if (i < strip->n && strip_start_ns(b->t, strip, i) == ns)
			return (struct strip_place){strip, i};
	}
	return (struct strip_place){NULL, 0};
}

static const struct session_interval *interval_at(const struct busy *b, const struct strip_place *p)
{
	return strip_interval(b->t, p->strip, p->i);
}

static uint32_t thread_of(const struct busy *b, const struct strip_place *p)
{
	return (uint32_t)hash_u64(b->t->s->lanes[interval_at(b, p)->lane].thread);
}

/* What was captured stands below a frame that says so: nodes of one are of one graph. */
static uint32_t graph_of(const struct session *s, uint32_t node)
{
	while (node != SESSION_ROOT && session_node_kind(s, node) != FRAME_GRAPH)
		node = s->nodes[node].parent;
	return node == SESSION_ROOT ? 0 : node;
}

static struct gaps_work work_at(const struct busy *b, const struct strip_place *p)
{
	return (struct gaps_work){.start = strip_start_ns(b->t, p->strip, p->i),
				  .end = strip_end_ns(b->t, p->strip, p->i),
				  .launched = strip_launched_ns(b->t, p->strip, p->i),
				  .thread = thread_of(b, p),
				  .graph = graph_of(b->t->s, interval_at(b, p)->node)};
}

/* The waits of the thread that launched what comes after the gap, which were going on as it began. */
static void find_waits(const struct busy *b, const struct busy_gap *gap, struct gaps_waits *w)
{
	const struct strips *t = b->t;
	const struct strip_lane *host = strip_launcher(t, gap->after.strip, gap->after.i);

	for (uint32_t k = 0; host && k < MIN(host->n_strips, WAITS_MAX); k++) {
		const struct strip *strip = &t->strips[host->first_strip + k];
		size_t n = strip_begun(t, strip, gap->of.start - 1);
		const struct gaps_wait wait = {n ? strip_start_ns(t, strip, n - 1) : 0,
					       n ? strip_end_ns(t, strip, n - 1) : 0,
					       thread_of(b, &gap->after)};

		if (n &&
		    session_node_kind(t->s, strip_interval(t, strip, n - 1)->node) == FRAME_SYNC)
			gaps_waited(w, &wait);
	}
}

static void take(void *user, const struct gap *gap)
{
	*(struct gap *)user = *gap;
}

/* The two works around it, by the rules for all. */
static void explain(const struct busy *b, struct busy_gap *gap)
{
	const struct gaps_work before = work_at(b, &gap->before), after = work_at(b, &gap->after);
	enum frame_kind kind = session_node_kind(b->t->s, interval_at(b, &gap->before)->node);
	struct gaps_wait wait[WAITS_MAX + 1];
	struct gaps_piece room[4];
	struct gaps_waits waits;
	struct gaps g;

	gaps_waits_init(&waits, wait, ARRAY_SIZE(wait), GAPS_CLOCKS_DIFFER_NS);
	find_waits(b, gap, &waits);
	gaps_init(&g, room, ARRAY_SIZE(room));
	g.least_ns = b->least_ns;
	gaps_add(&g, &before, 1);
	gaps_add(&g, &after, 1);
	gaps_settle(&g, UINT64_MAX, &waits, take, &gap->of);
	gap->may_be_copy = gap->of.parts[GAP_LATE] && before.thread == after.thread &&
			   (kind == FRAME_COPY || kind == FRAME_SET);
}

/* Is it known that nothing ran all the time? */
static bool is_gap(const struct busy *b, uint64_t start_ns, uint64_t end_ns)
{
	return !unrecorded_within(&b->unrecorded, start_ns, end_ns);
}

bool busy_gap_at(const struct busy *b, uint64_t ns, struct busy_gap *ret)
{
	size_t n = begun(b, ns);
	uint64_t end_ns;

	if (!n || n == b->n)
		return false;
	end_ns = end_of(b, n - 1);
	if (ns < end_ns || !is_gap(b, end_ns, b->pieces[n].start_ns))
		return false;
	*ret = (struct busy_gap){.of = {.start = end_ns, .end = b->pieces[n].start_ns}};
	ret->before = ended_at(b, end_ns);
	ret->after = begun_at(b, ret->of.end);
	if (!ret->before.strip || !ret->after.strip)
		return false;
	explain(b, ret);
	return true;
}

enum gap_part busy_gap_reason(const struct busy_gap *gap)
{
	uint64_t most_ns = gap->of.end - gap->of.start;
	enum gap_part most = GAP_N_PARTS;

	for (unsigned i = 0; i < GAP_N_PARTS; i++)
		most_ns -= gap->of.parts[i]; /* what is left nobody knows */
	for (unsigned i = 0; i < GAP_N_PARTS; i++)
		if (gap->of.parts[i] > most_ns) {
			most_ns = gap->of.parts[i];
			most = (enum gap_part)i;
		}
	return most == GAP_LATE && gap->may_be_copy ? GAP_N_PARTS : most;
}

static uint64_t gap_behind(const struct busy *b, size_t i)
{
	return b->pieces[i + 1].start_ns - end_of(b, i);
}

/* Which they are first, why they were then: that is a search each. */
size_t busy_longest(const struct busy *b, struct busy_gap *ret, size_t max)
{
	size_t n = 0, n_told = 0;

	for (size_t i = 0; max && i + 1 < b->n; i++) {
		const struct gap gap = {.start = end_of(b, i), .end = b->pieces[i + 1].start_ns};
		size_t at = n;

		if (!is_gap(b, gap.start, gap.end))
			continue;
		while (at > 0 && gap_behind(b, i) > ret[at - 1].of.end - ret[at - 1].of.start)
			at--;
		if (at == max)
			continue;
		n += n < max;
		memmove(ret + at + 1, ret + at, (n - at - 1) * sizeof(*ret));
		ret[at] = (struct busy_gap){.of = gap};
	}
	for (size_t i = 0; i < n; i++)
		n_told += busy_gap_at(b, ret[i].of.start, &ret[n_told]);
	return n_told;
}

bool busy_has_parts(const struct busy_gap *gap)
{
	for (unsigned i = 0; i < GAP_N_PARTS; i++)
		if (gap->of.parts[i])
			return true;
	return false;
}

void busy_put_parts(const struct busy_gap *gap, struct buf *out)
{
	const char *between = "";
	char ns[HUMAN_MAX];

	for (unsigned i = 0; i < GAP_N_PARTS; i++) {
		if (!gap->of.parts[i])
			continue;
		human_time_ns(ns, (double)gap->of.parts[i]);
		buf_printf(out, "%s%s%s %s", between, gap_words[i].word,
			   i == GAP_LATE && gap->may_be_copy ? " or copy" : "", ns);
		between = ", ";
	}
}

/* ---- as columns ---- */

uint64_t busy_known_ns(const struct busy *b, uint64_t from_ns, uint64_t to_ns)
{
	return to_ns - from_ns - unrecorded_ns(&b->unrecorded, from_ns, to_ns);
}

uint64_t busy_unrecorded_ns(const struct busy *b, uint64_t from_ns, uint64_t to_ns)
{
	return unrecorded_ns(&b->told, from_ns, to_ns) -
	       unrecorded_ns(&b->unrecorded, from_ns, to_ns);
}

double busy_share(const struct busy *b, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t known_ns = busy_known_ns(b, from_ns, to_ns);

	return known_ns ? (double)(busy_until(b, to_ns) - busy_until(b, from_ns)) / (double)known_ns
			: NAN;
}

enum unrecorded_reason busy_unrecorded(const struct busy *b, const struct strip_view *view,
				       unsigned column)
{
	uint64_t from_ns = strip_column_ns(view, column), to_ns = strip_column_ns(view, column + 1);

	if (busy_known_ns(b, from_ns, to_ns) >= (to_ns - from_ns + 1) / 2)
		return UNRECORDED_N;
	return unrecorded_within(&b->unrecorded, from_ns, to_ns)->reason;
}

/* What a column looks like, by itself: without why nothing ran. */
static struct busy_run look_at(const struct busy *b, const struct strip_view *view, unsigned k)
{
	double share = busy_share(b, strip_column_ns(view, k), strip_column_ns(view, k + 1));
	struct busy_run run = {share, GAP_N_PARTS, UNRECORDED_N, k, k + 1};

	if (run.share > 0)
		return run;
	run.share = 0;
	run.unrecorded = busy_unrecorded(b, view, k);
	return run;
}

static bool goes_on(const struct busy *b, const struct strip_view *view, const struct busy_run *run)
{
	struct busy_run next = look_at(b, view, run->end);

	return next.share <= 0 && next.unrecorded == run->unrecorded;
}

struct busy_run busy_run(const struct busy *b, const struct strip_view *view, unsigned column)
{
	struct busy_run run = look_at(b, view, column);
	struct busy_gap gap;

	if (run.share > 0)
		return run;
	while (run.end < view->n && goes_on(b, view, &run))
		run.end++;
	run.middle = column + (run.end - column) / 2;
	if (busy_gap_at(b, strip_column_ns(view, run.middle), &gap))
		run.reason = busy_gap_reason(&gap);
	if (run.reason < GAP_N_PARTS && !gap_words[run.reason].letter)
		run.reason = GAP_N_PARTS;
	return run;
}
