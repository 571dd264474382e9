/* SPDX-License-Identifier: MIT */
/* The rows of a tree are those of a plain walk through it, whatever is open, hidden and sorted, and
 * each key's work on them leaves them so. */
#include "config.h" // IWYU pragma: keep
#include "test_tui_session.h"
#include <math.h>
#include <stdio.h>
#include "base/util.h"
#include "tui/tree.h"

#define N_NODES 4000

struct forest {
	struct session *s;
	struct snapshot *snap;
	struct tree tree;
	double values[N_NODES];
	uint8_t limit[N_NODES];
	uint64_t seed;
	struct tree_row expected[N_NODES];
	size_t n_expected;
};

static uint32_t draw(struct forest *f, uint32_t below)
{
	f->seed = f->seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(f->seed >> 33) % below;
}

static double value(void *ctx, uint32_t id)
{
	return ((struct forest *)ctx)->values[id];
}

/* One node has a thousand children, so that lists are kept; the others few. */
static void forest_init(struct forest *f, uint64_t seed)
{
	static const struct snapshot_spec spec;
	char name[32];

	memset(f, 0, sizeof(*f));
	f->seed = seed;
	f->s = session_new();
	for (uint32_t i = 1; i < N_NODES; i++) {
		uint32_t parent = i > 500 && draw(f, 3) == 0 ? 7 : draw(f, i);

		snprintf(name, sizeof(name), "f%u", i);
		session_node(f->s, parent, FRAME_FUNCTION, name);
	}
	f->s->ended = true;
	f->snap = snapshot_new(f->s, &spec);
	for (uint32_t i = 0; i < N_NODES; i++) {
		f->values[i] = draw(f, 10) == 0 ? NAN : (double)draw(f, 500) - 100;
		f->limit[i] = 1;
	}
	tree_init(&f->tree, f->snap);
	f->tree.value = f->tree.weight = value;
	f->tree.ctx = f;
	f->tree.limit = f->limit;
	f->tree.n_limit = N_NODES;
	ck_assert_int_eq(tree_prepare(&f->tree, ""), 0);
	ck_assert_int_eq(tree_build(&f->tree), 0);
}

static void forest_done(struct forest *f)
{
	tree_done(&f->tree);
	snapshot_free(f->snap);
	session_free(f->s);
}

/* ---- the plain walk ---- */

static bool comes_before(const struct forest *f, uint32_t a, uint32_t b)
{
	double x = f->values[a], y = f->values[b];

	if (isnan(x) || isnan(y))
		return isnan(x) && isnan(y) ? a < b : isnan(y);
	if (x != y)
		return f->tree.ascending ? x < y : x > y;
	return a < b;
}

static void expect(struct forest *f, uint32_t id, uint32_t depth)
{
	uint32_t children[N_NODES], n = 0;

	f->expected[f->n_expected++] = (struct tree_row){id, depth};
	if (!tree_is_open(&f->tree, id))
		return;
	for (uint32_t c = snapshot_node(f->snap, id)->first_child; c != SNAP_NONE;
	     c = snapshot_node(f->snap, c)->next_sibling) {
		uint32_t i = n;

		if (!tree_is_shown(&f->tree, c))
			continue;
		for (; i > 0 && comes_before(f, c, children[i - 1]); i--)
			children[i] = children[i - 1];
		children[i] = c;
		n++;
	}
	for (uint32_t i = 0; i < n; i++)
		expect(f, children[i], depth + 1);
}

static void compare_row(struct forest *f, size_t i)
{
	struct tree_row row = tree_row(&f->tree, i);

	ck_assert_uint_eq(row.id, f->expected[i].id);
	ck_assert_uint_eq(row.depth, f->expected[i].depth);
	ck_assert_uint_eq(tree_find_row(&f->tree, row.id), i);
}

/* From the first to the last, then here and there. */
static void compare(struct forest *f)
{
	f->n_expected = 0;
	expect(f, f->tree.root, 0);
	ck_assert_uint_eq(f->tree.n_rows, f->n_expected);
	for (size_t i = 0; i < f->n_expected; i++)
		compare_row(f, i);
	for (unsigned i = 0; i < 20; i++)
		compare_row(f, draw(f, (uint32_t)f->n_expected));
}

/* ---- what keys do ---- */

static void hide_some(struct forest *f)
{
	for (uint32_t i = 1; i < N_NODES; i++) {
		uint32_t parent = snapshot_node(f->snap, i)->parent;

		f->limit[i] = f->limit[parent] && (draw(f, 8) != 0 || i == 7);
	}
}

static void step(struct forest *f)
{
	struct tree *t = &f->tree;
	uint32_t id = draw(f, N_NODES);

	switch (draw(f, 9)) {
	case 0:
		tree_set_below(t, id, draw(f, 3) != 0);
		tree_count(t);
		break;
	case 1:
		t->ascending = !t->ascending;
		tree_reorder(t);
		break;
	case 2:
		hide_some(f);
		tree_build(t);
		break;
	case 3:
		tree_zoom(t, snapshot_node(f->snap, id)->first_child == SNAP_NONE ? 7 : id);
		tree_reorder(t);
		break;
	case 4:
		tree_zoom_out(t);
		tree_reorder(t);
		break;
	case 5:
		if (tree_is_shown(t, id))
			tree_reveal(t, id);
		break;
	default:
		id = tree_row(t, draw(f, (uint32_t)t->n_rows)).id;
		tree_set_open(t, id, !tree_is_open(t, id));
		break;
	}
}

START_TEST(rows_of_a_walk)
{
	static struct forest f;

	forest_init(&f, (uint64_t)_i + 1);
	compare(&f);
	for (unsigned i = 0; i < 60; i++) {
		step(&f);
		compare(&f);
	}
	forest_done(&f);
}
END_TEST

START_TEST(row_of_nothing)
{
	static struct forest f;

	forest_init(&f, 99);
	ck_assert_uint_eq(tree_find_row(&f.tree, N_NODES), SIZE_MAX);
	ck_assert_uint_eq(tree_find_row(&f.tree, SNAP_NONE), SIZE_MAX);
	ck_assert_uint_eq(tree_row(&f.tree, f.tree.n_rows).id,
			  0); /* the root stands for what is not */
	forest_done(&f);
}
END_TEST

Suite *suite_tree(void)
{
	Suite *s = suite_create("tree");
	TCase *c = tcase_create("rows");

	tcase_add_loop_test(c, rows_of_a_walk, 0, 6);
	tcase_add_test(c, row_of_nothing);
	suite_add_tcase(s, c);
	return s;
}
