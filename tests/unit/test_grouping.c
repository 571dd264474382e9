/* SPDX-License-Identifier: MIT */
/* Tests of core/snapshot: whatever was looked at before, a grouping is what a new snapshot makes of it. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/snapshot.h"

enum { N_NODES = 60, N_ROWS = 90, N_STEPS = 40, N_WORLDS = 200 };

/* A random world; seeds make it the same each time. Few lanes, so that groupings often part alike. */
struct world {
	unsigned seed;
	struct session *s;
	uint32_t lanes[4], n_lanes;
};

static unsigned draw(struct world *w, unsigned n)
{
	w->seed = w->seed * 1103515245u + 12345u;
	return w->seed / 65536u % n;
}

static void make_lanes(struct world *w)
{
	struct session_device gpu = {.type = strtab_adds(w->s->strings, "CUDA"),
				     .host = SESSION_NONE};
	uint32_t process[2], device[2];

	for (unsigned i = 0; i < 2; i++) {
		gpu.index = (int32_t)i;
		process[i] = session_process_add(w->s, i + 1);
		device[i] = session_device_intern(w->s, &gpu);
	}
	w->n_lanes = 1 + draw(w, ARRAY_SIZE(w->lanes));
	for (unsigned i = 0; i < w->n_lanes; i++) {
		struct session_lane lane = {draw(w, 3) ? process[draw(w, 2)] : SESSION_NONE,
					    draw(w, 3) ? device[draw(w, 2)] : SESSION_NONE, 0,
					    draw(w, 2), draw(w, 2)};

		w->lanes[i] = session_lane_intern(w->s, &lane);
		if (draw(w, 12) == 0)
			w->lanes[i] = SESSION_NONE;
	}
}

static void add_nodes(struct world *w, unsigned n)
{
	static const char *const names[] = {"a", "b", "c", "d", "__proton_launch_metadata"};

	while (n--)
		session_node(w->s, draw(w, (unsigned)w->s->n_nodes), FRAME_SCOPE,
			     names[draw(w, ARRAY_SIZE(names))]);
}

static void add_rows(struct world *w, unsigned n)
{
	static const uint32_t metrics[] = {METRIC_TIME, METRIC_COUNT, METRIC_CPU_TIME,
					   METRIC_TIME_MAX};

	while (n--) {
		uint32_t node = draw(w, (unsigned)w->s->n_nodes),
			 lane = w->lanes[draw(w, w->n_lanes)];
		uint32_t metric = metrics[draw(w, ARRAY_SIZE(metrics))];

		if (draw(w, 10) == 0)
			session_add(w->s, node, lane, 0, METRIC_FLOPS,
				    (union metric_value){.f64 = draw(w, 100)});
		else
			session_add(w->s, node, lane, 0, metric,
				    (union metric_value){.u64 = draw(w, 1000)});
	}
}

static void world_init(struct world *w, unsigned seed)
{
	*w = (struct world){.seed = seed * 7919u + 1, .s = session_new()};
	make_lanes(w);
	add_nodes(w, N_NODES);
	add_rows(w, N_ROWS);
}

static void put_node(struct snapshot *snap, uint32_t id, struct buf *out)
{
	static const uint32_t shown[] = {METRIC_TIME, METRIC_COUNT, METRIC_CPU_TIME,
					 METRIC_TIME_MAX, METRIC_FLOPS};
	const struct snap_node *n = snapshot_node(snap, id);

	buf_printf(out, "%*s%s kind %u depth %u hidden %d %d in %u of %u, parent %u:", n->depth, "",
		   snapshot_name(snap, id, NAME_RAW), n->kind, n->depth, n->hidden,
		   snapshot_hidden(snap)[id], n->n_children, n->session_node, n->parent);
	ck_assert_uint_eq(snapshot_parents(snap)[id], n->parent);
	for (unsigned i = 0; i < ARRAY_SIZE(shown); i++)
		buf_printf(out, " %g %g", snapshot_column(snap, shown[i], false)->v[id],
			   snapshot_column(snap, shown[i], true)->v[id]);
	buf_putc(out, '\n');
	for (uint32_t child = n->first_child; child != SNAP_NONE;
	     child = snapshot_node(snap, child)->next_sibling)
		put_node(snap, child, out);
}

static char *picture(struct snapshot *snap)
{
	struct buf out;
	char *text;

	buf_init(&out, 0);
	buf_printf(&out, "%s: %u nodes, %u contexts, %u shown\n", group_word(snapshot_group(snap)),
		   snapshot_n(snap), snapshot_n_contexts(snap), snapshot_n_shown(snap));
	put_node(snap, 0, &out);
	text = strdup(buf_str(&out));
	buf_done(&out);
	return text;
}

static void check_as_new(struct snapshot *snap, const struct session *s)
{
	const struct snapshot_spec spec = {.group = snapshot_group(snap)};
	struct snapshot *new = snapshot_new(s, &spec);
	_cleanup_(freep) char *have = picture(snap);
	_cleanup_(freep) char *want = picture(new);

	ck_assert_str_eq(have, want);
	snapshot_free(new);
}

/* From any grouping to any other, of what has ended and of what goes on. */
START_TEST(a_grouping_is_the_same_whatever_came_before)
{
	static const struct snapshot_spec spec;

	for (unsigned i = 0; i < N_WORLDS; i++) {
		struct snapshot *snap;
		struct world w;

		world_init(&w, (unsigned)_i * N_WORLDS + i);
		w.s->ended = _i % 2;
		snap = snapshot_new(w.s, &spec);
		for (unsigned step = 0; step < N_STEPS; step++) {
			ck_assert_int_eq(snapshot_regroup(snap, draw(&w, GROUP_N)), 0);
			check_as_new(snap, w.s);
		}
		snapshot_free(snap);
		session_free(w.s);
	}
}
END_TEST

/* What comes later goes where it would have gone. */
START_TEST(what_comes_after_a_grouping_finds_its_group)
{
	static const struct snapshot_spec spec;

	for (unsigned i = 0; i < N_WORLDS; i++) {
		struct snapshot *snap;
		struct world w;

		world_init(&w, i);
		snap = snapshot_new(w.s, &spec);
		for (unsigned step = 0; step < 6; step++) {
			double total;

			snapshot_regroup(snap, draw(&w, GROUP_N));
			add_nodes(&w, 3);
			add_rows(&w, 5);
			snapshot_update(snap, step + 1);
			total = snapshot_column(snap, METRIC_TIME, true)->v[0];
			ck_assert_int_eq(snapshot_regroup(snap, snapshot_group(snap)), 0);
			if (!isnan(total))
				ck_assert_double_eq(snapshot_column(snap, METRIC_TIME, true)->v[0],
						    total);
			for (enum group g = GROUP_NONE; g < GROUP_N; g++) {
				snapshot_regroup(snap, g);
				check_as_new(snap, w.s);
			}
		}
		snapshot_free(snap);
		session_free(w.s);
	}
}
END_TEST

/* A mask is of one grouping: the next begins without. */
START_TEST(a_mask_does_not_outlive_its_grouping)
{
	static const struct snapshot_spec spec = {.group = GROUP_PROCESS};
	uint8_t mask[N_NODES * 4] = {1};

	for (unsigned i = 0; i < N_WORLDS; i++) {
		struct snapshot *snap;
		struct world w;

		world_init(&w, i);
		snap = snapshot_new(w.s, &spec);
		ck_assert_uint_lt(snapshot_n(snap), sizeof(mask));
		snapshot_mask(snap, mask);
		ck_assert_int_eq(snapshot_regroup(snap, GROUP_DEVICE), 0);
		check_as_new(snap, w.s);
		snapshot_free(snap);
		session_free(w.s);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("grouping");
	TCase *tc = tcase_create("grouping");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_grouping_is_the_same_whatever_came_before, 0, 4);
	tcase_add_test(tc, what_comes_after_a_grouping_finds_its_group);
	tcase_add_test(tc, a_mask_does_not_outlive_its_grouping);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
