/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "check_main.h"
#include "core/gaps.h"

enum { TIME_MAX = 4096, WORKS_MAX = 200, WAITS_MAX = 64, LEAST = 5, N_STREAMS = 3, N_THREADS = 2 };

/* What was charged, by whom it is of. */
struct charged {
	uint64_t whole[WORKS_MAX], parts[WORKS_MAX][GAP_N_PARTS];
	uint64_t last_end;
};

static void charge(void *user, const struct gap *gap)
{
	struct charged *c = user;

	ck_assert_uint_lt(gap->who, WORKS_MAX);
	ck_assert_uint_lt(gap->start, gap->end);
	ck_assert_uint_ge(gap->start, c->last_end); /* in the order of time */
	c->last_end = gap->end;
	c->whole[gap->who] += gap->end - gap->start;
	for (unsigned i = 0; i < GAP_N_PARTS; i++)
		c->parts[gap->who][i] += gap->parts[i];
}

/* ---- the same, nanosecond by nanosecond ---- */

struct schedule {
	struct gaps_work works[WORKS_MAX];
	bool has_come[WORKS_MAX];
	unsigned n, n_of_stream[N_STREAMS], next[N_STREAMS], of_stream[N_STREAMS][WORKS_MAX];
	struct gaps_wait waits[WAITS_MAX];
	unsigned n_waits;
	uint64_t differ_ns; /* the clocks of host and device */
};

static bool has_waited(const struct schedule *s, uint32_t thread, uint64_t g, uint64_t l)
{
	for (unsigned i = 0; i < s->n_waits; i++)
		if (s->waits[i].thread == thread && s->waits[i].start < g &&
		    s->waits[i].end + s->differ_ns > g && s->waits[i].end <= l)
			return true;
	return false;
}

/* The part that a moment within the gap between two works is of. */
static int part_at(const struct schedule *s, const struct gaps_work *before,
		   const struct gaps_work *after, uint64_t t)
{
	if (after->graph && after->graph == before->graph && after->launched == before->launched)
		return GAP_GRAPH;
	if (!after->launched)
		return -1;
	if (t >= after->launched)
		return after->launched + LEAST < before->end ? GAP_QUEUED : GAP_LAUNCH;
	if (before->blocks && before->thread == after->thread)
		return GAP_COPY;
	return has_waited(s, after->thread, before->end, after->launched) ? GAP_SYNC : GAP_LATE;
}

/* The work that ended last by t, or that begins first after it; starts and ends are each of one work. */
static const struct gaps_work *nearest(const struct schedule *s, uint64_t t, bool is_before)
{
	const struct gaps_work *best = NULL;

	for (unsigned i = 0; i < s->n; i++) {
		const struct gaps_work *w = &s->works[i];

		if (is_before ? w->end <= t && (!best || w->end > best->end)
			      : w->start > t && (!best || w->start < best->start))
			best = w;
	}
	return best;
}

static bool is_busy(const struct schedule *s, uint64_t t)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->works[i].start <= t && t < s->works[i].end)
			return true;
	return false;
}

static void model(const struct schedule *s, struct charged *c)
{
	for (uint64_t t = 1; t < TIME_MAX; t++) {
		const struct gaps_work *before, *after;
		int part;

		if (is_busy(s, t))
			continue;
		before = nearest(s, t, true);
		after = nearest(s, t, false);
		if (!before || !after)
			continue;
		c->whole[after->who]++;
		part = part_at(s, before, after, t);
		if (part >= 0)
			c->parts[after->who][part]++;
	}
}

/* ---- schedules ---- */

static unsigned below(unsigned n)
{
	return (unsigned)rand() % n;
}

static void add_work(struct schedule *s, unsigned stream, uint64_t start, uint64_t end)
{
	struct gaps_work *w = &s->works[s->n];
	uint64_t latency = LEAST + (below(3) ? below(8) : below(300));

	*w = (struct gaps_work){.start = start,
				.end = end,
				.launched = below(9) && start > latency ? start - latency : 0,
				.who = s->n,
				.thread = below(N_THREADS),
				.blocks = !below(4)};
	if (s->n && !below(4)) { /* as the one before it, of one graph */
		w->graph = 1 + stream;
		w->launched = s->works[s->n - 1].launched;
		s->works[s->n - 1].graph = w->graph;
		if (w->launched + LEAST > start)
			w->launched = 0;
	}
	s->of_stream[stream][s->n_of_stream[stream]++] = s->n++;
}

/* Each stream in its order. Every start and every end is of one work: which of several is whose is not said. */
static void make(struct schedule *s)
{
	bool is_start[TIME_MAX] = {false}, is_end[TIME_MAX] = {false};

	memset(s, 0, sizeof(*s));
	s->works[0] = (struct gaps_work){10, 11, 10 - LEAST, 0, 0, 0, false};
	s->of_stream[0][s->n_of_stream[0]++] = s->n++;
	is_start[10] = is_end[11] = true;
	for (unsigned k = 0; k < N_STREAMS; k++)
		for (uint64_t t = 12 + below(100); s->n < WORKS_MAX;) {
			uint64_t start = t + below(120), end = start + 1 + below(90);

			while (start < TIME_MAX - 1 && is_start[start])
				start++;
			end = end <= start ? start + 1 : end;
			while (end < TIME_MAX && is_end[end])
				end++;
			if (end >= TIME_MAX)
				break;
			is_start[start] = is_end[end] = true;
			add_work(s, k, start, end);
			t = end;
		}
	for (; s->n_waits < WAITS_MAX; s->n_waits++) {
		uint64_t start = below(TIME_MAX);

		s->waits[s->n_waits] =
			(struct gaps_wait){start, start + below(200), below(N_THREADS)};
	}
}

/* Some of a stream, in order. */
static unsigned take_run(struct schedule *s, unsigned stream, struct gaps_work *run)
{
	unsigned n = 0, most = 1 + below(12);

	while (n < most && s->next[stream] < s->n_of_stream[stream]) {
		unsigned i = s->of_stream[stream][s->next[stream]++];

		s->has_come[i] = true;
		run[n++] = s->works[i];
	}
	return n;
}

/* All that starts before has come. */
static uint64_t settled(const struct schedule *s)
{
	uint64_t until = UINT64_MAX;

	for (unsigned i = 0; i < s->n; i++)
		if (!s->has_come[i] && s->works[i].start < until)
			until = s->works[i].start;
	return until;
}

static void play(struct schedule *s, struct gaps *g, const struct gaps_waits *waits,
		 struct charged *c)
{
	struct gaps_work run[WORKS_MAX];

	gaps_add(g, run, take_run(s, 0, run)); /* with the least latency */
	while (settled(s) != UINT64_MAX) {
		gaps_add(g, run, take_run(s, below(N_STREAMS), run));
		if (!below(3))
			gaps_settle(g, settled(s), waits, charge, c);
	}
	gaps_settle(g, UINT64_MAX, waits, charge, c);
}

/* Streams whose work comes at other times than it ran: as one nanosecond after the other says. */
START_TEST(gaps_are_charged)
{
	struct gaps_piece room[512];
	struct gaps_wait waits_room[WAITS_MAX];
	unsigned n_seen[GAP_N_PARTS] = {0};

	srand(11);
	for (unsigned round = 0; round < 400; round++) {
		struct charged found = {{0}, {{0}}, 0}, expected = {{0}, {{0}}, 0};
		struct gaps_waits waits;
		struct schedule s;
		struct gaps g;

		make(&s);
		s.differ_ns = round % 2 ? 0 : 7;
		gaps_init(&g, room, 512);
		gaps_waits_init(&waits, waits_room, WAITS_MAX, s.differ_ns);
		for (unsigned i = 0; i < s.n_waits; i++)
			gaps_waited(&waits, &s.waits[i]);
		play(&s, &g, &waits, &found);
		model(&s, &expected);
		for (unsigned i = 0; i < s.n; i++) {
			ck_assert_msg(found.whole[i] == expected.whole[i],
				      "round %u, work %u: %lu, not %lu", round, i,
				      (unsigned long)found.whole[i],
				      (unsigned long)expected.whole[i]);
			for (unsigned p = 0; p < GAP_N_PARTS; p++) {
				ck_assert_msg(found.parts[i][p] == expected.parts[i][p],
					      "round %u, work %u, part %u: %lu, not %lu", round, i,
					      p, (unsigned long)found.parts[i][p],
					      (unsigned long)expected.parts[i][p]);
				n_seen[p] += found.parts[i][p] > 0;
			}
		}
		ck_assert_uint_eq(g.n_lost, 0);
	}
	for (unsigned p = 0; p < GAP_N_PARTS; p++)
		ck_assert_uint_gt(n_seen[p], 50);
}
END_TEST

/* More pieces than there is room for: the oldest are counted, and charged to nobody. */
START_TEST(gaps_are_bounded)
{
	struct gaps_piece room[16];
	struct charged c = {{0}, {{0}}, 0};
	uint64_t charged = 0;
	struct gaps g;

	gaps_init(&g, room, 16);
	for (unsigned i = 0; i < 100; i++) {
		const struct gaps_work w = {10 + 10 * i, 14 + 10 * i, 1, i, 0, 0, false};

		gaps_add(&g, &w, 1);
		ck_assert_uint_le(g.n, 16);
	}
	gaps_settle(&g, UINT64_MAX, NULL, charge, &c);
	for (unsigned i = 0; i < 100; i++)
		charged += c.whole[i];
	ck_assert_uint_gt(g.n_lost, 0);
	ck_assert_uint_eq(charged, 6 * (100 - g.n_lost));
}
END_TEST

/* Of a time in which something was not seen nobody knows whose it was. */
START_TEST(gaps_are_forgotten)
{
	const struct gaps_work before = {10, 20, 5, 0, 0, 0, false},
			       lost = {30, 40, 25, 1, 0, 0, false},
			       first = {90, 95, 85, 2, 0, 0, false},
			       next = {99, 100, 98, 3, 0, 0, false};
	struct gaps_piece room[16];
	struct charged c = {{0}, {{0}}, 0};
	struct gaps g;

	gaps_init(&g, room, 16);
	gaps_add(&g, &before, 1);
	gaps_settle(&g, 25, NULL, charge, &c);
	gaps_add(&g, &lost, 1);
	gaps_forget(&g);
	gaps_add(&g, &first, 1);
	gaps_add(&g, &next, 1);
	gaps_settle(&g, UINT64_MAX, NULL, charge, &c);
	ck_assert_uint_eq(c.whole[1] + c.whole[2], 0);
	ck_assert_uint_eq(c.whole[3], 4);
	ck_assert_uint_eq(c.parts[3][GAP_LATE], 3);
	ck_assert_uint_eq(c.parts[3][GAP_LAUNCH], 1);
}
END_TEST

/* Whether a thread waited is not known where waits were forgotten for want of room. */
START_TEST(waits_are_bounded)
{
	const struct gaps_work before = {10, 20, 5, 0, 1, 0, false},
			       after = {60, 70, 50, 1, 1, 0, false},
			       late = {190, 195, 180, 2, 1, 0, false};
	struct gaps_wait waits_room[8];
	struct gaps_piece room[16];
	struct charged c = {{0}, {{0}}, 0};
	struct gaps_waits waits;
	struct gaps g;

	gaps_waits_init(&waits, waits_room, 8, 0);
	for (uint64_t at = 15; at < 215; at += 10)
		gaps_waited(&waits, &(struct gaps_wait){at - 12, at + 7, 1});
	ck_assert_uint_le(waits.n, 8);
	ck_assert_uint_gt(waits.floor, 20);
	gaps_init(&g, room, 16);
	gaps_add(&g, &before, 1);
	gaps_add(&g, &after, 1);
	gaps_add(&g, &late, 1);
	gaps_settle(&g, UINT64_MAX, &waits, charge, &c);
	ck_assert_uint_eq(c.whole[1], 40);
	ck_assert_uint_eq(c.parts[1][GAP_LAUNCH], 10);
	ck_assert_uint_eq(c.parts[1][GAP_LATE] + c.parts[1][GAP_SYNC], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gaps");
	TCase *tc = tcase_create("gaps");

	tcase_add_test(tc, gaps_are_charged);
	tcase_add_test(tc, gaps_are_bounded);
	tcase_add_test(tc, gaps_are_forgotten);
	tcase_add_test(tc, waits_are_bounded);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
