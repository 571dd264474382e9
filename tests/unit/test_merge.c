/* SPDX-License-Identifier: MIT */
/* Tests of core/merge: paths fold, processes stay apart, nothing counts twice. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check_main.h"
#include "core/fold.h"
#include "core/cut.h"
#include "core/merge.h"
#include "core/runs.h"
#include "core/ranks.h"
#include "count_ns.h"

#define ANY_RANK (-1)

/* One run: root / step / name with a time, on a lane of no process. */
static struct session *plain(const char *name, uint64_t time)
{
	static const struct session_lane nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	struct session *s = session_new();
	uint32_t step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
	uint32_t node = session_node(s, step, FRAME_KERNEL, name);
	uint32_t lane = session_lane_intern(s, &nowhere);
	uint32_t row = session_row_intern(s, node, lane, 0, SET_KERNEL);

	session_row_set(s, row, 0, (union metric_value){.u64 = time});
	session_row_set(s, row, 1, (union metric_value){.u64 = 1});
	session_row_set(s, row, 2, (union metric_value){.u64 = time});
	return s;
}

static struct session *of_process(const char *name, uint64_t time, uint64_t instance, int32_t rank)
{
	struct session *s = plain(name, time);

	s->lanes[0].process = session_process_add(s, instance);
	s->processes[0].rank = rank;
	s->processes[0].losses[LOSS_DROPPED] = 2;
	return s;
}

static int merge_one(struct session *into, const struct session *from,
		     const struct merge_options *options)
{
	struct merge *m = merge_new(into);
	int r = merge_add(m, from, options);

	merge_free(m);
	return r;
}

static int take(struct session *into, struct session *from, const char *path)
{
	struct merge_options options;
	char name[64];
	int r;

	merge_guess(path, name, sizeof(name), &options);
	r = merge_one(into, from, &options);
	session_free(from);
	return r;
}

static uint64_t value_of(struct session *s, const char *name, uint32_t metric)
{
	uint32_t step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
	union metric_value v = {.u64 = 0};

	session_value(s, session_node(s, step, FRAME_KERNEL, name), metric, &v);
	return v.u64;
}

/* One run with a value of a metric "loss". */
static struct session *with_metric(enum metric_type type, enum metric_scope scope,
				   union metric_value v)
{
	static const struct session_lane nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	const struct metric m = {"loss",         "",         (uint8_t)type,
				 (uint8_t)scope, METRIC_SUM, METRIC_NONE};
	struct session *s = plain("gemm", 1);
	uint32_t step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
	uint32_t node = session_node(s, step, FRAME_KERNEL, "gemm");
	uint32_t lane = session_lane_intern(s, &nowhere), id = session_metric_add(s, &m);

	if (type == METRIC_TEXT)
		v.text = strtab_adds(s->strings, "abc");
	ck_assert_int_eq(session_add(s, node, lane, 0, id, v), 0);
	return s;
}

#define WHOLE(v)    with_metric(METRIC_U64, METRIC_INCLUSIVE, (union metric_value){.u64 = (v)})
#define FRACTION(v) with_metric(METRIC_F64, METRIC_INCLUSIVE, (union metric_value){.f64 = (v)})
#define TEXT()      with_metric(METRIC_TEXT, METRIC_INCLUSIVE, (union metric_value){.u64 = 0})

/* What a file tells of a metric must not depend on which file came first. */
START_TEST(a_metric_gets_its_fractions)
{
	struct session *s = session_new();
	struct session *inputs[] = {WHOLE(3), FRACTION(0.75), FRACTION(-2.5), WHOLE(1)};
	static const char *const names[] = {"a", "b", "c", "d"};
	uint32_t loss, step, node;
	union metric_value v;

	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(take(s, inputs[_i ? 3 - i : i], names[i]), 0);
	loss = metric_table_find(s->metrics, "loss");
	ck_assert_int_eq(metric_table_get(s->metrics, loss)->type, METRIC_F64);
	step = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
	node = session_node(s, step, FRAME_KERNEL, "gemm");
	ck_assert(session_value(s, node, loss, &v));
	ck_assert_double_eq(v.f64, 2.25);
	ck_assert_uint_eq(s->n_notes, 0);
	session_free(s);
}
END_TEST

static void expect_note(struct session *a, struct session *b, const char *note)
{
	struct session *s = session_new();

	ck_assert_int_eq(take(s, a, "a"), 0);
	ck_assert_int_eq(take(s, b, "b"), 0);
	ck_assert_uint_eq(s->n_notes, 1);
	ck_assert_str_eq(strtab_str(s->strings, s->notes[0].text), note);
	session_free(s);
}

START_TEST(what_files_differ_on_is_said)
{
	static const union metric_value three = {.u64 = 3};

	expect_note(WHOLE(3), TEXT(),
		    "files differ on 'loss': the first has numbers, texts of others are left out");
	expect_note(TEXT(), FRACTION(0.5),
		    "files differ on 'loss': the first has texts, numbers of others are left out");
	expect_note(WHOLE(3), with_metric(METRIC_U64, METRIC_EXCLUSIVE, three),
		    "files differ on 'loss': the first says inclusive, which counts");
}
END_TEST

START_TEST(names_tell_rank_and_phase)
{
	static const struct {
		const char *path, *name;
		int rank;
		int64_t phase;
	} names[] = {
		{"run.hatchet", "run.hatchet", -1, -1},
		{"a/run.rank3.hatchet", "a/run.rank3.hatchet", 3, -1},
		{"run_rank_12.hatchet", "run_rank_12.hatchet", 12, -1},
		{"rank-0.json", "rank-0.json", 0, -1},
		{"run.r7.hatchet", "run.r7.hatchet", 7, -1},
		{"rank3/run.hatchet", "rank3/run.hatchet", -1, -1},
		{"frank3.hatchet", "frank3.hatchet", -1, -1},
		{"r2d2.hatchet", "r2d2.hatchet", -1, -1},
		{"rank99999999999.hatchet", "rank99999999999.hatchet", -1, -1},
		{"run.part_4.hatchet", "run.hatchet", -1, 4},
		{"run.rank1.part_10.hatchet", "run.rank1.hatchet", 1, 10},
		{"part_4.hatchet", "part_4.hatchet", -1, -1},
		{"run.part_x.hatchet", "run.part_x.hatchet", -1, -1},
	};
	struct merge_options options;
	char name[64];

	merge_guess(names[_i].path, name, sizeof(name), &options);
	ck_assert_str_eq(name, names[_i].name);
	ck_assert_int_eq(options.rank, names[_i].rank);
	ck_assert_int_eq(options.phase, names[_i].phase);
	merge_guess(names[_i].path, name, 4, &options); /* cut, not overrun */
	ck_assert_uint_le(strlen(name), 3);
}
END_TEST

START_TEST(paths_fold_and_processes_stay)
{
	struct session *s = session_new();

	ck_assert_int_eq(take(s, plain("gemm", 12), "a.rank0.hatchet"), 0);
	ck_assert_int_eq(take(s, plain("gemm", 15), "a.rank1.hatchet"), 0);
	ck_assert_int_eq(take(s, plain("relu", 1), "a.rank1b.hatchet"), 0);
	ck_assert_uint_eq(s->n_nodes, 4);
	ck_assert_uint_eq(s->n_processes, 3);
	ck_assert_uint_eq(s->n_rows, 3);
	ck_assert_int_eq(s->processes[0].rank, 0);
	ck_assert_int_eq(s->processes[1].rank, 1);
	ck_assert_int_eq(s->processes[2].rank, ANY_RANK);
	ck_assert_uint_eq(value_of(s, "gemm", METRIC_TIME), 27);
	ck_assert_uint_eq(value_of(s, "gemm", METRIC_COUNT), 2);
	ck_assert_uint_eq(value_of(s, "gemm", METRIC_TIME_MIN), 12);
	session_free(s);
}
END_TEST

START_TEST(phases_are_epochs_of_one_process)
{
	struct session *s = session_new();

	ck_assert_int_eq(take(s, plain("gemm", 12), "run.part_0.hatchet"), 0);
	ck_assert_int_eq(take(s, plain("gemm", 15), "run.part_1.hatchet"), 0);
	ck_assert_uint_eq(s->n_processes, 1);
	ck_assert_uint_eq(s->n_rows, 2);
	ck_assert_uint_eq(s->epochs[s->rows[1].epoch].phase, 1);
	ck_assert_uint_eq(value_of(s, "gemm", METRIC_TIME), 27);
	session_free(s);
}
END_TEST

START_TEST(nothing_counts_twice)
{
	struct session *s = session_new();
	size_t n;

	ck_assert_int_eq(take(s, of_process("gemm", 12, 77, 0), "a"), 0);
	n = s->n_nodes;
	ck_assert_int_eq(take(s, of_process("relu", 12, 77, 0), "b"), -EEXIST);
	ck_assert_uint_eq(s->n_nodes, n);
	ck_assert_uint_eq(s->n_rows, 1);
	ck_assert_int_eq(take(s, plain("gemm", 3), "c"), 0);
	ck_assert_int_eq(take(s, plain("gemm", 3), "c"), -EEXIST);
	ck_assert_int_eq(take(s, of_process("gemm", 5, 78, 1), "d"), 0);
	ck_assert_uint_eq(value_of(s, "gemm", METRIC_TIME), 20);
	ck_assert_uint_eq(session_loss(s, LOSS_DROPPED), 4);
	session_free(s);
}
END_TEST

START_TEST(twins_in_one_file_add_up)
{
	struct session *s = session_new(), *from = plain("gemm", 12);
	uint32_t row;
	uint32_t twin = session_node_append(from, from->nodes[2].parent, from->nodes[2].frame);

	row = session_row_intern(from, twin, 0, 0, SET_KERNEL);
	session_row_set(from, row, 0, (union metric_value){.u64 = 5});
	session_row_set(from, row, 2, (union metric_value){.u64 = 5});
	count_ns(from, 2, SESSION_NONE, 5, 3);
	count_ns(from, twin, SESSION_NONE, 5, 3);
	ck_assert_int_eq(take(s, from, "a"), 0);
	ck_assert_uint_eq(s->n_nodes, 3);
	ck_assert_uint_eq(s->n_rows, 1);
	ck_assert_uint_eq(value_of(s, "gemm", METRIC_TIME), 17);
	ck_assert_uint_eq(value_of(s, "gemm", METRIC_TIME_MIN), 5);
	ck_assert_uint_eq(s->n_hists, 1);
	ck_assert_uint_eq(hist_total(&s->hists[0].hist), 6);
	session_free(s);
}
END_TEST

/* Metrics have other ids, texts other string ids, and a metric may have another type. */
START_TEST(everything_comes_over)
{
	static const struct metric as_int = {"loss",           "",         METRIC_U64,
					     METRIC_INCLUSIVE, METRIC_SUM, METRIC_NONE};
	static const struct metric as_real = {"loss",           "",         METRIC_F64,
					      METRIC_INCLUSIVE, METRIC_SUM, METRIC_NONE};
	static const struct metric other = {"extra",          "",         METRIC_U64,
					    METRIC_INCLUSIVE, METRIC_SUM, METRIC_NONE};
	struct session *s = session_new(), *a = plain("gemm", 1), *b = plain("gemm", 2);
	struct session_interval interval = {10, 20, 2, 0};
	struct session_sample sample = {5, SESSION_NONE, METRIC_BYTES, 1.5};
	struct session_clock clock = {SESSION_NONE, strtab_adds(b->strings, "realtime"), 3, 4};
	struct session_run run = {.wall_ns = 7, .exit_status = 3, .end = PROCESS_ENDED};
	union metric_value v = {.text = strtab_adds(b->strings, "HtoD")};
	uint32_t metric;

	session_add(a, 2, 0, 0, metric_table_add(a->metrics, &as_real),
		    (union metric_value){.f64 = 1.5});
	metric_table_add(b->metrics, &other);
	session_add(b, 2, 0, 0, metric_table_add(b->metrics, &as_int),
		    (union metric_value){.u64 = 2});
	session_add(b, 2, 0, 0, METRIC_DIRECTION, v);
	session_frame_symbol(b, 2, strtab_adds(b->strings, "readable"), 0, 0);
	session_note(b, SESSION_NONE, NOTE_INFO, "note");
	session_interval_add(b, &interval);
	session_sample_add(b, &sample);
	session_clock_add(b, &clock);
	run.strings[RUN_COMMAND] = strtab_add(b->strings, "a\0b", 4);
	session_run_add(b, &run);
	run.strings[RUN_COMMAND] = strtab_add(a->strings, "c", 2);
	session_run_add(a, &run);
	ck_assert_uint_eq(runs_wall_ns(a), 7);
	a->start_ns = 100;
	b->start_ns = 50;
	b->end_ns = 200;
	b->losses[LOSS_WIRE_ERROR] = 1;
	ck_assert_int_eq(take(s, a, "a"), 0);
	ck_assert_int_eq(take(s, b, "b"), 0);
	metric = metric_table_find(s->metrics, "loss");
	ck_assert(session_value(s, 2, metric, &v));
	ck_assert_double_eq(v.f64, 3.5);
	ck_assert(session_value(s, 2, METRIC_DIRECTION, &v));
	ck_assert_str_eq(strtab_str(s->strings, v.text), "HtoD");
	ck_assert_str_eq(session_node_name(s, 2), "readable");
	ck_assert_uint_eq(s->n_notes + s->n_intervals + s->n_samples + s->n_clocks, 4);
	ck_assert_uint_eq(s->lanes[s->intervals[0].lane].process, 1);
	ck_assert_str_eq(strtab_str(s->strings, s->clocks[0].name), "realtime");
	ck_assert_uint_eq(s->n_runs, 2);
	ck_assert_mem_eq(strtab_str(s->strings, s->runs[1].strings[RUN_COMMAND]), "a\0b", 4);
	ck_assert_uint_eq(runs_wall_ns(s), 0); /* of two that need not be at the same time */
	ck_assert_uint_eq(s->start_ns, 50);
	ck_assert_uint_eq(s->end_ns, 200);
	ck_assert_uint_eq(session_loss(s, LOSS_WIRE_ERROR), 1);
	session_free(s);
}
END_TEST

START_TEST(slowest_rank_is_named)
{
	struct session *s = session_new();
	struct spread_row *rows;
	uint32_t n;
	struct ranks ranks;
	char name[64];

	take(s, of_process("gemm", 10, 1, 4), "a");
	take(s, of_process("gemm", 20, 2, 5), "b");
	take(s, of_process("gemm", 5, 3, 4), "c"); /* a helper of rank 4 */
	take(s, of_process("relu", 9, 4, 6), "d");
	ck_assert_int_eq(ranks_init(&ranks, s, METRIC_TIME, NULL), 0);
	ck_assert_uint_eq(ranks.n, 3);
	ck_assert_double_eq(ranks.totals[0].sum, 15);
	ck_assert_double_eq(ranks.totals[1].sum, 20);
	ck_assert_double_eq(ranks.totals[2].sum, 9);
	rows = ranks_sorted(&ranks, s, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(rows[0].node, 1); /* step */
	ck_assert_double_eq_tol(rows[0].lost, 20 - 44.0 / 3, 1e-9);
	ck_assert_uint_eq(ranks.spread[SESSION_ROOT].n, 3);
	ck_assert_double_eq(ranks.spread[SESSION_ROOT].sum, 44);
	ck_assert_uint_eq(ranks.spread[2].n, 2);
	ck_assert_double_eq(ranks.spread[2].min, 15);
	ck_assert_double_eq(ranks.spread[2].max, 20);
	ck_assert_double_eq_tol(spread_value(&ranks.spread[2], SPREAD_IMBALANCE), 20 / 17.5, 1e-12);
	ck_assert_int_eq(s->processes[ranks.spread[2].slowest].rank, 5);
	slowest_name(s, &ranks.spread[2], name, sizeof(name));
	ck_assert_str_eq(name, "5");
	/* Nobody waits for who is alone: absent is not zero. */
	ck_assert_uint_eq(rows[2].node, 3); /* relu */
	ck_assert(isnan(rows[2].lost));
	ck_assert(isnan(spread_value(&ranks.spread[3], SPREAD_WAIT)));
	ck_assert(isnan(spread_value(&ranks.spread[3], SPREAD_IMBALANCE)));
	slowest_name(s, &ranks.spread[3], name, sizeof(name));
	ck_assert_str_eq(name, "only 6");
	free(rows);
	ranks_done(&ranks);
	ck_assert_int_eq(ranks_init(&ranks, s, METRIC_DIRECTION, NULL), -EINVAL);
	ck_assert_int_eq(ranks_init(&ranks, s, METRIC_TIME_MIN, NULL), -EINVAL);
	ck_assert_int_eq(ranks_init(&ranks, s, METRIC_NONE, NULL), -EINVAL);
	session_free(s);
}
END_TEST

/* No reader makes a row without a lane; who does is told so, and not that memory is out. */
START_TEST(what_cannot_be_folded_says_why)
{
	struct session *s = session_new(), *folded = NULL;
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step 1");

	session_node(s, SESSION_ROOT, FRAME_SCOPE, "step 2");
	ck_assert_int_eq(session_fold_numbers(s, &folded), 0);
	ck_assert_uint_eq(folded->n_nodes, 2);
	session_free(folded);
	folded = NULL;
	ck_assert_uint_ne(session_row_intern(s, node, 7, 0, SET_KERNEL), SESSION_NONE);
	ck_assert_int_eq(session_fold_numbers(s, &folded), -EINVAL);
	ck_assert_ptr_null(folded);
	session_free(s);
}
END_TEST

/* ROOT ─ scope ─ python ─┬ gemm         gemm has a row of each of two epochs; relu of the second
 *               └ (another python) ─ gemm */
static struct session *two_epochs(void)
{
	const struct session_epoch epoch = {.index = 1};
	struct session *s = session_new();
	uint32_t scope = session_node(s, SESSION_ROOT, FRAME_SCOPE, "step");
	uint32_t one = session_node(s, scope, FRAME_PYTHON, "a.py:1@f");
	uint32_t two = session_node(s, scope, FRAME_PYTHON, "a.py:2@f");
	uint32_t first = session_node(s, one, FRAME_KERNEL, "gemm");
	uint32_t second = session_node(s, two, FRAME_KERNEL, "gemm");
	uint32_t relu = session_node(s, two, FRAME_KERNEL, "relu"), lane, later;
	const struct session_lane on = {session_process_add(s, 7), SESSION_NONE, 0, 0, 0};

	lane = session_lane_intern(s, &on);
	later = session_epoch_intern(s, &epoch);
	session_add(s, first, lane, 0, METRIC_COUNT, (union metric_value){.u64 = 1});
	session_add(s, first, lane, later, METRIC_COUNT, (union metric_value){.u64 = 20});
	session_add(s, second, lane, later, METRIC_COUNT, (union metric_value){.u64 = 300});
	session_add(s, relu, lane, 0, METRIC_COUNT, (union metric_value){.u64 = 4000});
	hist_count(session_hist_of(s, first, SESSION_NONE, 0), 5, 1);
	return s;
}

static uint64_t count_at(const struct session *s, uint32_t node)
{
	union metric_value v;

	return session_value(s, node, METRIC_COUNT, &v) ? v.u64 : 0;
}

START_TEST(a_part_of_the_rows)
{
	struct session *s = two_epochs(), *part;
	uint8_t rows[4];
	uint32_t scope, gemm;

	for (unsigned i = 0; i < 4; i++)
		rows[i] = s->rows[i].epoch == 1;
	ck_assert_int_eq(session_cut(s, rows, NULL, 0, &part), 0);
	ck_assert_uint_eq(part->n_nodes, 6); /* without relu */
	ck_assert_uint_eq(part->n_rows, 2);
	ck_assert_uint_eq(part->n_hists, 0);
	scope = part->nodes[SESSION_ROOT].first_child;
	gemm = part->nodes[part->nodes[scope].first_child].first_child;
	ck_assert_uint_eq(count_at(part, gemm), 20);
	session_free(part);
	/* Without frames of Python both are one. */
	ck_assert_int_eq(session_cut(s, rows, NULL, CUT_KIND(FRAME_PYTHON), &part), 0);
	ck_assert_uint_eq(part->n_nodes, 3);
	ck_assert_uint_eq(count_at(part, 2), 320);
	ck_assert_str_eq(session_node_name(part, 2), "gemm");
	session_free(part);
	memset(rows, 0, sizeof(rows));
	ck_assert_int_eq(session_cut(s, rows, NULL, 0, &part), 0);
	ck_assert_uint_eq(part->n_nodes, 1);
	ck_assert_uint_eq(part->n_processes, 1);
	session_free(part);
	session_free(s);
}
END_TEST

/* A path of kernels' scopes below a node, with a row on the last alone, as where those above ended in another phase. */
static uint32_t scopes_within(struct session *s, uint32_t kernel, uint32_t lane)
{
	uint32_t outer = session_node(s, kernel, FRAME_INSTRUMENT, "outer");
	uint32_t inner = session_node(s, outer, FRAME_INSTRUMENT, "inner");

	session_add(s, inner, lane, 0, METRIC_SCOPE_ENTRIES, (union metric_value){.u64 = 1});
	return inner;
}

START_TEST(kernels_with_scopes_within)
{
	struct session *s = two_epochs();
	uint32_t step = s->nodes[SESSION_ROOT].first_child, lane = s->rows[0].lane;
	uint32_t gemm = s->rows[0].node, relu = s->rows[3].node, inner, copy;
	uint8_t rows[8], wanted[] = {1, 1, 0, 0, 1, 1, 0};

	inner = scopes_within(s, gemm, lane);
	session_add(s, step, lane, 0, METRIC_CPU_TIME, (union metric_value){.u64 = 5});
	copy = session_node(s, step, FRAME_COPY, "DtoH pinned");
	session_add(s, copy, lane, 0, METRIC_COUNT, (union metric_value){.u64 = 1});
	ck_assert_uint_eq(s->n_rows, ARRAY_SIZE(wanted));
	ck_assert_uint_eq(s->rows[4].node, inner);
	memset(rows, 1, sizeof(rows));
	ck_assert_int_eq(cut_to_inside(s, rows), 0);
	ck_assert_mem_eq(rows, wanted, sizeof(wanted));
	/* One that is not taken makes no kernel one with scopes. */
	scopes_within(s, relu, lane);
	memset(rows, 1, sizeof(rows));
	rows[7] = 0;
	ck_assert_int_eq(cut_to_inside(s, rows), 0);
	ck_assert_mem_eq(rows, wanted, sizeof(wanted));
	ck_assert_uint_eq(rows[7], 0);
	session_free(s);
}
END_TEST

START_TEST(empty_profiles)
{
	struct session *s = session_new(), *from = session_new();
	struct ranks ranks;

	ck_assert_int_eq(merge_one(s, from, NULL), 0);
	ck_assert_int_eq(merge_one(s, from, NULL), 0);
	ck_assert_uint_eq(s->n_nodes, 1);
	ck_assert_int_eq(ranks_init(&ranks, s, METRIC_TIME, NULL), 0);
	ck_assert_uint_eq(ranks.n, 0);
	ranks_done(&ranks);
	session_free(from);
	session_free(s);
}
END_TEST

/* Two processes on one device, and one that did nothing there. */
START_TEST(parts_of_a_run)
{
	struct session *s = session_new();
	struct session_device device = {.type = strtab_adds(s->strings, "CUDA")};
	struct session_run run = {.start_ns = 1000, .wall_ns = 900};
	uint32_t gpu = session_device_intern(s, &device);
	struct session_use uses[] = {
		{.process = 0, .device = gpu, .busy_ns = 50, .first_ns = 1100, .last_ns = 1300},
		{.process = 1, .device = gpu, .busy_ns = 70, .first_ns = 1200, .last_ns = 1500},
		{.process = 2, .device = gpu}};
	struct run_parts parts;

	for (size_t i = 0; i < ARRAY_SIZE(uses); i++)
		session_use_set(s, &uses[i]);
	ck_assert(!runs_parts(s, gpu, &parts)); /* no run */
	session_run_add(s, &run);
	ck_assert(runs_parts(s, gpu, &parts));
	ck_assert_double_eq(parts.before_ns, 100);
	ck_assert_double_eq(parts.busy_ns, 120);
	ck_assert_double_eq(parts.gaps_ns, 280);
	ck_assert_double_eq(parts.after_ns, 400);
	s->runs[0].wall_ns = 499; /* over before the last work: a clock was set */
	ck_assert(!runs_parts(s, gpu, &parts));
	s->runs[0].wall_ns = 500;
	ck_assert(runs_parts(s, gpu, &parts));
	s->runs[0].start_ns = 1101;
	ck_assert(!runs_parts(s, gpu, &parts));
	s->runs[0].start_ns = 1100;
	ck_assert(runs_parts(s, gpu, &parts));
	uses[2].busy_ns = 1; /* and nobody says when */
	session_use_set(s, &uses[2]);
	ck_assert(!runs_parts(s, gpu, &parts));
	uses[2].busy_ns = 281; /* at a time with others */
	uses[2].first_ns = 1100;
	uses[2].last_ns = 1500;
	session_use_set(s, &uses[2]);
	ck_assert(!runs_parts(s, gpu, &parts));
	session_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("merge");
	TCase *tc = tcase_create("merge");

	tcase_add_loop_test(tc, names_tell_rank_and_phase, 0, 13);
	tcase_add_test(tc, paths_fold_and_processes_stay);
	tcase_add_test(tc, phases_are_epochs_of_one_process);
	tcase_add_test(tc, nothing_counts_twice);
	tcase_add_loop_test(tc, a_metric_gets_its_fractions, 0, 2);
	tcase_add_test(tc, what_files_differ_on_is_said);
	tcase_add_test(tc, twins_in_one_file_add_up);
	tcase_add_test(tc, everything_comes_over);
	tcase_add_test(tc, slowest_rank_is_named);
	tcase_add_test(tc, what_cannot_be_folded_says_why);
	tcase_add_test(tc, a_part_of_the_rows);
	tcase_add_test(tc, kernels_with_scopes_within);
	tcase_add_test(tc, empty_profiles);
	tcase_add_test(tc, parts_of_a_run);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
