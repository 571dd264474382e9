/* SPDX-License-Identifier: MIT */
/* Trees turned around (core/bottom_up.h, core/callers.h, core/numbers.h): small ones by hand, and
 * random recursive ones against sums over whole paths. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "core/samples.h"
#include "core/bottom_up.h"
#include "core/callers.h"
#include "core/durations.h"
#include "core/flat.h"
#include "core/numbers.h"
#include "core/roofline.h"
#include "count_ns.h"

struct world {
	struct session *s;
	struct snapshot *snap;
	struct numbers *numbers;
	uint32_t lane; /* of what is added */
};

static struct world w;

static uint32_t node(uint32_t parent, const char *name)
{
	return session_node(w.s, parent, FRAME_FUNCTION, name);
}

static void set_time(uint32_t id, uint64_t time_ns, uint64_t count)
{
	uint32_t row = session_row_intern(w.s, id, w.lane, 0, SET_KERNEL);
	const uint64_t values[] = {time_ns, count, time_ns / count, time_ns / count + 1};

	for (unsigned i = 0; i < 4; i++)
		session_row_set(w.s, row, i, (union metric_value){.u64 = values[i]});
}

static void open_world(enum group group)
{
	const struct snapshot_spec spec = {.group = group};

	w.snap = snapshot_new(w.s, &spec);
	ck_assert_ptr_nonnull(w.snap);
	w.numbers = numbers_new(w.snap, NULL);
	ck_assert_ptr_nonnull(w.numbers);
}

static double up(struct bottom_up *b, uint32_t i, enum usual_column column)
{
	const struct number_ask ask = {.metric = &usual_columns[column].derived, .slot = column};

	return bottom_up_value(b, i, &ask);
}

static double of_edge(struct callers *c, uint32_t i, enum usual_column column)
{
	const struct number_ask ask = {.metric = &usual_columns[column].derived, .slot = column};

	return callers_value(c, i, &ask);
}

/* The row of kernels of a frame; its value. */
static double of_frame(uint32_t frame, enum usual_column column)
{
	struct flat *flat = flat_new(w.numbers, true);
	double v = NAN;

	ck_assert_int_eq(flat_update(flat), 0);
	for (uint32_t i = 0; i < flat_n(flat); i++)
		if (flat_row(flat, i)->frame == frame)
			v = flat_usual(flat, i, column);
	flat_free(flat);
	return v;
}

static void setup(void)
{
	memset(&w, 0, sizeof(w));
	w.s = session_new();
	ck_assert_ptr_nonnull(w.s);
	session_lane_intern(w.s, &(struct session_lane){SESSION_NONE, SESSION_NONE, 0, 0, 0});
}

static void teardown(void)
{
	numbers_free(w.numbers);
	snapshot_free(w.snap);
	session_free(w.s);
}

static const char *name(uint32_t id)
{
	return snapshot_name(w.snap, id, NAME_RAW);
}

/* main { a { k 10, a { k 5 } }, b { k 1 } }, k 2 at the top */
static void make_small(void)
{
	uint32_t main_, a;

	main_ = node(SESSION_ROOT, "main");
	a = node(main_, "a");
	set_time(node(a, "k"), 10, 1);
	set_time(node(node(a, "a"), "k"), 5, 1);
	set_time(node(node(main_, "b"), "k"), 1, 1);
	set_time(node(SESSION_ROOT, "k"), 2, 2);
	open_world(GROUP_NONE);
}

/* ---- bottom-up ---- */

static uint32_t child(struct bottom_up *b, uint32_t i, const char *wanted)
{
	const struct bottom_up_node *n;

	ck_assert_int_eq(bottom_up_open(b, i), 0);
	n = bottom_up_node(b, i);
	for (uint32_t k = 0; k < n->n_children; k++)
		if (!strcmp(name(bottom_up_example(b, n->first_child + k)), wanted))
			return n->first_child + k;
	ck_abort_msg("no caller %s", wanted);
	return 0;
}

START_TEST(bottom_up_small)
{
	struct bottom_up *b;
	uint32_t k, a;

	make_small();
	b = bottom_up_new(w.snap, w.numbers);
	ck_assert_int_eq(bottom_up_update(b), 0);
	ck_assert_uint_eq(bottom_up_node(b, 0)->n_children, 1);
	k = child(b, 0, "k");
	ck_assert_double_eq(up(b, k, USUAL_SELF), 18);
	ck_assert_double_eq(up(b, k, USUAL_CALLS), 5);
	ck_assert_double_eq(up(b, k, USUAL_MIN), 1);
	ck_assert_double_eq(up(b, k, USUAL_MAX), 11);
	ck_assert(isnan(up(b, k, USUAL_BYTES)));
	ck_assert_str_eq(name(bottom_up_heaviest(b, k)), "k");
	a = child(b, k, "a");
	ck_assert_uint_eq(bottom_up_node(b, k)->n_children, 3); /* a, b, and the top */
	ck_assert_double_eq(up(b, child(b, k, "ROOT"), USUAL_SELF), 2);
	ck_assert(!bottom_up_node(b, child(b, k, "ROOT"))->has_callers);
	ck_assert_double_eq(up(b, a, USUAL_SELF), 15);
	ck_assert_double_eq(up(b, child(b, a, "main"), USUAL_SELF), 10);
	a = child(b, a, "a"); /* the recursion */
	ck_assert_double_eq(up(b, a, USUAL_SELF), 5);
	ck_assert_uint_eq(bottom_up_node(b, child(b, a, "main"))->has_callers, 0);
	bottom_up_free(b);
}
END_TEST

/* Only paths that count do. */
START_TEST(bottom_up_kept)
{
	uint8_t kept[16] = {0};
	struct bottom_up *b;

	make_small();
	for (uint32_t id = 1; id < snapshot_n(w.snap); id++)
		kept[id] = kept[snapshot_node(w.snap, id)->parent] || !strcmp(name(id), "b");
	numbers_update(w.numbers, kept);
	b = bottom_up_new(w.snap, w.numbers);
	ck_assert_int_eq(bottom_up_update(b), 0);
	ck_assert_double_eq(up(b, 0, USUAL_SELF), 1);
	ck_assert_uint_eq(bottom_up_node(b, child(b, 0, "k"))->n, 1);
	bottom_up_free(b);
}
END_TEST

START_TEST(bottom_up_empty)
{
	struct bottom_up *b;

	open_world(GROUP_NONE);
	b = bottom_up_new(w.snap, w.numbers);
	ck_assert_int_eq(bottom_up_update(b), 0);
	ck_assert_uint_eq(bottom_up_node(b, 0)->n_children, 0);
	ck_assert(isnan(up(b, 0, USUAL_SELF)));
	bottom_up_free(b);
}
END_TEST

/* ---- callers ---- */

static const struct callers_row *row(struct callers *c, enum callers_side side, const char *wanted,
				     double time)
{
	for (uint32_t i = 0; i < callers_n(c); i++)
		if (callers_row(c, i)->side == side &&
		    !strcmp(name(callers_row(c, i)->example), wanted)) {
			ck_assert_double_eq(of_edge(c, i, USUAL_TOTAL), time);
			return callers_row(c, i);
		}
	ck_abort_msg("no row %s", wanted);
	return NULL;
}

START_TEST(callers_small)
{
	struct callers *c;

	make_small();
	c = callers_new(w.snap, w.numbers);
	ck_assert_int_eq(callers_update(c, 2), 0);
	row(c, CALLERS_FUNCTION, "a", 15);
	row(c, CALLERS_CALLER, "main", 15);
	row(c, CALLERS_CALLER, "a", 5);
	row(c, CALLERS_CALLEE, "k", 15);
	row(c, CALLERS_CALLEE, "a", 5);
	ck_assert_uint_eq(callers_n(c), 5);
	ck_assert(callers_is_recursive(c));
	ck_assert_int_eq(callers_update(c, 3), 0); /* k, under all of them */
	row(c, CALLERS_FUNCTION, "k", 18);
	row(c, CALLERS_CALLER, "a", 15);
	row(c, CALLERS_CALLER, "b", 1);
	row(c, CALLERS_CALLER, "ROOT", 2);
	row(c, CALLERS_ITSELF, "k", 18);
	ck_assert(!callers_is_recursive(c));
	ck_assert_int_eq(callers_update(c, 0), 0);
	row(c, CALLERS_FUNCTION, "ROOT", 18);
	row(c, CALLERS_CALLEE, "main", 16);
	row(c, CALLERS_CALLEE, "k", 2);
	callers_free(c);
}
END_TEST

static void make_roofline(struct roofline *r, enum roofline_of of)
{
	struct peaks *peaks = peaks_new();

	ck_assert_ptr_nonnull(peaks);
	ck_assert_int_eq(roofline_make(r, w.snap, w.numbers, peaks, of), 0);
	peaks_free(peaks);
}

/* ---- roofline ---- */

static void add_number(uint32_t id, uint32_t metric, double v)
{
	union metric_value value = {.u64 = 0};

	if (metric_table_get(w.s->metrics, metric)->type == METRIC_F64)
		value.f64 = v;
	else
		value.u64 = (uint64_t)v;
	ck_assert_int_eq(session_add(w.s, id, w.lane, 0, metric, value), 0);
}

/* Kernels by name over their contexts, scopes each by itself; what lacks a number is counted. */
START_TEST(roofline_points)
{
	struct roofline r = {.points = NULL};
	uint32_t a = node(SESSION_ROOT, "a"), b = node(SESSION_ROOT, "b"), k[3];

	k[0] = node(a, "gemm");
	k[1] = node(b, "gemm");
	k[2] = node(b, "copy");
	for (unsigned i = 0; i < 3; i++) {
		set_time(k[i], 1000 * (i + 1), 1);
		add_number(k[i], METRIC_BYTES, 10);
	}
	add_number(k[0], METRIC_FLOPS16, 100);
	add_number(k[1], METRIC_FLOPS16, 300);
	add_number(k[1], METRIC_FLOPS32, 100);
	open_world(GROUP_NONE);
	make_roofline(&r, ROOFLINE_KERNELS);
	ck_assert_uint_eq(r.n, 1);
	ck_assert_uint_eq(r.points[0].node, k[1]);
	ck_assert_uint_eq(r.points[0].roof, 1);
	ck_assert_uint_eq(r.points[0].device, SESSION_NONE);
	ck_assert_double_eq(roofline_intensity(&r.points[0]), 25);
	ck_assert_double_eq_tol(roofline_rate(&r.points[0]), 500.0 / 3000e-9, 1);
	ck_assert_uint_eq(r.n_without_flops, 1);
	ck_assert_uint_eq(r.n_without_bytes, 0);
	make_roofline(&r, ROOFLINE_SCOPES);
	ck_assert_uint_eq(r.n, 2);
	ck_assert_uint_eq(r.points[0].node, b); /* the longer one */
	ck_assert_double_eq(roofline_intensity(&r.points[0]), 20);
	ck_assert_double_eq(roofline_intensity(&r.points[1]), 10);
	/* of 5000 ns of b, 2000 have operations, and all have bytes */
	ck_assert_double_eq(r.points[0].time_ns, 5000);
	ck_assert_double_eq_tol(roofline_rate(&r.points[0]), 400.0 / 2000e-9, 1);
	ck_assert_double_eq_tol(roofline_traffic(&r.points[0]), 20.0 / 5000e-9, 1);
	roofline_done(&r);
}
END_TEST

/* ---- what hardware counters say of kernels ---- */

static void add_counted(uint32_t id, const char *name, double v)
{
	uint32_t metric = metric_table_add(
		w.s->metrics, &(struct metric){.name = name, .unit = "", .type = METRIC_F64});

	add_number(id, metric, v);
}

static void add_device(void)
{
	const struct session_device device = {.type = strtab_adds(w.s->strings, "CUDA"),
					      .arch = strtab_adds(w.s->strings, "90")};
	const struct session_lane lane = {SESSION_NONE, session_device_intern(w.s, &device), 0, 0,
					  0};

	w.lane = session_lane_intern(w.s, &lane);
}

/* Half of a kernel's 2000 ns were measured. */
static void add_counts(uint32_t id)
{
	static const char *const ops[] = {"fadd", "fmul", "ffma", "hadd", "hmul",
					  "hfma", "dadd", "dmul", "dfma"};
	char name[80];

	set_time(id, 2000, 2);
	add_counted(id, "measured_time (ns)", 1000);
	add_counted(id, "dram__bytes_read.sum", 300);
	add_counted(id, "dram__bytes_write.sum", 200);
	add_counted(id, "sm__inst_executed_pipe_tensor.sum", 0);
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		snprintf(name, sizeof(name), "smsp__sass_thread_inst_executed_op_%s_pred_on.sum",
			 ops[i]);
		add_counted(id, name, i < 3 ? 100 * (double)(i + 1) : i < 6 ? 10 : 1);
	}
}

static double derived_by(struct derive *derive, const char *word, uint32_t id)
{
	struct derived_terms terms = {0};
	struct derived m;

	ck_assert_int_eq(derive_parse(w.s, word, strlen(word), &m), 0);
	return derive_at(derive, &m, &terms, id, 0);
}

static double derived_value(const char *word, uint32_t id)
{
	return derived_by(numbers_derive(w.numbers), word, id);
}

/* Operations of a second of the kernels that were counted; no time of others is a part of it. */
START_TEST(counted_rates)
{
	uint32_t a = node(SESSION_ROOT, "a"), k = node(a, "k"), other = node(a, "other");
	/* 100 + 200 + 2 * 300; of two halves 2 * (10 + 10 + 2 * 10); 1 + 1 + 2 */
	const double flops32 = 900, flops16 = 80, flops64 = 4;

	add_device();
	add_counts(k);
	set_time(other, 5000, 1);
	open_world(GROUP_NONE);
	ck_assert_double_eq_tol(derived_value("flop32/s", k), flops32 / 1000e-9, 1);
	ck_assert_double_eq_tol(derived_value("flop16/s", k), flops16 / 1000e-9, 1);
	ck_assert_double_eq_tol(derived_value("flop64/s", k), flops64 / 1000e-9, 1);
	ck_assert(isnan(derived_value("flop8/s", k)));
	ck_assert_double_eq_tol(derived_value("gflop/s", k), (flops16 + flops32 + flops64) / 1000,
				1e-9);
	ck_assert(isnan(derived_value("flop/s", other)));
	ck_assert_double_eq_tol(derived_value("byte/s", k), 500 / 1000e-9, 1);
	ck_assert_double_eq_tol(derived_value("byte/s (inc)", a), 500 / 1000e-9, 1);
	ck_assert(isnan(derived_value("byte/s", other)));
	ck_assert_double_eq(derived_value("source", k), WORK_COUNTED);
	ck_assert(isnan(derived_value("source", other)));
	ck_assert_double_eq(derived_value("source (inc)", a), WORK_COUNTED);
}
END_TEST

/* The share of the nearer roof, of the kernels that were counted, also below groups. */
START_TEST(counted_util)
{
	const enum group groups[] = {GROUP_NONE, GROUP_DEVICE};
	struct peaks *peaks = peaks_new();
	uint32_t k = node(node(SESSION_ROOT, "a"), "k"), at;
	struct derive *derive;
	unsigned line;

	ck_assert_int_eq(peaks_parse(peaks, "CUDA 90 8G 4G 2G 1G 1G\n", &line), 0);
	add_device();
	add_counts(k);
	open_world(groups[_i]);
	derive = derive_new(w.snap, peaks);
	at = snapshot_n(w.snap) - 1; /* the kernel, in its group */
	/* 80 at 4G and 900 at 2G and 4 at 1G are 474 ns of 1000; 500 bytes at 1G are 500 */
	ck_assert_double_eq_tol(derived_by(derive, "util", at), 0.5, 1e-9);
	ck_assert_double_eq_tol(derived_by(derive, "util (inc)", SESSION_ROOT), 0.5, 1e-9);
	ck_assert_double_eq_tol(derived_by(derive, "gbyte/s (inc)", SESSION_ROOT), 0.5, 1e-9);
	derive_free(derive);
	peaks_free(peaks);
}
END_TEST

/* What has bytes alone, counted or given, is bound by memory; what has operations alone, by these. */
START_TEST(bound_of_one_kind)
{
	const double bound[] = {BOUND_MEMORY, BOUND_MEMORY, BOUND_COMPUTE};
	struct peaks *peaks = peaks_new();
	uint32_t k = node(SESSION_ROOT, "k");
	struct derive *derive;
	unsigned line;

	ck_assert_int_eq(peaks_parse(peaks, "CUDA 90 - 4G 2G 1G 1G\n", &line), 0);
	add_device();
	set_time(k, 1000, 1);
	if (_i == 0) {
		add_counted(k, "measured_time (ns)", 1000);
		add_counted(k, "dram__bytes.sum", 900);
	} else {
		add_number(k, _i == 1 ? METRIC_BYTES : METRIC_FLOPS64, 900);
	}
	open_world(GROUP_NONE);
	derive = derive_new(w.snap, peaks);
	ck_assert_double_eq_tol(derived_by(derive, "util", k), 0.9, 1e-9);
	ck_assert_double_eq(derived_by(derive, "bound", k), bound[_i]);
	derive_free(derive);
	peaks_free(peaks);
}
END_TEST

/* Operations are measured by the peaks of who did them: here no tensor cores, but for 400 of 32 bits. */
START_TEST(counted_by_cores)
{
	struct peaks *peaks = peaks_new();
	uint32_t k = node(SESSION_ROOT, "k");
	struct derive *derive;
	unsigned line;

	ck_assert_int_eq(peaks_parse(peaks, "CUDA 90 8G 4G 2G 1G 1G -\n", &line), -EINVAL);
	ck_assert_int_eq(peaks_parse(peaks, "CUDA 90 8G 4G 2G 1G 1G - - - 1G\n", &line), -EINVAL);
	ck_assert_int_eq(peaks_parse(peaks, "CUDA 90 8G 4G 2G 1G 10G - 1G 0.5G\n", &line), 0);
	add_device();
	add_counts(k);
	add_counted(k, "sm__inst_executed_pipe_tensor.sum", 7);
	add_counted(k, "sm__ops_path_tensor_src_fp16.sum", 0);
	add_counted(k, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 0);
	add_counted(k, "sm__ops_path_tensor_src_tf32_dst_fp32.sum", 400);
	add_counted(k, "sm__ops_path_tensor_src_fp64.sum", 0);
	open_world(GROUP_NONE);
	derive = derive_new(w.snap, peaks);
	/* 80 at 4G, 900 at 1G, 400 at 2G and 4 at 0.5G are 1128 ns of 1000 */
	ck_assert_double_eq_tol(derived_by(derive, "util", k), 1.128, 1e-9);
	derive_free(derive);
	peaks_free(peaks);
}
END_TEST

/* What the program says goes before what was counted, of each kind by itself. */
START_TEST(counted_after_given)
{
	struct roofline r = {.points = NULL};
	uint32_t a = node(SESSION_ROOT, "a"), k = node(a, "k");

	add_device();
	add_counts(k);
	add_number(a, METRIC_FLOPS16, 8000);
	open_world(GROUP_NONE);
	ck_assert(isnan(derived_value("flop32/s", k)));
	ck_assert_double_eq_tol(derived_value("flop16/s", a), 8000 / 2000e-9, 1);
	ck_assert_double_eq_tol(derived_value("byte/s", k), 500 / 1000e-9, 1);
	ck_assert_double_eq(derived_value("source", k), WORK_OF_BOTH);
	make_roofline(&r, ROOFLINE_SCOPES);
	ck_assert_uint_eq(r.n, 1);
	roofline_done(&r);
}
END_TEST

/* Tensor cores ran, and nobody counted what: the operations are not known, and the bytes are. */
START_TEST(counted_in_part)
{
	struct roofline r = {.points = NULL};
	uint32_t k = node(SESSION_ROOT, "k"), known = node(SESSION_ROOT, "known");

	add_device();
	add_counts(k);
	add_counts(known);
	add_counted(k, "sm__inst_executed_pipe_tensor.sum", 7);
	add_counted(known, "sm__inst_executed_pipe_tensor.sum", 7);
	add_counted(known, "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum", 7);
	open_world(GROUP_NONE);
	ck_assert(isnan(derived_value("flop32/s", k)));
	ck_assert_double_eq_tol(derived_value("byte/s", k), 500 / 1000e-9, 1);
	ck_assert_double_eq_tol(derived_value("flop32/s", known), 900 / 1000e-9, 1);
	make_roofline(&r, ROOFLINE_KERNELS);
	ck_assert_uint_eq(r.n, 1);
	ck_assert_double_eq_tol(roofline_rate(&r.points[0]), 984 / 1000e-9, 1);
	ck_assert_double_eq(roofline_intensity(&r.points[0]), 984.0 / 500);
	ck_assert_uint_eq(r.points[0].roof, 2);
	ck_assert_uint_eq(r.n_without_flops, 1);
	roofline_done(&r);
}
END_TEST

/* The program says how many operations, and the clock of the device nothing passed; what was counted of it took time:
 * how fast these operations were is not known, and other contexts of the kernel have their rate. */
START_TEST(roofline_of_no_time)
{
	struct roofline r = {.points = NULL};
	uint32_t quick = node(node(SESSION_ROOT, "a"), "k"), k = node(node(SESSION_ROOT, "b"), "k"),
		 alone = node(SESSION_ROOT, "alone");

	add_device();
	add_counts(quick);
	set_time(quick, 0, 1);
	add_number(quick, METRIC_FLOPS16, 7);
	add_counts(alone);
	set_time(alone, 0, 1);
	add_number(alone, METRIC_FLOPS16, 7);
	set_time(k, 1000, 1);
	add_number(k, METRIC_FLOPS16, 4000);
	add_number(k, METRIC_BYTES, 500);
	open_world(GROUP_NONE);
	make_roofline(&r, ROOFLINE_KERNELS);
	ck_assert_uint_eq(r.n, 1);
	ck_assert_double_eq_tol(roofline_rate(&r.points[0]), 4000 / 1000e-9, 1);
	ck_assert_double_eq_tol(roofline_traffic(&r.points[0]), 1000 / 2000e-9, 1);
	roofline_done(&r);
}
END_TEST

/* Ranges of a scope are on lanes of the host, with its time. */
START_TEST(counted_ranges)
{
	uint32_t a = node(SESSION_ROOT, "a"), k = node(a, "k");

	add_counts(a);
	add_device();
	set_time(k, 1000, 1);
	open_world(GROUP_NONE);
	ck_assert(isnan(derived_value("byte/s (inc)", a)));
	ck_assert(isnan(derived_value("util (inc)", a)));
	ck_assert(isnan(derived_value("source (inc)", a)));
}
END_TEST

/* Operations in tensor cores are of the precision that they multiply. */
START_TEST(counted_tensors)
{
	uint32_t k = node(SESSION_ROOT, "k");

	add_device();
	add_counts(k);
	add_counted(k, "sm__inst_executed_pipe_tensor.sum", 7);
	add_counted(k, "sm__ops_path_tensor_src_fp16_dst_fp16.sum", 1000);
	add_counted(k, "sm__ops_path_tensor_src_fp16_dst_fp32.sum", 2000);
	add_counted(k, "sm__ops_path_tensor_src_bf16_dst_fp32.sum", 4000);
	add_counted(k, "sm__ops_path_tensor_src_tf32_dst_fp32.sum", 100);
	add_counted(k, "sm__ops_path_tensor_src_fp64.sum", 10);
	add_counted(k, "sm__ops_path_tensor_src_fp8.sum", 5);
	open_world(GROUP_NONE);
	ck_assert_double_eq_tol(derived_value("flop8/s", k), 5 / 1000e-9, 1);
	ck_assert_double_eq_tol(derived_value("flop16/s", k), 7080 / 1000e-9, 1);
	ck_assert_double_eq_tol(derived_value("flop32/s", k), 1000 / 1000e-9, 1);
	ck_assert_double_eq_tol(derived_value("flop64/s", k), 14 / 1000e-9, 1);
}
END_TEST

/* ---- durations ---- */

/* Histograms of all that has the name and is below it; what ran once is a sample of its own. */
START_TEST(durations_of)
{
	uint32_t a = node(SESSION_ROOT, "a"), ak = node(a, "k"), bk;
	struct durations d;

	bk = node(node(SESSION_ROOT, "b"), "k");
	set_time(ak, 3000, 3);
	set_time(bk, 500, 1);
	count_ns(w.s, ak, SESSION_NONE, 1000, 3);
	open_world(GROUP_NONE);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, ak, true), 0);
	ck_assert_uint_eq(d.n_all, 4);
	ck_assert_uint_eq(d.sums.n[hist_bin(1000)], 3);
	ck_assert_uint_eq(d.sums.n[hist_bin(500)], 1);
	ck_assert_double_eq(d.n_calls, 4);
	ck_assert_uint_eq(d.min_ns, 500);
	ck_assert_uint_eq(d.max_ns, 1001);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, ak, false), 0);
	ck_assert_uint_eq(d.n_all, 3);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, a, true), 0);
	ck_assert_uint_eq(d.n_all, 3);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, SESSION_ROOT, true), 0);
	ck_assert_uint_eq(d.n_all, 4);
}
END_TEST

/* What a filter takes out of the picture, or does not keep, is not counted. */
START_TEST(durations_filtered)
{
	uint32_t a = node(SESSION_ROOT, "a"), ak = node(a, "k"), bk;
	uint8_t mask[] = {1, 0, 0, 1, 1}, kept[] = {0, 1, 1, 0, 0};
	struct durations d;

	bk = node(node(SESSION_ROOT, "b"), "k");
	set_time(ak, 3000, 3);
	set_time(bk, 500, 1);
	count_ns(w.s, ak, SESSION_NONE, 1000, 3);
	open_world(GROUP_NONE);
	numbers_update(w.numbers, kept);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, SESSION_ROOT, true), 0);
	ck_assert_uint_eq(d.n_all, 3);
	ck_assert_uint_eq(d.min_ns, 1000);
	snapshot_mask(w.snap, mask);
	numbers_update(w.numbers, NULL);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, ak, true), 0);
	ck_assert_uint_eq(d.n_all, 1);
	ck_assert_double_eq(d.n_calls, 1);
	/* that of the other one called "k" */
	ck_assert_double_eq(of_frame(w.s->nodes[ak].frame, USUAL_P50), 500);
}
END_TEST

static uint32_t lane_on(uint32_t device, uint32_t stream)
{
	return session_lane_intern(
		w.s, &(struct session_lane){.process = 0, .device = device, .stream = stream});
}

static void set_time_on(uint32_t id, uint32_t lane, uint64_t time_ns, uint64_t n)
{
	uint32_t row = session_row_intern(w.s, id, lane, 0, SET_KERNEL);
	const uint64_t values[] = {time_ns, n, time_ns / n, time_ns / n};

	for (unsigned i = 0; i < 4; i++)
		session_row_set(w.s, row, i, (union metric_value){.u64 = values[i]});
}

/* The first context called "k" whose group is the i-th child of the root. */
static uint32_t in_group(unsigned i)
{
	uint32_t group = snapshot_node(w.snap, 0)->first_child;

	while (i-- > 0)
		group = snapshot_node(w.snap, group)->next_sibling;
	return snapshot_node(w.snap, group)->first_child;
}

/* Each device has its part; the streams of one have a histogram together. */
START_TEST(durations_grouped)
{
	uint32_t k = node(SESSION_ROOT, "k");
	struct durations d;

	for (uint32_t i = 0; i < 2; i++) {
		set_time_on(k, lane_on(i, 7), 4000, 4);
		count_ns(w.s, k, i, 1000, 4 + i);
	}
	set_time_on(k, lane_on(1, 8), 1000, 1);
	open_world(GROUP_DEVICE);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, in_group(0), false), 0);
	ck_assert_uint_eq(d.n_all, 4);
	ck_assert(!d.is_shared);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, in_group(0), true), 0);
	ck_assert_uint_eq(d.n_all, 4 + 5 + 1);
	ck_assert(!d.is_shared);
	ck_assert_int_eq(snapshot_regroup(w.snap, GROUP_STREAM), 0);
	numbers_update(w.numbers, NULL);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, in_group(1), false), 0);
	ck_assert_uint_eq(d.n_all, 5);
	ck_assert(d.is_shared);
	ck_assert_int_eq(durations_make(&d, w.snap, w.numbers, 0, false), 0);
	ck_assert(!d.is_shared);
}
END_TEST

START_TEST(durations_of_frames)
{
	uint32_t k[2], other;

	k[0] = node(node(SESSION_ROOT, "a"), "k");
	k[1] = node(node(SESSION_ROOT, "b"), "k");
	other = node(SESSION_ROOT, "other");
	count_ns(w.s, k[0], SESSION_NONE, 1000, 9);
	count_ns(w.s, k[1], SESSION_NONE, 9000, 1);
	set_time(k[0], 9000, 9);
	set_time(k[1], 18000, 2);
	set_time(other, 10, 2);
	open_world(GROUP_NONE);
	ck_assert_uint_eq(hist_bin((uint64_t)of_frame(w.s->nodes[k[0]].frame, USUAL_P50)),
			  hist_bin(1000));
	ck_assert_uint_eq(hist_bin((uint64_t)of_frame(w.s->nodes[k[0]].frame, USUAL_P99)),
			  hist_bin(9000));
	ck_assert(isnan(of_frame(w.s->nodes[other].frame, USUAL_P50)));
}
END_TEST

/* ---- sets of nodes ---- */

static double set_value(const struct derived *m, const struct number_set *set,
			const struct number_set *whole)
{
	const struct number_row row = {*set, 0}, all = {*whole, 1};
	const struct number_ask ask = {.metric = m};
	struct number_cache cache = {0};
	double v = number_row_value(w.numbers, &cache, &ask, &row, &all);

	number_cache_done(&cache);
	return v;
}

static double derived(const char *word, const struct number_set *set,
		      const struct number_set *whole)
{
	struct derived m;

	ck_assert_int_eq(derive_parse(w.s, word, strlen(word), &m), 0);
	return set_value(&m, set, whole);
}

/* Metrics by name over sets are those of the nodes, put together by the metric's own rule. */
START_TEST(sets_derived)
{
	uint32_t a = node(SESSION_ROOT, "a"), inner = node(a, "a"), k[2];
	const uint32_t both[] = {a, inner}, root[] = {SESSION_ROOT};
	const struct number_set set = {.nodes = both, .n = 2, .n_outer = 1, .inclusive = true};
	const struct number_set whole = {.nodes = root, .n = 1, .n_outer = 1, .inclusive = true};
	struct number_set own = set, alone = set;

	own.only_own = true;
	alone.inclusive = false;
	k[0] = node(inner, "k");
	k[1] = node(SESSION_ROOT, "k");
	set_time(a, 100, 1);
	set_time(inner, 300, 1);
	set_time(k[0], 600, 4);
	set_time(k[1], 3000, 2);
	add_number(k[0], METRIC_BYTES, 1200);
	open_world(GROUP_NONE);
	ck_assert_double_eq(derived("time/us", &set, &whole), 1);
	ck_assert_double_eq(derived("time (exc)", &set, &whole), 400);
	ck_assert_double_eq(derived("time", &own, &whole), 400);
	ck_assert_double_eq(derived("time (inc)", &own, &whole), 400);
	ck_assert_double_eq(derived("time", &alone, &whole), 400);
	ck_assert_double_eq(derived("time (inc)", &alone, &whole), 1000);
	ck_assert_double_eq(derived("time/%", &set, &whole), 25);
	ck_assert_double_eq(derived("count", &set, &whole), 6);
	ck_assert_double_eq_tol(derived("avg_time", &set, &whole), 1000.0 / 6, 1e-9);
	ck_assert_double_eq(derived("avg_time (exc)", &set, &whole), 200);
	ck_assert_double_eq_tol(derived("gbyte/s", &set, &whole), 2, 1e-9);
	ck_assert(isnan(derived("byte/s", &own, &whole)));
	ck_assert_double_eq(derived("time_max", &set, &whole), 301);
	ck_assert(isnan(derived("util", &set, &whole))); /* no device */
}
END_TEST

static void assert_same(double is, double wanted)
{
	ck_assert(isnan(is) ? isnan(wanted) : is == wanted);
}

/* Elapsed time on the host, with scopes within:
 * outer 100 { none { rec 40 { rec 10 } }, leaf 30 }, alone 20, open { leaf 5 } */
enum { OUTER = 1, BETWEEN, REC, REC_INNER, LEAF, ALONE, OPEN, OPEN_LEAF };

static void make_host(void)
{
	static const struct {
		const char *name;
		uint32_t parent;
		double elapsed;
	} nodes[] = {{"outer", 0, 100}, {"none", OUTER, 0},  {"rec", BETWEEN, 40},
		     {"rec", REC, 10},  {"leaf", OUTER, 30}, {"alone", 0, 20},
		     {"open", 0, 0},    {"leaf", OPEN, 5}};

	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		uint32_t id = node(nodes[i].parent, nodes[i].name);

		ck_assert_uint_eq(id, i + 1);
		if (nodes[i].elapsed > 0)
			add_number(id, METRIC_CPU_TIME, nodes[i].elapsed);
		if (nodes[i].elapsed > 0)
			add_number(id, METRIC_CPU_COUNT, 2);
	}
	open_world(GROUP_NONE);
}

/* A node's value by name. */
static double at(const char *word, uint32_t id)
{
	struct derived_terms terms = {0};
	struct derived m;

	ck_assert_int_eq(derive_parse(w.s, word, strlen(word), &m), 0);
	return derive_at(numbers_derive(w.numbers), &m, &terms, id, 0);
}

/* What is nested is in what is around it, and counts once. */
START_TEST(host_time_is_nested)
{
	static const double whole[] = {125, 100, 40, 40, 10, 30, 20, 5, 5},
			    own[] = {NAN, 30, NAN, 30, 10, 30, 20, NAN, 5};

	make_host();
	for (uint32_t id = 0; id < sizeof(own) / sizeof(own[0]); id++) {
		assert_same(at("cpu_time", id), whole[id]);
		assert_same(at("cpu_time(inc)", id), whole[id]);
		assert_same(at("cpu_time(exc)", id), own[id]);
	}
	ck_assert_double_eq(at("cpu_time/%", REC), 32);
}
END_TEST

START_TEST(host_time_of_views)
{
	struct bottom_up *b;
	struct callers *c;

	make_host();
	b = bottom_up_new(w.snap, w.numbers);
	ck_assert_int_eq(bottom_up_update(b), 0);
	ck_assert_double_eq(up(b, child(b, 0, "rec"), USUAL_CPU), 40);
	ck_assert_double_eq(up(b, child(b, 0, "rec"), USUAL_CPU_SHARE), 32);
	ck_assert_double_eq(up(b, child(b, 0, "rec"), USUAL_ENTERED), 4);
	ck_assert_double_eq(up(b, child(b, 0, "leaf"), USUAL_CPU), 35);
	ck_assert_double_eq(up(b, child(b, 0, "outer"), USUAL_CPU), 30); /* without what is below */
	ck_assert_double_eq(up(b, child(b, 0, "outer"), USUAL_CPU_SHARE), 24);
	c = callers_new(w.snap, w.numbers);
	ck_assert_int_eq(callers_update(c, REC), 0);
	for (uint32_t i = 0; i < callers_n(c); i++) {
		static const double sides[] = {40, 40, 10, 40}, shares[] = {100, 100, 25, 100};
		unsigned side = callers_row(c, i)->side;
		bool inner =
			side == CALLERS_CALLER && !strcmp(name(callers_row(c, i)->example), "rec");

		ck_assert_double_eq(of_edge(c, i, USUAL_CPU), inner ? 10 : sides[side]);
		ck_assert_double_eq(of_edge(c, i, USUAL_CPU_SHARE), inner ? 25 : shares[side]);
	}
	ck_assert_double_eq(of_edge(c, 0, USUAL_ENTERED), 4);
	bottom_up_free(b);
	callers_free(c);
}
END_TEST

/* What a filter leaves out is in nothing that it leaves. */
START_TEST(host_time_of_some)
{
	uint8_t kept[] = {1, 1, 1, 1, 0, 1, 0, 0, 0};

	make_host();
	numbers_update(w.numbers, kept);
	ck_assert_double_eq(at("cpu_time", 0), 90);
	ck_assert_double_eq(at("cpu_time", REC), 30);
	ck_assert_double_eq(at("cpu_time(exc)", OUTER), 30);
}
END_TEST

/* Threads side by side below one scope, or a scope that is still open the tenth time: nothing is less
 * than nothing, and nothing is less than what is in it. */
START_TEST(host_time_side_by_side)
{
	uint32_t outer = node(SESSION_ROOT, "outer"), inner = node(outer, "inner");

	add_number(outer, METRIC_CPU_TIME, 100);
	add_number(inner, METRIC_CPU_TIME, 180);
	open_world(GROUP_NONE);
	ck_assert_double_eq(at("cpu_time(exc)", outer), 0);
	ck_assert_double_eq(at("cpu_time", outer), 180);
	ck_assert_double_eq(at("cpu_time", inner), 180);
	ck_assert_double_eq(at("cpu_time", 0), 180);
}
END_TEST

/* A scope that was open at a reset ends with time from before it: what is its own since is not known. */
START_TEST(host_time_after_reset)
{
	make_host();
	snapshot_reset(w.snap, false);
	add_number(OUTER, METRIC_CPU_TIME, 50);
	ck_assert_int_eq(snapshot_update(w.snap, 2), 0);
	numbers_update(w.numbers, NULL);
	ck_assert_double_eq(at("cpu_time", OUTER), 50);
	assert_same(at("cpu_time(exc)", OUTER), NAN);
}
END_TEST

/* A filter of the screen hides what it leaves out. */
START_TEST(host_time_of_hidden)
{
	uint8_t mask[] = {1, 1, 1, 1, 0, 1, 0, 0, 0};

	make_host();
	snapshot_mask(w.snap, mask);
	numbers_update(w.numbers, NULL);
	ck_assert_double_eq(at("cpu_time", 0), 90);
	ck_assert_double_eq(at("cpu_time", REC), 30);
	ck_assert_double_eq(at("cpu_time(exc)", REC), 30);
}
END_TEST

static double percentile(const uint32_t *nodes, uint32_t n, bool inclusive, enum usual_column which)
{
	const struct number_set set = {
		.nodes = nodes, .n = n, .n_outer = n, .inclusive = inclusive};
	return set_value(&usual_columns[which].derived, &set, &set);
}

/* Percentiles of a set are those of its histograms together. */
START_TEST(sets_percentiles)
{
	uint32_t scope = node(SESSION_ROOT, "s"), k[2];
	uint8_t kept[] = {0, 1, 1, 0};

	k[0] = node(scope, "k");
	k[1] = node(SESSION_ROOT, "k");
	for (unsigned i = 0; i < 2; i++) {
		set_time(k[i], i ? 128000 : 9000, i ? 2 : 9);
		count_ns(w.s, k[i], SESSION_NONE, i ? 64000 : 1000, i ? 2 : 9);
	}
	open_world(GROUP_NONE);
	ck_assert_uint_eq(hist_bin((uint64_t)percentile(k, 2, false, USUAL_P50)), hist_bin(1000));
	ck_assert_uint_eq(hist_bin((uint64_t)percentile(k, 2, false, USUAL_P99)), hist_bin(64000));
	ck_assert(isnan(percentile(&scope, 1, false, USUAL_P99)));
	ck_assert_uint_eq(hist_bin((uint64_t)percentile(&scope, 1, true, USUAL_P99)),
			  hist_bin(1000));
	numbers_update(w.numbers, kept);
	ck_assert_uint_eq(hist_bin((uint64_t)percentile(k, 2, false, USUAL_P99)), hist_bin(1000));
}
END_TEST

/* What was executed once counts with the rest. At the end, some of them are no percentile of all. */
START_TEST(percentiles_of_all)
{
	uint32_t a = node(SESSION_ROOT, "a"), k[3];

	k[0] = node(a, "k");
	k[1] = node(node(a, "b"), "k");
	k[2] = node(SESSION_ROOT, "k");
	set_time(k[0], 9000, 9);
	set_time(k[1], 70001, 1);
	set_time(k[2], 20000, 20); /* and nobody knows how long each took */
	count_ns(w.s, k[0], SESSION_NONE, 1000, 9);
	w.s->ended = true;
	open_world(GROUP_NONE);
	ck_assert_double_eq_tol(percentile(&k[1], 1, false, USUAL_P50), 70001, 2);
	ck_assert_double_eq_tol(percentile(&a, 1, true, USUAL_P50), 1000,
				4);                                     /* to 1007, of its bin */
	ck_assert_double_eq(percentile(&a, 1, true, USUAL_P99), 70002); /* the longest */
	ck_assert_double_eq_tol(percentile(k, 2, false, USUAL_P50), 1000, 4);
	ck_assert(isnan(percentile(k, 3, false, USUAL_P50)));
	ck_assert(isnan(of_frame(w.s->nodes[k[0]].frame, USUAL_P99)));
	ck_assert_double_eq_tol(samples_covered(w.s), 10.0 / 30, 1e-9);
	/* … but those of half of them are shown, and said to be that. */
	session_row_set(w.s, session_first_row(w.s, k[2]), 1, (union metric_value){.u64 = 9});
	snapshot_update(w.snap, 0);
	numbers_update(w.numbers, NULL);
	ck_assert_double_eq_tol(samples_covered(w.s), 10.0 / 19, 1e-9);
	ck_assert_double_eq_tol(percentile(k, 3, false, USUAL_P50), 1000, 4);
	session_row_set(w.s, session_first_row(w.s, k[2]), 1, (union metric_value){.u64 = 1});
	session_row_set(w.s, session_first_row(w.s, k[0]), 1, (union metric_value){.u64 = 10});
	snapshot_update(w.snap, 0);
	numbers_update(w.numbers, NULL);
	ck_assert_double_eq_tol(samples_covered(w.s), 11.0 / 12, 1e-9);
	ck_assert_double_eq_tol(percentile(k, 2, false, USUAL_P50), 1000, 4);
	session_row_set(w.s, session_first_row(w.s, k[2]), 1, (union metric_value){.u64 = 20});
	session_row_set(w.s, session_first_row(w.s, k[0]), 1, (union metric_value){.u64 = 9});
	snapshot_update(w.snap, 0);
	numbers_update(w.numbers, NULL);
	w.s->ended = false; /* more comes: those of now */
	ck_assert_double_gt(of_frame(w.s->nodes[k[0]].frame, USUAL_P99), 60000);
	ck_assert_double_eq_tol(percentile(k, 3, false, USUAL_P50), 1000, 4);
	/* which executions have come since a reset is not known, as of MIN and MAX */
	snapshot_reset(w.snap, false);
	numbers_update(w.numbers, NULL);
	ck_assert(isnan(percentile(k, 3, false, USUAL_P50)));
	ck_assert(isnan(percentile(k, 3, false, USUAL_STDDEV)));
	snapshot_reset(w.snap, true);
	numbers_update(w.numbers, NULL);
	ck_assert_double_eq_tol(percentile(k, 3, false, USUAL_P50), 1000, 4);
}
END_TEST

/* The spread of durations: exact where the shortest and the longest are all there is. */
START_TEST(deviation_of_sets)
{
	uint32_t k = node(SESSION_ROOT, "k"), many = node(SESSION_ROOT, "many");
	uint32_t row = session_row_intern(w.s, k, 0, 0, SET_KERNEL);
	const uint64_t values[] = {4000, 2, 1000, 3000};

	for (unsigned i = 0; i < 4; i++)
		session_row_set(w.s, row, i, (union metric_value){.u64 = values[i]});
	count_ns(w.s, k, SESSION_NONE, 1000, 1);
	count_ns(w.s, k, SESSION_NONE, 3000, 1);
	set_time(many, 1000000, 1000);
	count_ns(w.s, many, SESSION_NONE, 1000, 1000);
	open_world(GROUP_NONE);
	ck_assert_double_eq(percentile(&k, 1, false, USUAL_STDDEV), 1000);
	ck_assert_double_lt(percentile(&many, 1, false, USUAL_STDDEV), 2); /* 1000 to 1001 */
	ck_assert_double_eq(derived("stddev/us", &(struct number_set){&k, 1, 1, false, false},
				    &(struct number_set){&k, 1, 1, false, false}),
			    1);
}
END_TEST

/* All took about as long, and have one bin: as far apart as the shortest and the longest allow. */
START_TEST(deviation_within_a_bin)
{
	uint32_t k = node(SESSION_ROOT, "k"), row = session_row_intern(w.s, k, 0, 0, SET_KERNEL);
	const uint64_t values[] = {763000 * 1000u, 1000, 760100, 765900};
	double half;

	for (unsigned i = 0; i < 4; i++)
		session_row_set(w.s, row, i, (union metric_value){.u64 = values[i]});
	ck_assert_uint_eq(hist_bin(760100), hist_bin(765900));
	count_ns(w.s, k, SESSION_NONE, 763000, 1000);
	open_world(GROUP_NONE);
	ck_assert_double_eq_tol(percentile(&k, 1, false, USUAL_STDDEV), 5800 / sqrt(12), 5);
	half = percentile(&k, 1, false, USUAL_P50);
	ck_assert(half > 760100 && half < 765900);
	ck_assert_double_le(fabs(half - 763000), 5800 / sqrt(12));
	/* Most are near the longest: how far from it, the bin does not tell. */
	session_row_set(w.s, row, 0, (union metric_value){.u64 = 765800 * 1000u});
	ck_assert_int_eq(snapshot_update(w.snap, 0), 0);
	numbers_update(w.numbers, NULL);
	ck_assert(isnan(percentile(&k, 1, false, USUAL_STDDEV)));
}
END_TEST

/* A histogram that two streams have together is counted once. */
START_TEST(sets_percentiles_grouped)
{
	static const char word[] = "p99";
	uint32_t k = node(SESSION_ROOT, "k"), nodes[2];
	struct derived m;
	const double *v;

	set_time_on(k, lane_on(0, 7), 4000, 4);
	set_time_on(k, lane_on(0, 8), 4000, 4);
	count_ns(w.s, k, 0, 1000, UINT32_MAX);
	open_world(GROUP_STREAM);
	nodes[0] = in_group(0);
	nodes[1] = in_group(1);
	ck_assert_uint_ne(nodes[0], nodes[1]);
	ck_assert_uint_eq(hist_bin((uint64_t)percentile(nodes, 2, false, USUAL_P50)),
			  hist_bin(1000));
	ck_assert_int_eq(derive_parse(w.s, word, strlen(word), &m), 0);
	v = derive_column(numbers_derive(w.numbers), &m);
	ck_assert_uint_eq(hist_bin((uint64_t)v[0]), hist_bin(1000));
	ck_assert_uint_eq(hist_bin((uint64_t)v[nodes[1]]), hist_bin(1000));
}
END_TEST

/* ---- random trees ---- */

/* Time of all holders on whose path, from the top, `f` calls `g` at least once; f < 0: g is there. */
static double by_path(int f, int g)
{
	const double *own = derive_raw(numbers_derive(w.numbers), METRIC_TIME, false);
	double sum = NAN;

	for (uint32_t id = 0; id < snapshot_n(w.snap); id++) {
		bool found = false;

		if (!own || isnan(own[id]))
			continue;
		for (uint32_t at = id; at != SNAP_NONE && at != 0;
		     at = snapshot_node(w.snap, at)->parent) {
			uint32_t up = snapshot_node(w.snap, at)->parent;
			int is = name(at)[0] - 'a', by = up ? name(up)[0] - 'a' : -1;

			found |= is == g && (f < 0 || by == f);
		}
		if (found)
			sum = isnan(sum) ? own[id] : sum + own[id];
	}
	return sum;
}

static void make_random(unsigned seed)
{
	uint32_t ids[200] = {SESSION_ROOT}, n = 1;

	srand(seed);
	for (unsigned i = 1; i < 200; i++) {
		char letter[2] = {(char)('a' + rand() % 5), '\0'};
		uint32_t id = node(ids[(uint32_t)rand() % n], letter);

		ids[n++] = id;
		if (rand() % 3)
			set_time(id, (uint64_t)(1 + rand() % 100), 1);
	}
	open_world(GROUP_NONE);
}

/* Own time of what is called `g` where `f` calls it; f < 0: anywhere. */
static double by_edge(int f, int g)
{
	const double *own = derive_raw(numbers_derive(w.numbers), METRIC_TIME, false);
	double sum = NAN;

	for (uint32_t id = 1; own && id < snapshot_n(w.snap); id++) {
		uint32_t up = snapshot_node(w.snap, id)->parent;

		if (isnan(own[id]) || name(id)[0] - 'a' != g ||
		    (f >= 0 && (up == 0 || name(up)[0] - 'a' != f)))
			continue;
		sum = isnan(sum) ? own[id] : sum + own[id];
	}
	return sum;
}

START_TEST(callers_random)
{
	struct callers *c;

	make_random((unsigned)_i + 1);
	c = callers_new(w.snap, w.numbers);
	for (uint32_t id = 1; id < snapshot_n(w.snap); id++) {
		int f = name(id)[0] - 'a';

		ck_assert_int_eq(callers_update(c, id), 0);
		ck_assert_double_eq(of_edge(c, 0, USUAL_TOTAL), by_path(-1, f));
		for (uint32_t i = 1; i < callers_n(c); i++) {
			const struct callers_row *r = callers_row(c, i);
			int other = name(r->example)[0] - 'a';
			bool by = r->side == CALLERS_CALLER;

			if (r->side == CALLERS_ITSELF)
				assert_same(of_edge(c, i, USUAL_TOTAL), by_edge(-1, f));
			if (r->side == CALLERS_ITSELF || !strcmp(name(r->example), "ROOT"))
				continue;
			assert_same(of_edge(c, i, USUAL_TOTAL),
				    by ? by_path(other, f) : by_path(f, other));
			assert_same(of_edge(c, i, USUAL_SELF),
				    by ? by_edge(other, f) : by_edge(f, other));
		}
	}
	callers_free(c);
}
END_TEST

/* Time at and below what holds time itself and is called `g`. */
static double below_holders(int g)
{
	const double *own = derive_raw(numbers_derive(w.numbers), METRIC_TIME, false);
	double sum = 0;

	for (uint32_t id = 1; own && id < snapshot_n(w.snap); id++) {
		uint32_t at = id;

		while (at != 0 && (isnan(own[at]) || name(at)[0] - 'a' != g))
			at = snapshot_node(w.snap, at)->parent;
		if (at != 0 && !isnan(own[id]))
			sum += own[id];
	}
	return sum;
}

/* Callers part what they call: children make up their parent. */
START_TEST(bottom_up_random)
{
	struct bottom_up *b;
	double roots = 0;

	make_random((unsigned)_i + 100);
	b = bottom_up_new(w.snap, w.numbers);
	ck_assert_int_eq(bottom_up_update(b), 0);
	for (uint32_t i = 0; i < bottom_up_n(b); i++) {
		const struct bottom_up_node *n;
		uint32_t pairs = 0;
		double sum = 0;

		ck_assert_int_eq(bottom_up_open(b, i), 0);
		n = bottom_up_node(b, i);
		for (uint32_t k = 0; k < n->n_children; k++) {
			sum += up(b, n->first_child + k, USUAL_SELF);
			pairs += bottom_up_node(b, n->first_child + k)->n;
		}
		ck_assert(n->has_callers == (n->n_children > 0));
		if (n->has_callers) {
			ck_assert_uint_eq(pairs, n->n);
			ck_assert_double_eq(sum, up(b, i, USUAL_SELF));
		}
		if (n->depth == 1)
			assert_same(up(b, i, USUAL_TOTAL),
				    below_holders(name(bottom_up_example(b, i))[0] - 'a'));
		if (i == 0)
			roots = sum;
	}
	ck_assert_double_eq(roots, snapshot_column(w.snap, METRIC_TIME, true)->v[0]);
	bottom_up_free(b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("views");
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, bottom_up_small);
	tcase_add_test(c, bottom_up_kept);
	tcase_add_test(c, bottom_up_empty);
	tcase_add_test(c, callers_small);
	tcase_add_test(c, roofline_points);
	tcase_add_test(c, counted_rates);
	tcase_add_loop_test(c, counted_util, 0, 2);
	tcase_add_test(c, counted_after_given);
	tcase_add_test(c, counted_by_cores);
	tcase_add_loop_test(c, bound_of_one_kind, 0, 3);
	tcase_add_test(c, counted_in_part);
	tcase_add_test(c, counted_ranges);
	tcase_add_test(c, roofline_of_no_time);
	tcase_add_test(c, counted_tensors);
	tcase_add_test(c, durations_of);
	tcase_add_test(c, durations_filtered);
	tcase_add_test(c, durations_grouped);
	tcase_add_test(c, durations_of_frames);
	tcase_add_test(c, sets_derived);
	tcase_add_test(c, host_time_is_nested);
	tcase_add_test(c, host_time_of_views);
	tcase_add_test(c, host_time_of_some);
	tcase_add_test(c, host_time_side_by_side);
	tcase_add_test(c, host_time_of_hidden);
	tcase_add_test(c, host_time_after_reset);
	tcase_add_test(c, sets_percentiles);
	tcase_add_test(c, sets_percentiles_grouped);
	tcase_add_test(c, percentiles_of_all);
	tcase_add_test(c, deviation_of_sets);
	tcase_add_test(c, deviation_within_a_bin);
	tcase_add_loop_test(c, callers_random, 0, 4);
	tcase_add_loop_test(c, bottom_up_random, 0, 10);
	suite_add_tcase(s, c);
	return check_run(s);
}
