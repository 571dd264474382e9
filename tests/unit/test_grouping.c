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
#include "check_main.h"
#include "core/in_view.h"
#include "core/snapshot.h"

enum { N_NODES = 60, N_ROWS = 90, N_STEPS = 40, N_WORLDS = 200 };

/* A random world; seeds make it the same each time. Few lanes, so that groupings often part alike. */
struct world {
	unsigned seed;
	struct session *s;
	uint32_t lanes[4], n_lanes;
	bool mixed; /* contexts of several kinds */
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
		if (!w->mixed && draw(w, 12) == 0)
			w->lanes[i] = SESSION_NONE;
	}
}

static void add_nodes(struct world *w, unsigned n)
{
	static const char *const names[] = {"a", "b", "c", "d", "__proton_launch_metadata"};
	static const enum frame_kind kinds[] = {FRAME_SCOPE, FRAME_PYTHON, FRAME_PYTHON,
						FRAME_MODULE, FRAME_OPERATOR};

	while (n--)
		session_node(w->s, draw(w, (unsigned)w->s->n_nodes),
			     w->mixed ? kinds[draw(w, ARRAY_SIZE(kinds))] : FRAME_SCOPE,
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
	const struct snapshot_spec spec = {.group = snapshot_group(snap),
					   .contexts = snapshot_contexts(snap)};
	struct snapshot *new = snapshot_new(s, &spec);
	_cleanup_(freep) char *have = picture(snap);
	_cleanup_(freep) char *want = picture(new);

	ck_assert_msg(strcmp(have, want) == 0, "%.3000s\n--- is not\n%.3000s", have, want);
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

/* Rows as a file has them that was written from the top: mostly each node has one, in the order of nodes. */
static void world_in_order(struct world *w, unsigned seed)
{
	*w = (struct world){.seed = seed * 7919u + 1, .s = session_new()};
	make_lanes(w);
	w->n_lanes = 1 + draw(w, 2);
	for (unsigned i = 0; i < N_NODES; i++) {
		uint32_t node = session_node(w->s, draw(w, 2) ? i : draw(w, i + 1), FRAME_SCOPE,
					     i % 7 ? "a" : "__proton_launch_metadata"),
			 lane = w->lanes[draw(w, w->n_lanes)];

		if (i + 1 < N_NODES && draw(w, 20) == 0)
			continue;
		session_add(w->s, node, lane, 0, METRIC_TIME,
			    (union metric_value){.u64 = draw(w, 1000)});
		session_add(w->s, node, lane, 0, draw(w, 2) ? METRIC_TIME_MAX : METRIC_CPU_TIME,
			    (union metric_value){.u64 = draw(w, 1000)});
	}
	w->s->ended = true;
}

/* Where all is of one group, its tree is the other one with a node more: there, back, and with masks. */
START_TEST(one_group_is_a_node_below_the_root)
{
	static const struct snapshot_spec spec;

	for (unsigned i = 0; i < N_WORLDS; i++) {
		struct snapshot *snap;
		struct world w;

		world_in_order(&w, (unsigned)_i * N_WORLDS + i);
		snap = snapshot_new(w.s, &spec);
		for (unsigned step = 0; step < N_STEPS; step++) {
			uint8_t mask[N_NODES * 4] = {1, 1, draw(&w, 2)};

			snapshot_regroup(snap, draw(&w, 3) ? draw(&w, GROUP_N) : GROUP_NONE);
			if (draw(&w, 3) == 0)
				snapshot_update(snap, step + 1);
			if (draw(&w, 3) == 0)
				snapshot_reset(snap, true);
			check_as_new(snap, w.s);
			if (draw(&w, 6) == 0) {
				snapshot_mask(snap, mask);
				snapshot_column(snap, METRIC_TIME, true);
				snapshot_regroup(snap, draw(&w, GROUP_N));
				snapshot_mask(snap, NULL);
				check_as_new(snap, w.s);
			}
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
		for (unsigned step = 0; step < 8; step++) { /* views that are kept do not keep it */
			snapshot_mask(snap, mask);
			ck_assert_int_eq(
				snapshot_regroup(snap, step % 2 ? GROUP_DEVICE : GROUP_NONE), 0);
			check_as_new(snap, w.s);
		}
		snapshot_free(snap);
		session_free(w.s);
	}
}
END_TEST

static char *totals(struct snapshot *snap)
{
	static const uint32_t shown[] = {METRIC_TIME, METRIC_COUNT, METRIC_TIME_MAX, METRIC_FLOPS};
	struct buf out;
	char *text;

	buf_init(&out, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(shown); i++)
		buf_printf(&out, " %g", snapshot_column(snap, shown[i], true)->v[0]);
	text = strdup(buf_str(&out));
	buf_done(&out);
	return text;
}

/* Views that are kept count from where all others do. */
START_TEST(a_reset_holds_for_every_grouping)
{
	static const struct snapshot_spec spec;

	for (unsigned i = 0; i < N_WORLDS; i++) {
		struct snapshot *snap, *alone; /* nobody groups this one */
		struct world w;

		world_init(&w, i);
		snap = snapshot_new(w.s, &spec);
		alone = snapshot_new(w.s, &spec);
		for (unsigned step = 0; step < N_STEPS; step++) {
			_cleanup_(freep) char *have = NULL, *want = NULL;

			snapshot_regroup(snap, draw(&w, GROUP_N));
			if (step % 4 == 3) {
				snapshot_reset(snap, step % 8 == 7);
				snapshot_reset(alone, step % 8 == 7);
				add_rows(&w, 5);
				snapshot_update(snap, step + 1);
				snapshot_update(alone, step + 1);
			}
			have = totals(snap);
			want = totals(alone);
			ck_assert_str_eq(have, want);
		}
		snapshot_free(alone);
		snapshot_free(snap);
		session_free(w.s);
	}
}
END_TEST

/* ---- calling contexts that are left out ---- */

static void mixed_world_init(struct world *w, unsigned seed)
{
	*w = (struct world){.seed = seed * 7919u + 1, .s = session_new(), .mixed = true};
	make_lanes(w);
	add_nodes(w, N_NODES);
	add_rows(w, N_ROWS);
}

static int line_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_path(struct snapshot *snap, uint32_t id, struct buf *out)
{
	const struct snap_node *n = snapshot_node(snap, id);

	if (n->parent != SNAP_NONE)
		put_path(snap, n->parent, out);
	buf_printf(out, "/%s:%s", frame_kind_word(n->kind), snapshot_name(snap, id, NAME_RAW));
}

/* All paths that have values, in the order of their names. Others may be left from before a scope's flops
 * went to another device. */
static char *paths(struct snapshot *snap)
{
	static const uint32_t metrics[] = {METRIC_TIME, METRIC_COUNT, METRIC_CPU_TIME,
					   METRIC_TIME_MAX, METRIC_FLOPS};
	uint32_t n = snapshot_n(snap);
	char **lines = calloc(n, sizeof(*lines)), *text;
	struct buf out;

	for (uint32_t id = 0; id < n; id++) {
		bool has_values = false;

		buf_init(&out, 0);
		put_path(snap, id, &out);
		for (unsigned i = 0; i < ARRAY_SIZE(metrics); i++) {
			double v = snapshot_column(snap, metrics[i], true)->v[id];

			has_values |= !isnan(v);
			buf_printf(&out, " %g %g", snapshot_column(snap, metrics[i], false)->v[id],
				   v);
		}
		lines[id] = strdup(has_values ? buf_str(&out) : "");
		buf_done(&out);
	}
	qsort(lines, n, sizeof(*lines), line_order);
	buf_init(&out, 0);
	for (uint32_t i = 0; i < n; i++) {
		if (*lines[i])
			buf_printf(&out, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	text = strdup(buf_str(&out));
	buf_done(&out);
	return text;
}

/* But for the order of siblings, which is that in which they came. */
static void check_paths_as_new(struct snapshot *snap, const struct session *s)
{
	const struct snapshot_spec spec = {.group = snapshot_group(snap),
					   .contexts = snapshot_contexts(snap)};
	struct snapshot *new = snapshot_new(s, &spec);
	_cleanup_(freep) char *have = paths(snap);
	_cleanup_(freep) char *want = paths(new);

	ck_assert_msg(!strcmp(have, want), "%s by %s", context_view_word(spec.contexts),
		      group_word(spec.group));
	snapshot_free(new);
}

/* As the screen shows them, and as a file would that holds what is shown. */
static void check_as_session(struct snapshot *snap, const struct session *s)
{
	const struct snapshot_spec spec = {.group = snapshot_group(snap)};
	_cleanup_(freep) char *have = paths(snap);
	_cleanup_(freep) char *want = NULL;
	struct session *seen = NULL;
	struct snapshot *new;

	ck_assert_int_eq(session_in_view(s, snapshot_contexts(snap), &seen), 0);
	new = snapshot_new(seen, &spec);
	want = paths(new);
	ck_assert_msg(strcmp(have, want) == 0, "%.3000s\n--- is not\n%.3000s", have, want);
	snapshot_free(new);
	session_free(seen);
}

/* No node of a view stands for two paths, and each session node with a row counts for one that stands for
 * the node that the view shows in its place. */
static void check_rows(struct snapshot *snap, const struct session *s)
{
	enum context_view view = snapshot_contexts(snap);

	for (uint32_t row = 0; row < s->n_rows; row++) {
		uint32_t id = snapshot_row_node(snap, row);
		uint32_t node = context_view_node(view, s, s->rows[row].node);

		ck_assert(!context_view_omits(view, snapshot_node(snap, id)->kind));
		if (snapshot_node(snap, id)->session_node != SESSION_NONE) /* a group is none */
			ck_assert(snapshot_stands_for(snap, id, node));
	}
}

START_TEST(what_a_view_leaves_out_counts_above_it)
{
	static const struct snapshot_spec spec;

	for (unsigned i = 0; i < N_WORLDS; i++) {
		struct snapshot *snap;
		struct world w;

		mixed_world_init(&w, (unsigned)_i * N_WORLDS + i);
		snap = snapshot_new(w.s, &spec);
		for (unsigned step = 0; step < 10; step++) {
			snapshot_show_contexts(snap, draw(&w, CONTEXTS_N));
			check_paths_as_new(snap, w.s);
			if (step % 2)
				snapshot_regroup(snap, draw(&w, GROUP_N));
			add_nodes(&w, 3);
			add_rows(&w, 5);
			snapshot_update(snap, step + 1);
			check_rows(snap, w.s);
			if (snapshot_group(snap) == GROUP_NONE)
				check_as_session(snap, w.s);
		}
		snapshot_free(snap);
		session_free(w.s);
	}
}
END_TEST

START_TEST(only_views_that_differ_are_next)
{
	struct session *s = session_new();
	enum context_view view = CONTEXTS_ALL;
	uint32_t step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step"), line;

	ck_assert_int_eq(context_view_next(CONTEXTS_ALL, s), CONTEXTS_ALL);
	line = session_node(s, step, FRAME_PYTHON, "a.py:1@f");
	for (const enum context_view *want =
		     (const enum context_view[]){CONTEXTS_SCOPES, CONTEXTS_LINE, CONTEXTS_ALL, -1};
	     (int)*want >= 0; want++) {
		view = context_view_next(view, s);
		ck_assert_int_eq(view, *want);
	}
	session_node(s, line, FRAME_OPERATOR, "aten::add");
	for (const enum context_view *want =
		     (const enum context_view[]){CONTEXTS_SCOPES, CONTEXTS_TORCH, CONTEXTS_PYTHON,
						 CONTEXTS_LINE, CONTEXTS_ALL, -1};
	     (int)*want >= 0; want++) {
		view = context_view_next(view, s);
		ck_assert_int_eq(view, *want);
	}
	session_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("grouping");
	TCase *tc = tcase_create("grouping");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_grouping_is_the_same_whatever_came_before, 0, 4);
	tcase_add_loop_test(tc, one_group_is_a_node_below_the_root, 0, 4);
	tcase_add_test(tc, what_comes_after_a_grouping_finds_its_group);
	tcase_add_test(tc, a_mask_does_not_outlive_its_grouping);
	tcase_add_loop_test(tc, what_a_view_leaves_out_counts_above_it, 0, 4);
	tcase_add_test(tc, only_views_that_differ_are_next);
	tcase_add_test(tc, a_reset_holds_for_every_grouping);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
