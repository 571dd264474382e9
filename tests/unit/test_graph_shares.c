/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "check_main.h"
#include "core/graph_shares.h"

enum { PARTS_MAX = 40, LANES = 3, N_RANDOM = 300 };

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (seed >> 33) % n;
}

/* ---- worlds ---- */

static void add(struct session *s, uint32_t node, uint32_t lane, uint32_t metric, uint64_t v)
{
	ck_assert_int_eq(session_add(s, node, lane, 0, metric, (union metric_value){.u64 = v}), 0);
}

/* Where a graph was captured that is launched in a scope. */
static uint32_t captured(struct session *s, const char *scope, const char *model)
{
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_SCOPE, scope);

	node = session_node(s, node, FRAME_GRAPH, "<captured_at>");
	return session_node(s, node, FRAME_SCOPE, model);
}

static uint32_t lane(struct session *s, uint32_t stream)
{
	const struct session_lane l = {SESSION_NONE, SESSION_NONE, 0, stream, 0};

	return session_lane_intern(s, &l);
}

static uint32_t nowhere(struct session *s)
{
	return session_lane_intern(s, &session_nowhere);
}

static void add_kernel(struct session *s, uint32_t at, const char *layer, const char *name,
		       uint64_t ns, uint64_t n)
{
	uint32_t node = layer ? session_node(s, at, FRAME_SCOPE, layer) : at;

	node = session_node(s, node, FRAME_KERNEL, name);
	add(s, node, nowhere(s), METRIC_TIME, ns);
	add(s, node, nowhere(s), METRIC_COUNT, n);
}

/* A row as the wire makes it: all that a launch has. */
static uint32_t whole_row(struct session *s, uint32_t node, uint32_t stream)
{
	return session_row_intern(s, node, lane(s, stream), 0, SET_KERNEL);
}

static void set_row(struct session *s, uint32_t row, uint64_t ns, uint64_t n)
{
	const uint64_t v[] = {ns, n, ns / MAX(n, UINT64_C(1)), ns};

	for (uint32_t i = 0; i < ARRAY_SIZE(v); i++)
		session_row_set(s, row, i, (union metric_value){.u64 = v[i]});
}

static uint32_t find(const struct session *s, uint32_t node, const char *name)
{
	uint32_t child = s->nodes[node].first_child;

	while (child != SESSION_NONE && strcmp(session_node_name(s, child), name) != 0)
		child = s->nodes[child].next_sibling;
	return child;
}

static uint64_t value(const struct session *s, uint32_t node, uint32_t metric)
{
	union metric_value v;

	return session_value(s, node, metric, &v) ? v.u64 : 0;
}

static uint64_t sum_on(const struct session *s, uint32_t metric, uint32_t stream)
{
	double sum = 0, v;

	for (size_t i = 0; i < s->n_rows; i++) {
		v = session_row_number(s, &s->rows[i], metric);
		if (session_lane_at(s, s->rows[i].lane)->stream == stream && !isnan(v))
			sum += v;
	}
	return (uint64_t)sum;
}

static bool has_note(const struct session *s, const char *words)
{
	for (size_t i = 0; i < s->n_notes; i++)
		if (strstr(session_text(s, s->notes[i].text), words))
			return true;
	return false;
}

static struct graph_shares *shares_of(struct session *s)
{
	struct graph_shares *g = NULL;

	ck_assert_int_eq(graph_shares_new(s, "nodes", &g), 0);
	return g;
}

/* ---- any graph, to the nanosecond ---- */

struct world {
	struct session *by_nodes, *s;
	unsigned n;
	uint64_t ns[PARTS_MAX], times[PARTS_MAX], all_ns;
	uint32_t graph, row[LANES];
	uint64_t given[PARTS_MAX];
};

static void make_world(struct world *w)
{
	uint64_t launches = 1 + random_below(50), n_kernels = 0;
	uint32_t at;
	char name[64];

	*w = (struct world){.by_nodes = session_new(), .s = session_new()};
	w->n = 1 + (unsigned)random_below(PARTS_MAX);
	at = captured(w->by_nodes, "replay", "model");
	for (unsigned i = 0; i < w->n; i++) {
		w->times[i] = 1 + random_below(3);
		w->ns[i] = 1 + random_below(i % 3 ? 1000 : UINT64_C(1) << 31);
		w->all_ns += w->ns[i];
		n_kernels += w->times[i];
		snprintf(name, sizeof(name), "kernel %u", i);
		add_kernel(w->by_nodes, at, i % 2 ? "layer" : NULL, name, w->ns[i],
			   w->times[i] * launches);
	}
	if (random_below(2))
		add(w->by_nodes, at, nowhere(w->by_nodes), METRIC_GRAPH_LAUNCHES, launches);
	snprintf(name, sizeof(name), "<graph: %u kernel%s>", (unsigned)n_kernels,
		 n_kernels == 1 ? "" : "s");
	w->graph = session_node(w->s, captured(w->s, "replay", "model"), FRAME_GRAPH_RUN, name);
	for (uint32_t i = 0; i < LANES; i++)
		w->row[i] = whole_row(w->s, w->graph, i);
}

static uint32_t part_node(const struct world *w, unsigned i)
{
	uint32_t node = find(w->s, w->graph, ESTIMATED_FRAME);
	char name[64];

	if (i % 2)
		node = find(w->s, node, "layer");
	snprintf(name, sizeof(name), "kernel %u", i);
	return find(w->s, node, name);
}

static void check_parts(struct world *w, const uint64_t *ns, const uint64_t *launches)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < LANES; i++) {
		ck_assert_uint_eq(sum_on(w->s, METRIC_TIME, i), ns[i]);
		ck_assert_uint_eq(sum_on(w->s, METRIC_ESTIMATED, i), ns[i]);
		ck_assert_uint_eq(sum_on(w->s, METRIC_COUNT, i), launches[i]);
		n += launches[i];
	}
	ck_assert(!session_has_values(w->s, METRIC_GRAPH_LAUNCHES));
	ck_assert_uint_eq(value(w->s, w->graph, METRIC_TIME), 0);
	for (unsigned i = 0; i < w->n; i++) {
		uint32_t node = part_node(w, i);
		double ideal = 0;

		ck_assert_uint_ne(node, SESSION_NONE);
		ck_assert(graph_shares_is_estimated(w->s, node));
		for (uint32_t k = 0; k < LANES; k++)
			ideal += (double)ns[k] * (double)w->ns[i] / (double)w->all_ns;
		ck_assert_double_le(fabs((double)value(w->s, node, METRIC_TIME) - ideal),
				    LANES + ideal * 1e-12);
		ck_assert_uint_eq(value(w->s, node, METRIC_TIME),
				  value(w->s, node, METRIC_ESTIMATED));
		ck_assert_uint_eq(value(w->s, node, METRIC_ESTIMATED_RUNS), w->times[i] * n);
		/* It only grows, but for what was rounded. */
		ck_assert_uint_ge(value(w->s, node, METRIC_TIME) + LANES, w->given[i]);
		w->given[i] = value(w->s, node, METRIC_TIME);
	}
}

START_TEST(sums_stay)
{
	seed = (uint64_t)_i + 1;
	for (unsigned round = 0; round < N_RANDOM; round++) {
		uint64_t ns[LANES] = {0}, launches[LANES] = {0};
		struct world w;
		struct graph_shares *g;

		make_world(&w);
		g = shares_of(w.by_nodes);
		/* As it grows while the program runs; some rows do not change in between. */
		for (unsigned step = 0; step < 4; step++) {
			for (uint32_t i = 0; i < LANES; i++) {
				if (step && random_below(2))
					continue;
				ns[i] += 1 + random_below(UINT64_C(1) << (8 * step + 1));
				launches[i] += 1 + random_below(100);
				set_row(w.s, w.row[i], ns[i], launches[i]);
			}
			ck_assert_int_eq(graph_shares_apply(g, w.s), 0);
			check_parts(&w, ns, launches);
			ck_assert_int_eq(graph_shares_apply(g, w.s), 0); /* nothing new */
			check_parts(&w, ns, launches);
		}
		graph_shares_free(g);
		session_free(w.s);
	}
}
END_TEST

START_TEST(the_largest_times_fit)
{
	struct session *nodes = session_new(), *s = session_new();
	uint32_t at = captured(nodes, "replay", "model"), graph, row;
	struct graph_shares *g;

	add_kernel(nodes, at, NULL, "a", UINT64_C(1) << 52, 1);
	add_kernel(nodes, at, NULL, "b", (UINT64_C(1) << 52) - 1, 1);
	g = shares_of(nodes);
	graph = session_node(s, captured(s, "replay", "model"), FRAME_GRAPH_RUN,
			     "<graph: 2 kernels>");
	row = whole_row(s, graph, 0);
	set_row(s, row, UINT64_MAX, 1);
	ck_assert_int_eq(graph_shares_apply(g, s), 0);
	at = find(s, graph, ESTIMATED_FRAME);
	ck_assert_uint_eq(value(s, find(s, at, "a"), METRIC_TIME) +
				  value(s, find(s, at, "b"), METRIC_TIME),
			  UINT64_MAX);
	graph_shares_free(g);
	session_free(s);
}
END_TEST

/* ---- which graphs are joined ---- */

struct one_case {
	const char *scope, *model, *name; /* of the graph; scope "": it was not captured */
	bool is_joined;
	const char *note; /* that there is */
};

/* By nodes: "replay" launched "model" 10 times, which holds a copy and two kernels, one of which runs twice;
 * "mixed" 4 times with two kernels, either of which is of one of two graphs; "lost" 1000 times, of which two
 * records are missing; "old" has no number of launches. */
static struct session *make_nodes(void)
{
	struct session *s = session_new();
	uint32_t at = captured(s, "replay", "model"), copy;

	add(s, at, nowhere(s), METRIC_GRAPH_LAUNCHES, 10);
	add_kernel(s, at, "layer", "gemm", 3000, 20);
	add_kernel(s, at, NULL, "relu", 1000, 10);
	copy = session_node(s, at, FRAME_COPY, "memcpy HtoD");
	add(s, copy, nowhere(s), METRIC_TIME, 500);
	add(s, copy, nowhere(s), METRIC_COUNT, 10);
	at = captured(s, "replay", "mixed");
	add(s, at, nowhere(s), METRIC_GRAPH_LAUNCHES, 4);
	add_kernel(s, at, NULL, "a", 100, 2);
	add_kernel(s, at, NULL, "b", 100, 2);
	at = captured(s, "replay", "lost");
	add(s, at, nowhere(s), METRIC_GRAPH_LAUNCHES, 1000);
	add_kernel(s, at, NULL, "a", 100, 1000);
	add_kernel(s, at, NULL, "b", 100, 998);
	at = captured(s, "replay", "old");
	add_kernel(s, at, NULL, "a", 100, 12);
	add_kernel(s, at, NULL, "b", 300, 24);
	at = captured(s, "replay", "scopes alone");
	return s;
}

static const struct one_case cases[] = {
	{"replay", "model", "<graph: 3 kernels, 1 copy>", true, "below <estimated>"},
	{"replay", "model", "<graph 2: 3 kernels, 1 copy>", true, "below <estimated>"},
	{"replay", "model", "<graph: 3 kernels, 1 copy, 2 others>", true, "below <estimated>"},
	{"elsewhere", "model", "<graph: 3 kernels, 1 copy>", true, "below <estimated>"},
	{"replay", "model", "<graph: 3 kernels>", false,
	 "hold other nodes in 'nodes': 3 kernels, 1 copy"},
	{"replay", "model", "<graph: 6 kernels, 2 copies>", false,
	 "other nodes in 'nodes': 3 kernels, 1"},
	{"replay", "model", "<graph: 4 kernels>", false, "hold other nodes"},
	{"replay", "another", "<graph: 3 kernels, 1 copy>", false, "has no nodes of a graph"},
	{"replay", "scopes alone", "<graph: 1 kernel>", false, "has no nodes of a graph"},
	{"replay", "mixed", "<graph: 1 kernel>", false, "does not tell several graphs apart"},
	{"replay", "lost", "<graph: 2 kernels>", true, "below <estimated>"},
	{"replay", "old", "<graph: 3 kernels>", true, "below <estimated>"},
	{"replay", "old", "<graph: 2 kernels>", false, "hold other nodes in 'nodes'"},
	{"", "", "<graph>", false, "<graph> in 'ROOT' stays whole"},
	{"replay", "model", "<graph: many kernels>", false, "stays whole"},
	{"replay", "model", "<graph: >", false, "stays whole"},
	{"replay", "model", "<graph: 18446744073709551617 kernels>", false, "stays whole"},
};

START_TEST(graphs_are_matched)
{
	const struct one_case *c = &cases[_i];
	struct session *s = session_new();
	struct graph_shares *g = shares_of(make_nodes());
	uint32_t above = *c->scope ? captured(s, c->scope, c->model) : SESSION_ROOT;
	uint32_t graph = session_node(s, above, FRAME_GRAPH_RUN, c->name);

	set_row(s, whole_row(s, graph, 0), 10007, 7);
	ck_assert_int_eq(graph_shares_settle(g, s), 0);
	ck_assert_int_eq(find(s, graph, ESTIMATED_FRAME) != SESSION_NONE, c->is_joined);
	ck_assert_uint_eq(value(s, graph, METRIC_TIME), c->is_joined ? 0 : 10007);
	ck_assert_uint_eq(value(s, graph, METRIC_COUNT), 7);
	ck_assert_uint_eq(sum_on(s, METRIC_TIME, 0), 10007);
	ck_assert_msg(has_note(s, c->note), "%s", c->note);
	graph_shares_free(g);
	session_free(s);
}
END_TEST

/* ---- forms ---- */

/* By nodes: two forms of two kernels each, 4 and 6 launches; form 0: not told. */
static struct session *make_forms(uint64_t first, uint64_t second)
{
	struct session *s = session_new();
	uint32_t at = captured(s, "replay", "model"), frame, layer;

	add(s, at, nowhere(s), METRIC_GRAPH_LAUNCHES, 4);
	add(s, at, nowhere(s), METRIC_GRAPH_FORM, first);
	add_kernel(s, at, NULL, "a", 400, 4);
	add_kernel(s, at, "layer", "b", 1200, 4);
	frame = session_node(s, at, FRAME_GRAPH, "<form 2>");
	add(s, frame, nowhere(s), METRIC_GRAPH_LAUNCHES, 6);
	add(s, frame, nowhere(s), METRIC_GRAPH_FORM, second);
	add_kernel(s, frame, NULL, "c", 600, 6);
	layer = session_node(s, at, FRAME_SCOPE, "layer");
	add_kernel(s, session_node(s, layer, FRAME_GRAPH, "<form 2>"), NULL, "d", 600, 6);
	return s;
}

static uint32_t whole_graph(struct session *s, const char *name)
{
	return session_node(s, captured(s, "replay", "model"), FRAME_GRAPH_RUN, name);
}

/* All of a graph that took 1000 ns in 2 launches; form UINT64_MAX: it is not told. */
static struct session *make_whole(const char *name, uint64_t form)
{
	struct session *s = session_new();
	uint32_t graph = whole_graph(s, name);

	set_row(s, whole_row(s, graph, 0), 1000, 2);
	if (form != UINT64_MAX)
		add(s, graph, lane(s, 0), METRIC_GRAPH_FORM, form);
	return s;
}

struct form_case {
	uint64_t first, second, form;
	const char *name;
	const char *kernel, *in_layer; /* that it is divided among, 1 : x; NULL: it stays whole */
	uint64_t ns;                   /* of the first one */
	const char *note;
};

static const struct form_case form_cases[] = {
	{11, 22, 11, "<graph: 2 kernels>", "a", "b", 250, "divides 1 of 1 rows"},
	{11, 22, 22, "<graph: 2 kernels>", "c", "d", 500, "100.0 % of what they took"},
	{11, 22, 33, "<graph: 2 kernels>", NULL, NULL, 0, "run other kernels, or with other grids"},
	{11, 22, 0, "<graph changed: 2 kernels>", NULL, NULL, 0, "run other kernels"},
	{11, 0, 0, "<graph changed: 2 kernels>", "c", "d", 500, "divides 1 of 1"},
	{11, 0, 22, "<graph: 2 kernels>", NULL, NULL, 0, "run other kernels"},
	{0, 0, 0, "<graph: 2 kernels>", NULL, NULL, 0, "does not tell several graphs apart"},
	{11, 22, 22, "<graph: 3 kernels>", NULL, NULL, 0, "hold other nodes in 'nodes': 2 kernels"},
	/* A profile of before there were forms. */
	{11, 22, UINT64_MAX, "<graph: 2 kernels>", NULL, NULL, 0, "does not tell several"},
	{11, 22, UINT64_MAX, "<graph: 5 kernels>", NULL, NULL, 0, "hold other nodes"},
};

START_TEST(forms_tell_graphs_apart)
{
	const struct form_case *c = &form_cases[_i];
	struct session *s = make_whole(c->name, c->form);
	struct graph_shares *g = shares_of(make_forms(c->first, c->second));
	uint32_t graph = whole_graph(s, c->name), top, below;

	ck_assert_int_eq(graph_shares_settle(g, s), 0);
	top = find(s, graph, ESTIMATED_FRAME);
	ck_assert_int_eq(top != SESSION_NONE, c->kernel != NULL);
	if (c->kernel) {
		below = find(s, find(s, top, "layer"), c->in_layer);
		ck_assert_uint_ne(below, SESSION_NONE);
		ck_assert_uint_eq(value(s, find(s, top, c->kernel), METRIC_TIME), c->ns);
		ck_assert_uint_eq(value(s, below, METRIC_TIME), 1000 - c->ns);
		ck_assert_uint_eq(find(s, top, "<form 2>"), SESSION_NONE);
	}
	ck_assert_uint_eq(value(s, graph, METRIC_TIME), c->kernel ? 0 : 1000);
	ck_assert_msg(has_note(s, c->note), "%s", c->note);
	graph_shares_free(g);
	session_free(s);
}
END_TEST

/* A form may come after the time that it is of. */
START_TEST(forms_are_waited_for)
{
	struct session *s = make_whole("<graph: 2 kernels>", UINT64_MAX);
	struct graph_shares *g = shares_of(make_forms(11, 22));
	uint32_t graph = whole_graph(s, "<graph: 2 kernels>");

	ck_assert_int_eq(graph_shares_apply(g, s), 0);
	ck_assert_uint_eq(value(s, graph, METRIC_TIME), 1000);
	ck_assert_uint_eq(s->n_notes, 0);
	add(s, graph, lane(s, 0), METRIC_GRAPH_FORM, 22);
	ck_assert_int_eq(graph_shares_apply(g, s), 0);
	ck_assert_uint_eq(value(s, find(s, find(s, graph, ESTIMATED_FRAME), "c"), METRIC_TIME),
			  500);
	graph_shares_free(g);
	session_free(s);
}
END_TEST

/* Another process has another graph of the same name there: what was divided is whole again. */
START_TEST(forms_of_several_processes_are_not_mixed)
{
	struct session *s = make_whole("<graph: 2 kernels>", 22);
	struct graph_shares *g = shares_of(make_forms(11, 22));
	uint32_t graph = whole_graph(s, "<graph: 2 kernels>"), row;

	ck_assert_int_eq(graph_shares_apply(g, s), 0);
	ck_assert_uint_eq(value(s, graph, METRIC_TIME), 0);
	row = whole_row(s, graph, 1);
	set_row(s, row, 70, 1);
	add(s, graph, lane(s, 1), METRIC_GRAPH_FORM, 11);
	ck_assert_int_eq(graph_shares_settle(g, s), 0);
	ck_assert_uint_eq(sum_on(s, METRIC_TIME, 0), 1000);
	ck_assert_uint_eq(sum_on(s, METRIC_TIME, 1), 70);
	ck_assert_uint_eq(value(s, graph, METRIC_TIME), 1070);
	ck_assert_uint_eq(sum_on(s, METRIC_ESTIMATED, 0), 0);
	ck_assert(has_note(s, "does not tell several graphs apart"));
	graph_shares_free(g);
	session_free(s);
}
END_TEST

START_TEST(other_files_are_refused)
{
	struct session *s = session_new();
	struct graph_shares *g = NULL;
	uint32_t at = captured(s, "replay", "model");

	ck_assert_int_eq(graph_shares_new(s, "empty", &g), -ENODATA);
	set_row(s, whole_row(s, session_node(s, at, FRAME_GRAPH_RUN, "<graph: 1 kernel>"), 0), 1,
		1);
	ck_assert_int_eq(graph_shares_new(s, "whole", &g), -ENODATA);
	add_kernel(s, SESSION_ROOT, "scope", "gemm", 100, 1);
	ck_assert_int_eq(graph_shares_new(s, "no graph", &g), -ENODATA);
	/* What is estimated is no measurement of shares. */
	add_kernel(s, session_node(s, at, FRAME_GRAPH, ESTIMATED_FRAME), NULL, "gemm", 100, 1);
	ck_assert_int_eq(graph_shares_new(s, "joined", &g), -ENODATA);
	ck_assert_ptr_null(g);
	session_free(s);
}
END_TEST

START_TEST(nothing_to_join_is_told)
{
	struct session *s = session_new();
	struct graph_shares *g = shares_of(make_nodes());

	add_kernel(s, SESSION_ROOT, "scope", "gemm", 100, 1);
	ck_assert_int_eq(graph_shares_settle(g, s), 0);
	ck_assert(has_note(s, "no CUDA graph was recorded whole"));
	graph_shares_free(g);
	session_free(s);
}
END_TEST

START_TEST(notes_are_few)
{
	struct session *s = session_new();
	struct graph_shares *g = shares_of(make_nodes());
	char name[64];

	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "<graph: %u kernels>", 100 + i);
		set_row(s,
			whole_row(s,
				  session_node(s, captured(s, "replay", "model"), FRAME_GRAPH_RUN,
					       name),
				  0),
			10, 1);
	}
	ck_assert_int_eq(graph_shares_settle(g, s), 0);
	ck_assert_uint_eq(s->n_notes, 10); /* the last one says how much of all is divided */
	ck_assert(has_note(s, "more CUDA graphs stay whole"));
	graph_shares_free(g);
	session_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("graph_shares");
	TCase *tc = tcase_create("graph_shares");

	tcase_add_loop_test(tc, sums_stay, 0, 3);
	tcase_add_test(tc, the_largest_times_fit);
	tcase_add_loop_test(tc, graphs_are_matched, 0, (int)ARRAY_SIZE(cases));
	tcase_add_loop_test(tc, forms_tell_graphs_apart, 0, (int)ARRAY_SIZE(form_cases));
	tcase_add_test(tc, forms_are_waited_for);
	tcase_add_test(tc, forms_of_several_processes_are_not_mixed);
	tcase_add_test(tc, other_files_are_refused);
	tcase_add_test(tc, nothing_to_join_is_told);
	tcase_add_test(tc, notes_are_few);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
