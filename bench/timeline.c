/* SPDX-License-Identifier: MIT */
/* What the timeline costs on a trace of many operations, drawing included, in ms of the processor.
 *
 *	bench/timeline [OPERATIONS] [STREAMS] [SHUFFLE]
 *
 * OPERATIONS (10,000,000) of STREAMS (16), a host thread with nested ranges beside them, as they come from
 * a collector: by time, SHUFFLE of them (0) up to so many places too early or late. The first line is what
 * the first screen costs beyond reading the profile; the second what the counters of devices cost, which it is shown
 * without; then the longest and the median of each key. Budget:
 * 1 s for the first screen, 50 ms to zoom and pan. */
#include "config.h" // IWYU pragma: keep
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/snapshot.h"
#include "tui/panel_timeline.h"
#include "tui/tui.h"
#include "tui/tui_impl.h"

#include "screen_times.h"

#define KERNELS 64

/* The nodes and lanes of a run; work of a stream ends before the next begins. */
struct run {
	struct session *s;
	uint32_t step, ops, kernels[KERNELS], host, *lanes;
	uint64_t *free_ns;
	unsigned n_lanes;
};

static void run_init(struct run *r, unsigned n_lanes)
{
	struct session_device device = {0};
	uint32_t process, d;

	*r = (struct run){.s = session_new(), .n_lanes = n_lanes};
	device.type = strtab_adds(r->s->strings, "CUDA");
	process = session_process_add(r->s, 1);
	d = session_device_intern(r->s, &device);
	r->lanes = calloc(n_lanes, sizeof(*r->lanes));
	r->free_ns = calloc(n_lanes, sizeof(*r->free_ns));
	r->host = session_lane_intern(r->s, &(struct session_lane){process, SESSION_NONE, 0, 0, 7});
	for (unsigned i = 0; i < n_lanes; i++)
		r->lanes[i] =
			session_lane_intern(r->s, &(struct session_lane){process, d, 1, i, 0});
	r->step = session_node(r->s, SESSION_ROOT, FRAME_SCOPE, "step");
	r->ops = session_node(r->s, r->step, FRAME_FUNCTION, "aten::linear");
	for (unsigned i = 0; i < KERNELS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "kernel_%u", i);
		r->kernels[i] = session_node(r->s, r->ops, i % 8 ? FRAME_KERNEL : FRAME_COPY, name);
		session_add(r->s, r->kernels[i], r->lanes[i % n_lanes], 0, METRIC_TIME,
			    (union metric_value){.u64 = 1000});
	}
}

static void add(struct run *r, uint32_t node, uint32_t lane, uint64_t start_ns, uint64_t end_ns)
{
	const struct session_interval v = {
		.start_ns = start_ns, .end_ns = end_ns, .node = node, .lane = lane};

	if (session_interval_add(r->s, &v) < 0)
		exit(1);
}

/* A tenth are ranges of the host. */
static void run_fill(struct run *r, size_t n)
{
	uint64_t now = 1000000;

	for (size_t i = 0; i < n; i++) {
		unsigned lane = (unsigned)draw_number(r->n_lanes);
		uint64_t start = MAX(now, r->free_ns[lane]), length = 500 + draw_number(8000);

		now += 400;
		if (i % 100 == 0)
			add(r, r->step, r->host, now, now + 39000);
		else if (i % 10 == 0)
			add(r, r->ops, r->host, now, now + 3000);
		else
			add(r, r->kernels[draw_number(KERNELS)], r->lanes[lane], start,
			    start + length);
		if (i % 10)
			r->free_ns[lane] = start + length + draw_number(300);
	}
}

static void run_shuffle(struct run *r, size_t by)
{
	struct session_interval *v = r->s->intervals, swap;

	for (size_t i = 0; by && i + by < r->s->n_intervals; i++) {
		size_t k = i + draw_number(by);

		swap = v[i];
		v[i] = v[k];
		v[k] = swap;
	}
}

int main(int argc, char **argv)
{
	static const char *const keys[] = {"Right",  "S-Right", "+",      "}", "L",
					   "S-Left", "-",       "Home +", "=", "Down"};
	static const struct snapshot_spec spec;
	static const struct tui_options options = {.command = "view"};
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000;
	unsigned streams = argc > 2 ? (unsigned)atoi(argv[2]) : 16;
	struct snapshot *snap;
	struct buf screen;
	struct run r;
	struct tui *t;

	setlocale(LC_ALL, "C.UTF-8");
	run_init(&r, MAX(streams, 1));
	run_fill(&r, n);
	run_shuffle(&r, argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
	r.s->ended = true;
	snap = snapshot_new(r.s, &spec);
	t = snap ? tui_new(&options, snap, NULL) : NULL;
	if (!t)
		return 1;
	buf_init(&screen, 0);
	tui_dump(t, 50, 200, false, &screen);
	printf("%-24s %8.1f ms, %zu operations\n", "first screen", press_large(t, "M-5", &screen),
	       r.s->n_intervals);
	timeline_later(tui_panel(t));
	printf("%-24s %8.1f ms\n", "with counters", press_large(t, "", &screen));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		time_key(t, keys[i], &screen);
	printf("%-24s %8.1f ms\n", "/ found", press_large(t, "/ 'kernel_63' Enter", &screen));
	printf("%-24s %8.1f ms\n", "/ not found", press_large(t, "/ 'nobody' Enter", &screen));
	printf("%-24s %8.1f ms\n", "filter", press_large(t, "\\ 'kernel_17' Enter", &screen));
	printf("%-24s %8.1f ms\n", "from the tree", press_large(t, "Esc 1 End M-5", &screen));
	buf_done(&screen);
	tui_free(t);
	snapshot_free(snap);
	session_free(r.s);
	free(r.lanes);
	free(r.free_ns);
	return 0;
}
