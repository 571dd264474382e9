/* SPDX-License-Identifier: MIT */
/* What findings cost: bench/findings [NODES [ROUNDS]]
 *
 * A profile of so many nodes (50000), kernels and copies with rows on two devices, in chains of scopes
 * twenty deep; each round asks all rules. Times in milliseconds: minimum, median. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/util.h"
#include "findings/findings.h"

enum { DEPTH = 20, ROUNDS_MAX = 1000 };

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "findings: %s\n", what);
	exit(1);
}

static void add(struct session *s, uint32_t node, uint32_t lane, uint32_t metric, uint64_t v)
{
	must(session_add(s, node, lane, 0, metric, (union metric_value){.u64 = v}) == 0, "memory");
}

static uint32_t add_lane(struct session *s, int device)
{
	struct session_device d = {.type = strtab_adds(s->strings, "CUDA"), .index = device};
	struct session_lane lane = {.process = session_process_add(s, (uint64_t)device + 1)};
	struct session_use use = {.process = lane.process, .busy_ns = NSEC_PER_SEC};

	lane.device = use.device = session_device_intern(s, &d);
	must(session_use_set(s, &use) == 0, "memory");
	return session_lane_intern(s, &lane);
}

static struct session *make(uint32_t nodes)
{
	struct session *s = session_new();
	struct session_run run = {.wall_ns = 10 * NSEC_PER_SEC, .end = PROCESS_ENDED};
	uint32_t lanes[2], parent = SESSION_ROOT;
	char name[64];

	must(s, "memory");
	lanes[0] = add_lane(s, 0);
	lanes[1] = add_lane(s, 1);
	must(session_run_add(s, &run) == 0, "memory");
	for (uint32_t i = 0; i < nodes; i++) {
		bool is_scope = i % DEPTH != 0, is_copy = i % 7 == 0;

		snprintf(name, sizeof(name), is_copy ? "memcpy HtoD pageable %u" : "kernel_%u", i);
		if (is_scope) {
			parent = session_node(s, i % DEPTH == 1 ? SESSION_ROOT : parent,
					      FRAME_SCOPE, name);
			continue;
		}
		uint32_t node = session_node(s, parent, is_copy ? FRAME_COPY : FRAME_KERNEL, name);

		for (int k = 0; k < 2; k++) {
			add(s, node, lanes[k], METRIC_TIME, 3000 + i);
			add(s, node, lanes[k], METRIC_COUNT, 3);
			if (is_copy)
				add(s, node, lanes[k], METRIC_BYTES, 1000);
		}
	}
	return s;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	uint32_t nodes = argc > 1 ? (uint32_t)atoi(argv[1]) : 50000;
	int rounds = argc > 2 ? CLAMP(atoi(argv[2]), 1, ROUNDS_MAX) : 15;
	struct session *s = make(nodes);
	static double ms[ROUNDS_MAX];
	struct findings f = {0};

	for (int i = 0; i < rounds; i++) {
		uint64_t start = clock_monotonic_ns();

		must(findings_make(&f, s, NULL) == 0, "memory");
		ms[i] = (double)(clock_monotonic_ns() - start) / 1e6;
	}
	qsort(ms, (size_t)rounds, sizeof(*ms), compare);
	printf("%zu nodes, %zu rows, %zu findings: minimum %.2f, median %.2f ms\n", s->n_nodes,
	       s->n_rows, f.n, ms[0], ms[rounds / 2]);
	findings_done(&f);
	session_free(s);
	return 0;
}
