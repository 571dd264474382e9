/* SPDX-License-Identifier: MIT */
/* A screen that replaces another one, as when a comparison begins and ends, keeps its view. */
#include "config.h" // IWYU pragma: keep
#include <stdlib.h>
#include <string.h>
#include "core/pair.h"
#include "test_tui_session.h"
#include "tui/panel_tree.h"
#include "tui/tui_impl.h"

static struct world w;     /* a profile alone */
static struct world c;     /* the same beside an older one */
static struct world again; /* and alone once more */
static struct snapshot *before;
static struct session *older;

static void draw(struct world *world)
{
	ck_assert(!world_shows(world, "what draws it once"));
}

static void open_alone(struct world *world)
{
	static const struct tui_options options = {.command = "view"};

	world_init(world);
	world->status = (struct tui_status){.run = TUI_RUN_FILE, .target = "run.hatchet"};
	world_open(world, &options);
	draw(world);
}

/* The older one has a scope of its own, first of all, so that no id is what it was. */
static void open_compared(void)
{
	static const struct snapshot_spec spec;
	static struct tui_options options = {.command = "view"};
	struct session *sides[PAIR_N];
	struct world old;

	world_init_empty(&old);
	old.lanes[0] = session_lane_intern(old.s, &(struct session_lane){0});
	old.step = world_node(&old, SESSION_ROOT, FRAME_NVTX, "train_step");
	world_kernel(&old, world_node(&old, old.step, FRAME_KERNEL, "unfused"), old.lanes[0],
		     &(struct kernel_values){200000000000, 10, 1, 2});
	world_init(&c);
	c.status = w.status;
	ck_assert_int_eq(pair_make(old.s, c.s, sides), 0);
	session_free(old.s);
	session_free(c.s);
	c.s = sides[PAIR_AFTER];
	older = sides[PAIR_BEFORE];
	before = options.before = snapshot_new(older, &spec);
	world_open(&c, &options);
}

static void setup(void)
{
	open_alone(&w);
	open_compared();
	open_alone(&again);
}

static void teardown(void)
{
	world_done(&again);
	world_done(&c);
	snapshot_free(before);
	session_free(older);
	world_done(&w);
}

static const char *here(struct world *world)
{
	struct panel *p = tui_panel(world->t);

	panel_refresh(p);
	ck_assert_uint_lt(p->cursor, p->n_rows);
	return p->ops->row_name(p, p->cursor);
}

static const struct panel *tree_of(struct world *world)
{
	panel_refresh(world->t->panels[TUI_PANEL_TREE]);
	return world->t->panels[TUI_PANEL_TREE];
}

static const char *sorted_by(struct world *world)
{
	const struct panel *p = tree_of(world);

	return p->columns.v[p->sort].title;
}

START_TEST(folds_and_cursor)
{
	world_keys(&w, "E / 'wgrad' Enter u Up"); /* all open, then what is above is folded */
	world_keys(&w, "/ 'graph' Esc / 'captured' Enter - / 'flash_bwd' Enter");
	ck_assert_str_eq(here(&w), "flash_bwd<64,128>");
	tui_take_view(c.t, w.t);
	ck_assert_str_eq(here(&c), "flash_bwd<64,128>");
	ck_assert(world_shows(&c, "STATUS"));
	ck_assert(!world_shows(&c, "multi_tensor_adam"));                /* below what was folded */
	ck_assert_uint_eq(tree_of(&c)->n_rows, tree_of(&w)->n_rows + 1); /* and "unfused" */
	tui_take_view(again.t, c.t);
	ck_assert_str_eq(here(&again), "flash_bwd<64,128>");
	ck_assert_uint_eq(tree_of(&again)->n_rows, tree_of(&w)->n_rows);
}
END_TEST

START_TEST(zoom)
{
	world_keys(&w, "E / 'backward' Enter . End");
	tui_take_view(c.t, w.t);
	ck_assert(world_shows(&c, "zoom: backward"));
	ck_assert_str_eq(here(&c), here(&w));
	world_keys(&c, "BkSp Home");
	ck_assert_str_eq(here(&c), "ROOT");
}
END_TEST

START_TEST(a_row_that_is_gone)
{
	world_keys(&c, "E / 'unfused' Enter .");
	tui_take_view(again.t, c.t);
	ck_assert_str_eq(here(&again), "train_step");
	ck_assert(!world_shows(&again, "zoom"));
}
END_TEST

START_TEST(filters_and_words)
{
	world_keys(&w, "/ 'gemm' Enter \\ 'train' Enter & 'train' Enter m %");
	tui_take_view(c.t, w.t);
	ck_assert_str_eq(c.t->search, "gemm");
	ck_assert(world_shows(&c, "only: train  filter: train"));
	ck_assert(!world_shows(&c, "eval"));
	ck_assert(!filters_any(&w.t->filters)); /* they are the new one's */
	ck_assert_uint_eq(c.t->names, NAME_DEMANGLED);
	ck_assert(c.t->percent_of_parent);
}
END_TEST

/* A comparison has its own order; that of the profile alone is there again when it ends. */
START_TEST(orders)
{
	ck_assert(panel_sort_title(w.t->panels[TUI_PANEL_TREE], "CALLS"));
	ck_assert(panel_sort_title(w.t->panels[TUI_PANEL_BOTTOM_UP], "CALLS"));
	world_keys(&w, "I 2 T I");
	tui_take_view(c.t, w.t);
	ck_assert_str_eq(sorted_by(&c), "\xce\x94");
	ck_assert_uint_eq(c.t->current, TUI_PANEL_KERNELS);
	ck_assert(!c.t->panels[TUI_PANEL_KERNELS]->ascending);
	ck_assert(panel_sort_title(c.t->panels[TUI_PANEL_TREE], "B"));
	tui_take_view(again.t, c.t);
	ck_assert_str_eq(sorted_by(&again), "CALLS");
	ck_assert(tree_of(&again)->ascending);
	ck_assert(again.t->panels[TUI_PANEL_KERNELS]->ascending);
	ck_assert_uint_eq(again.t->panels[TUI_PANEL_BOTTOM_UP]->sort,
			  w.t->panels[TUI_PANEL_BOTTOM_UP]->sort);
	ck_assert(again.t->panels[TUI_PANEL_KERNELS]->ascending);
	ck_assert_str_eq(again.t->orders[1][TUI_PANEL_TREE].title, "B");
}
END_TEST

START_TEST(other_panels)
{
	world_keys(&w, "2 End");
	tui_take_view(c.t, w.t);
	ck_assert_uint_eq(c.t->current, TUI_PANEL_KERNELS);
	ck_assert_str_eq(here(&c), here(&w));
}
END_TEST

/* Groups are no part of a path. */
/* A list at its top stays there: the largest change comes first. */
START_TEST(a_list_at_its_top)
{
	world_keys(&w, "2");
	draw(&w);
	tui_take_view(c.t, w.t);
	draw(&c);
	ck_assert_uint_eq(tui_panel(c.t)->top, 0);
	ck_assert_str_eq(here(&c), "unfused");
}
END_TEST

START_TEST(groups)
{
	world_keys(&w, "G G E / 'captured' Enter - / 'flash_bwd' Enter");
	ck_assert(world_shows(&w, "group: device"));
	tui_take_view(c.t, w.t);
	ck_assert_str_eq(here(&c), "flash_bwd<64,128>");
	ck_assert(!world_shows(&c, "multi_tensor_adam"));
	world_keys(&again, "G G");
	tui_take_view(again.t, c.t);
	ck_assert_str_eq(here(&again), "flash_bwd<64,128>");
	ck_assert(!world_shows(&again, "multi_tensor_adam"));
}
END_TEST

Suite *suite_carry(void)
{
	Suite *s = suite_create("carry");
	TCase *c1 = tcase_create("carry");

	tcase_add_checked_fixture(c1, setup, teardown);
	tcase_add_test(c1, folds_and_cursor);
	tcase_add_test(c1, zoom);
	tcase_add_test(c1, a_row_that_is_gone);
	tcase_add_test(c1, filters_and_words);
	tcase_add_test(c1, orders);
	tcase_add_test(c1, other_panels);
	tcase_add_test(c1, a_list_at_its_top);
	tcase_add_test(c1, groups);
	suite_add_tcase(s, c1);
	return s;
}
