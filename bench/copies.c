/* SPDX-License-Identifier: MIT */
/* What the taker of intervals pays for an execution on a device, where one in four is a copy, and with copies told apart by
 * stream, direction and channel (collect/copy_lanes.h): bench/copies N [ROUNDS]. Ways take turns; time is the
 * processor's, so that other work on the machine does not count. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"
#include "by_turns.h"
#include "collect/copy_lanes.h"
#include "collect/internal.h"
#include "core/coverage.h"

enum { RUN = COPY_LANES_RUN, SPANS = 1 << 15, MOST_STREAMS = 128 };

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

/* Runs are of so many streams by turns. */
static void spread(unsigned n_streams)
{
	for (uint32_t i = 0; i < work.n; i++)
		work.of[i].of.lane = i / RUN % MAX(n_streams, 1);
}

static const struct way ways[] = {
	{"busy time alone", cover_alone, spread, 0},
	{"no copies", cover_none, spread, 0},
	{"no copies, by stream", cover_lanes_none, spread, 1},
	{"a copy in four", cover_one, spread, 0},
	{"a copy in four, 1 stream", cover_lanes, spread, 1},
	{"a copy in four, 8 streams", cover_lanes, spread, 8},
	{"a copy in four, 128 streams", cover_lanes, spread, MOST_STREAMS},
};

/* ---- what ran ---- */

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

int main(int argc, char **argv)
{
	unsigned rounds;
	uint32_t n;

	if (!by_turns_options(argc, argv, &n, &rounds))
		return 2;
	work_make(n);
	by_turns(ways, ARRAY_SIZE(ways), rounds, n);
	return 0;
}
