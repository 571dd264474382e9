/* SPDX-License-Identifier: MIT */
/* What the taker of intervals pays for an execution on a device, where one in four is a copy, and with copies told apart by
 * stream, direction and channel (collect/copy_lanes.h): bench/copies N [ROUNDS]. Ways take turns; time is the
 * processor's, so that other work on the machine does not count. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/util.h"
#include "collect/copy_lanes.h"
#include "collect/internal.h"
#include "core/coverage.h"

enum { RUN = COPY_LANES_RUN, SPANS = 1 << 15, MOST_STREAMS = 128, MAX_ROUNDS = 1000 };

static struct work {
	struct span *run;
	bool *is_copy, *is_none;
	struct wire_epoch_interval *of;
	struct copy_way *way, *none;
	uint32_t n;
} work;
static struct span *room, split[RUN];
static struct overlap overlap;

/* ---- ways ---- */

/* Busy time of the device alone. */
static void cover_alone(void)
{
	struct coverage c;

	coverage_init(&c, room, SPANS);
	for (uint32_t i = 0; i < work.n; i += RUN)
		coverage_add(&c, work.run + i, MIN((uint32_t)RUN, work.n - i));
}

/* … and of its copies, all as one. */
static void cover_apart(const bool *is_copy)
{
	overlap_init(&overlap, room, SPANS);
	for (uint32_t i = 0; i < work.n; i += RUN)
		overlap_add(&overlap, work.run + i, is_copy + i, MIN((uint32_t)RUN, work.n - i),
			    split);
}

static void cover_none(void)
{
	cover_apart(work.is_none);
}

static void cover_one(void)
{
	cover_apart(work.is_copy);
}

/* … and of those in each of so many streams, as the collector does it. */
static void cover_lanes_of(const struct copy_way *way)
{
	copy_lanes_forked();
	overlap_init(&overlap, room, SPANS);
	for (uint32_t i = 0; i < work.n; i += RUN)
		copy_lanes_cover(0, &overlap, work.run + i, work.of + i, way + i,
				 MIN((uint32_t)RUN, work.n - i));
}

static void cover_lanes_none(void)
{
	cover_lanes_of(work.none);
}

static void cover_lanes(void)
{
	cover_lanes_of(work.way);
}

static const struct way {
	const char *what;
	void (*cover)(void);
	unsigned n_streams;
} ways[] = {
	{"busy time alone", cover_alone, 0},
	{"no copies", cover_none, 0},
	{"no copies, by stream", cover_lanes_none, 1},
	{"a copy in four", cover_one, 0},
	{"a copy in four, 1 stream", cover_lanes, 1},
	{"a copy in four, 8 streams", cover_lanes, 8},
	{"a copy in four, 128 streams", cover_lanes, MOST_STREAMS},
};

/* ---- what ran ---- */

/* Runs are of so many streams by turns. */
static void spread(unsigned n_streams)
{
	for (uint32_t i = 0; i < work.n; i++)
		work.of[i].of.lane = i / RUN % MAX(n_streams, 1);
}

static void *allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fputs("copies: out of memory\n", stderr);
		exit(1);
	}
	return p;
}

/* Runs of two streams by turns, each 512 executions of 3 us every 5 us; of the second every second one is a copy. */
static void work_make(uint32_t n)
{
	static struct collector c;

	work = (struct work){.n = n,
			     .run = allocate(n, sizeof(*work.run)),
			     .is_copy = allocate(n, sizeof(*work.is_copy)),
			     .is_none = allocate(n, sizeof(*work.is_none)),
			     .of = allocate(n, sizeof(*work.of)),
			     .way = allocate(n, sizeof(*work.way)),
			     .none = allocate(n, sizeof(*work.none))};
	room = allocate(OVERLAP_SPANS * SPANS, sizeof(*room));
	c.lane = allocate(MOST_STREAMS, sizeof(*c.lane));
	for (uint32_t i = 0; i < MOST_STREAMS; i++)
		c.lane[i].stream = i;
	collector = &c;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t run = i / RUN, at = run / 2 * RUN + i % RUN;

		work.run[i].start = 1000 + 5000 * (uint64_t)at + (run % 2 ? 1500 : 0);
		work.run[i].end = work.run[i].start + 3000;
		work.is_copy[i] = run % 2 && i % 2;
		work.way[i].is_copy = work.is_copy[i];
		work.way[i].direction = COPY_HOST_TO_DEVICE;
	}
}

static int compare(const void *a, const void *b)
{
	return COMPARE(*(const double *)a, *(const double *)b);
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 7;
	static double ns[ARRAY_SIZE(ways)][MAX_ROUNDS];

	if (!n || n > UINT32_MAX || !rounds || rounds > MAX_ROUNDS) {
		fputs("usage: copies N [ROUNDS]\n", stderr);
		return 2;
	}
	work_make((uint32_t)n);
	for (unsigned r = 0; r < rounds; r++)
		for (unsigned w = 0; w < ARRAY_SIZE(ways); w++) {
			uint64_t start;

			spread(ways[w].n_streams);
			start = clock_thread_cpu_ns();
			ways[w].cover();
			ns[w][r] = (double)(clock_thread_cpu_ns() - start) / (double)n;
		}
	for (unsigned w = 0; w < ARRAY_SIZE(ways); w++) {
		qsort(ns[w], rounds, sizeof(double), compare);
		printf("%-28s min %6.1f  median %6.1f ns\n", ways[w].what, ns[w][0],
		       ns[w][rounds / 2]);
	}
	return 0;
}
