/* SPDX-License-Identifier: MIT */
/* Tests of derived metrics: the numbers that Triton's viewer prints for its own example files. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/util.h"
#include "check_main.h"
#include "core/column.h"
#include "core/derive.h"
#include "core/samples.h"
#include "format/format.h"
#include "count_ns.h"

#define CUDA TEST_SRCDIR "/tests/hatchet/upstream-cuda.json"
#define HIP  TEST_SRCDIR "/tests/hatchet/upstream-hip.json"

static const struct {
	const char *path, *name;
	double values[4]; /* ROOT, foo0, foo1, foo2 */
} anchors[] = {
	{CUDA, "util", {NAN, 0.247044, 0.147830, 0.118451}},
	{CUDA, "byte/s", {1.953125e11, 4.8828125e11, 4.8828125e10, 4.8828125e10}},
	{CUDA, "gbyte/s", {195.3125, 488.28125, 48.828125, 48.828125}},
	{CUDA, "GB/s", {195.3125, 488.28125, 48.828125, 48.828125}},
	{CUDA, "tflop8/s", {341.796875, 488.28125, 48.828125, 488.28125}},
	{CUDA, "avg_time/us", {51.2, 20.48, 204.8, 204.8}},
	{CUDA, "time/s", {614.4e-6, 204.8e-6, 204.8e-6, 204.8e-6}},
	{CUDA, "TIME/NS", {614400, 204800, 204800, 204800}},
	{CUDA, "time (ns)/min", {1.024e-5, 1.024e-5 / 3, 1.024e-5 / 3, 1.024e-5 / 3}},
	{CUDA, "time/%", {100, 100.0 / 3, 100.0 / 3, 100.0 / 3}},
	{CUDA, "count/%parent", {100, 1000.0 / 12, 100.0 / 12, 100.0 / 12}},
	{CUDA, "count(exc)", {NAN, 10, 1, 1}},
	{CUDA, "time/us(exc)", {NAN, 204.8, 204.8, 204.8}},
	{CUDA, "time(exc)/%", {NAN, NAN, NAN, NAN}},
	{CUDA, "bytes/MB", {120, 100, 10, 10}},
	{CUDA, "bytes/MiB", {120e6 / 0x1p20, 100e6 / 0x1p20, 10e6 / 0x1p20, 10e6 / 0x1p20}},
	{CUDA, "bytes/k", {120e3, 100e3, 10e3, 10e3}},
	{CUDA, "bound", {NAN, BOUND_NEITHER, BOUND_NEITHER, BOUND_NEITHER}},
	{HIP, "util", {NAN, 0.187, 0.270, 1.058}},
	{HIP, "bound", {NAN, BOUND_NEITHER, BOUND_NEITHER, BOUND_COMPUTE}},
	{HIP, "tflop8/s", {1806.640625, 488.28125, 48.828125, 4882.8125}},
};

struct fixture {
	struct session *s;
	struct snapshot *snap;
	struct peaks *peaks;
	struct derive *d;
};

static void open_file(struct fixture *f, const char *path)
{
	static const struct snapshot_spec spec;
	struct format_error error = {0};

	ck_assert_msg(format_load(path, &f->s, &error) == 0, "%s", error.reason);
	f->snap = snapshot_new(f->s, &spec);
	ck_assert_int_eq(snapshot_update(f->snap, 1), 0);
	f->peaks = peaks_new();
	ck_assert_ptr_nonnull(f->peaks);
	f->d = derive_new(f->snap, f->peaks);
}

static void close_file(struct fixture *f)
{
	derive_free(f->d);
	peaks_free(f->peaks);
	snapshot_free(f->snap);
	session_free(f->s);
}

START_TEST(upstreams_numbers)
{
	const char *name = anchors[_i].name;
	const double *v, *want = anchors[_i].values;
	struct derived m;
	/* The anchors of HIP are known to three digits. */
	double tolerance = strcmp(anchors[_i].path, HIP) ? 0 : 5e-4;
	struct fixture f;
	int r;

	open_file(&f, anchors[_i].path);
	r = derive_parse(f.s, name, strlen(name), &m);
	if (isnan(want[1])) {
		ck_assert_int_lt(r, 0);
		close_file(&f);
		return;
	}
	ck_assert_msg(r == 0, "%s: %d", name, r);
	v = derive_column(f.d, &m);
	ck_assert_ptr_nonnull(v);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_msg(isnan(want[i])
				      ? isnan(v[i])
				      : fabs(v[i] - want[i]) <= tolerance + fabs(want[i]) * 1e-5,
			      "%s of %u: %g, not %g", name, i, v[i], want[i]);
	close_file(&f);
}
END_TEST

START_TEST(what_is_no_metric)
{
	static const struct {
		const char *name;
		int error;
	} wrong[] = {{"nonsense", -ENOENT},    {"", -ENOENT},
		     {"bytes/XB", -EINVAL},    {"time/MB", -EINVAL},
		     {"avg_nothing", -ENOENT}, {"p101", -ENOENT},
		     {"p50/MB", -EINVAL},      {"zflop/s", -ENOENT}};
	struct derived m;
	struct fixture f;

	open_file(&f, CUDA);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		ck_assert_msg(derive_parse(f.s, wrong[i].name, strlen(wrong[i].name), &m) ==
				      wrong[i].error,
			      "%s", wrong[i].name);
	close_file(&f);
}
END_TEST

/* A node's value is that of the column, however it is asked for. */
START_TEST(nodes_one_by_one)
{
	const char *name = anchors[_i].name;
	struct derived_terms terms = {0};
	const double *v;
	struct derived m;
	struct fixture f;

	open_file(&f, anchors[_i].path);
	if (derive_parse(f.s, name, strlen(name), &m) == 0) {
		v = derive_column(f.d, &m);
		for (uint32_t i = 0; i < snapshot_n(f.snap); i++) {
			double one = derive_at(f.d, &m, &terms, i, 0);

			ck_assert_msg((isnan(v[i]) && isnan(one)) ||
					      fabs(one - v[i]) <= fabs(v[i]) * 1e-12,
				      "%s of %u: %g, not %g", name, i, one, v[i]);
		}
	}
	close_file(&f);
}
END_TEST

/* Each usual column is found by its title, in any case, and by no other one's. */
START_TEST(columns_by_title)
{
	struct session *s = session_new();
	struct column_spec spec;
	char low[32];

	for (int i = 0; i < USUAL_N; i++) {
		const char *title = usual_columns[i].title;

		ck_assert_int_eq(column_parse(s, title, strlen(title), &spec), 0);
		ck_assert_ptr_eq(spec.title, title);
		for (size_t k = 0; k <= strlen(title); k++)
			low[k] = (char)tolower((unsigned char)title[k]);
		ck_assert_int_eq(column_parse(s, low, strlen(low), &spec), 0);
		ck_assert_ptr_eq(spec.title, title);
	}
	ck_assert_int_eq(column_parse(s, "", 0, &spec), -ENOENT);
	ck_assert_int_eq(column_parse(s, "TOTA", 4, &spec), -ENOENT);
	ck_assert_int_eq(column_parse(s, "TOTALS", 6, &spec), -ENOENT);
	session_free(s);
}
END_TEST

START_TEST(columns_that_are_near)
{
	static const struct {
		const char *words, *unknown, *near;
		int why;
	} wrong[] = {
		{"total,tme/ms", "tme/ms", "time", -ENOENT},
		{"clls", "clls", "CALLS", -ENOENT},
		{"time/parsec,x", "time/parsec,x", "time, time_min, time_max", -EINVAL},
		{"wxyz", "wxyz", "", -ENOENT},
		{"total,,%", ",%", NULL, -ENOENT},
	};
	struct fixture f;
	char near[64];
	size_t len;
	int why;

	open_file(&f, CUDA);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		const char *word =
			column_unknown(f.s, wrong[i].words, &len, &why, near, sizeof(near));

		ck_assert_str_eq(word, wrong[i].unknown);
		ck_assert_int_eq(why, wrong[i].why);
		if (wrong[i].near)
			ck_assert_str_eq(near, wrong[i].near);
	}
	ck_assert_ptr_null(column_unknown(f.s, "gb/s,time [inclusive],p99/us,stddev", &len, &why,
					  near, sizeof(near)));
	column_unknown(f.s, "clls", &len, &why, near, 4); /* no room for a name */
	ck_assert_str_eq(near, "");
	close_file(&f);
}
END_TEST

/* Three kernels on three devices: each below its own. */
START_TEST(util_below_groups)
{
	static const double want[] = {0.247044, 0.147830, 0.118451};
	struct fixture f;
	struct derived m;
	const double *v;
	unsigned n = 0;

	open_file(&f, CUDA);
	ck_assert_int_eq(snapshot_regroup(f.snap, GROUP_DEVICE), 0);
	derive_masks(f.d, NULL, NULL, TOTALS_OF_SHOWN);
	ck_assert_int_eq(derive_parse(f.s, "util", 4, &m), 0);
	v = derive_column(f.d, &m);
	for (uint32_t i = 0; i < snapshot_n(f.snap); i++)
		if (snapshot_node(f.snap, i)->kind == FRAME_KERNEL)
			ck_assert_double_eq_tol(v[i], want[n++], 1e-6);
		else
			ck_assert_double_nan(v[i]);
	ck_assert_uint_eq(n, 3);
	close_file(&f);
}
END_TEST

/* A node below a parent, with time on the device, or without (0). */
static uint32_t timed(struct session *s, uint32_t parent, const char *name, uint64_t time_ns)
{
	uint32_t node = session_node(s, parent, FRAME_KERNEL, name);

	if (time_ns)
		session_add(s, node, 0, 0, METRIC_TIME, (union metric_value){.u64 = time_ns});
	return node;
}

/* Copies are as fast as they are, whatever kernels stand beside them; and what a program says of a
 * scope is of the work within, not of that beside it. */
START_TEST(rates_are_over_what_has_them)
{
	static const struct snapshot_spec spec;
	struct session *s = session_new();
	uint32_t step = timed(s, SESSION_ROOT, "step", 0);
	uint32_t copy = timed(s, step, "copy", 200), kernel = timed(s, step, "kernel", 1000);
	struct fixture f = {.s = s};
	struct derived bytes, flops;
	const double *v;

	timed(s, SESSION_ROOT, "beside", 5000);
	session_add(s, copy, 0, 0, METRIC_BYTES, (union metric_value){.u64 = 400});
	session_add(s, step, 0, 0, METRIC_FLOPS, (union metric_value){.f64 = 2400});
	f.snap = snapshot_new(s, &spec);
	ck_assert_int_eq(snapshot_update(f.snap, 1), 0);
	f.d = derive_new(f.snap, NULL);
	ck_assert_int_eq(derive_parse(s, "gbyte/s", 7, &bytes), 0);
	ck_assert_int_eq(derive_parse(s, "gflop/s", 7, &flops), 0);
	v = derive_column(f.d, &bytes);
	ck_assert_double_eq_tol(v[SESSION_ROOT], 2, 1e-12);
	ck_assert_double_eq_tol(v[step], 2, 1e-12);
	ck_assert_double_nan(v[kernel]);
	v = derive_column(f.d, &flops);
	ck_assert_double_eq_tol(v[SESSION_ROOT], 2, 1e-12);
	ck_assert_double_eq_tol(v[step], 2, 1e-12);
	ck_assert_double_nan(v[copy]);
	/* Triton's viewer divides by all time. */
	derive_masks(f.d, NULL, NULL, TOTALS_UPSTREAM);
	ck_assert_double_eq_tol(derive_column(f.d, &bytes)[step], 400.0 / 1200, 1e-12);
	close_file(&f);
}
END_TEST

/* What stands beside a rate does not contradict it: 2 of 4 GB/s, 2 of 10 Gflop/s, whatever ran beside. */
START_TEST(util_is_a_rate_by_its_peak)
{
	static const struct snapshot_spec spec;
	struct session *s = session_new();
	const struct session_device device = {.type = strtab_adds(s->strings, "CUDA"),
					      .arch = strtab_adds(s->strings, "90"),
					      .num_sms = 1,
					      .clock_khz = 1000000};
	const struct session_lane lane = {SESSION_NONE, session_device_intern(s, &device), 0, 0, 0};
	struct fixture f = {.s = s};
	uint32_t step, copy, kernel;
	struct derived util, bound;
	unsigned line;
	const double *v;

	session_lane_intern(s, &lane);
	step = timed(s, SESSION_ROOT, "step", 0);
	copy = timed(s, step, "copy", 200);
	kernel = timed(s, step, "kernel", 1000);
	timed(s, SESSION_ROOT, "beside", 5000);
	session_add(s, copy, 0, 0, METRIC_BYTES, (union metric_value){.u64 = 400});
	session_add(s, step, 0, 0, METRIC_FLOPS8 + 1, (union metric_value){.f64 = 2400});
	f.snap = snapshot_new(s, &spec);
	ck_assert_int_eq(snapshot_update(f.snap, 1), 0);
	f.peaks = peaks_new();
	ck_assert_int_eq(peaks_parse(f.peaks, "CUDA 90 - 10 - - 4G\n", &line), 0);
	f.d = derive_new(f.snap, f.peaks);
	ck_assert_int_eq(derive_parse(s, "util(inc)", 9, &util), 0);
	ck_assert_int_eq(derive_parse(s, "bound(inc)", 10, &bound), 0);
	v = derive_column(f.d, &util);
	ck_assert_double_eq_tol(v[copy], 0.5, 1e-12);
	ck_assert_double_eq_tol(v[step], 0.5, 1e-12);
	ck_assert_double_eq_tol(v[SESSION_ROOT], 0.5, 1e-12);
	ck_assert_double_nan(v[kernel]);
	ck_assert_double_eq_tol(derive_column(f.d, &bound)[SESSION_ROOT], BOUND_NEITHER, 1e-12);
	session_add(s, step, 0, 0, METRIC_FLOPS8 + 1, (union metric_value){.f64 = 8400});
	ck_assert_int_eq(snapshot_update(f.snap, 2), 0);
	derive_masks(f.d, NULL, NULL, TOTALS_OF_SHOWN);
	ck_assert_double_eq_tol(derive_column(f.d, &util)[SESSION_ROOT], 0.9, 1e-12);
	ck_assert_double_eq_tol(derive_column(f.d, &bound)[step], BOUND_COMPUTE, 1e-12);
	close_file(&f);
}
END_TEST

/* 100 SMs or CUs at 1 GHz, so that a rate a clock is 1e11 a second. */
START_TEST(peaks_of_devices)
{
	static const struct {
		const char *type, *arch;
		double flops[PEAK_WIDTHS], memory;
	} known[] = {
		{"CUDA", "35", {NAN, NAN, 384e11, 128e11}, 100e9},
		{"CUDA", "61", {NAN, 4e11, 256e11, 8e11}, 100e9},
		{"CUDA", "70", {NAN, 1024e11, 128e11, 64e11}, 100e9},
		{"CUDA", "75", {2048e11, 1024e11, 128e11, 4e11}, 100e9},
		{"CUDA", "80", {624e12, 312e12, 156e12, 19.5e12}, 100e9},
		{"CUDA", "100", {16384e11, 8192e11, 4096e11, 128e11}, 100e9},
		{"CUDA", "103", {16384e11, 8192e11, 4096e11, 4e11}, 100e9},
		{"CUDA", "110", {16384e11, 8192e11, 4096e11, 4e11}, 100e9},
		{"CUDA", "120", {2048e11, 1024e11, 256e11, 4e11}, 100e9},
		{"CUDA", "121", {NAN, NAN, 256e11, 4e11}, 100e9},
		{"CUDA", "999", {NAN, NAN, NAN, NAN}, 100e9},
		{"HIP", "gfx906", {512e11, 256e11, 128e11, 64e11}, 1.024e12},
		{"HIP", "gfx942", {4096e11, 2048e11, 1024e11, 256e11}, 5.3e12},
		{"HIP", "gfx1100", {1024e11, 1024e11, 512e11, NAN}, NAN},
		{"HIP", "gfx1151", {1024e11, 1024e11, NAN, NAN}, NAN},
		{"HIP", "gfx1201", {4096e11, 2048e11, 512e11, NAN}, NAN},
		{"HIP", "gfx9999", {NAN, NAN, NAN, NAN}, NAN},
	};
	struct session *s = session_new();
	struct peaks *peaks = peaks_new();

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct session_device d = {
			.type = strtab_adds(s->strings, known[i].type),
			.arch = strtab_adds(s->strings, known[i].arch),
			.num_sms = 100,
			.clock_khz = 1000000,
			.memory_clock_khz = 1000000,
			.bus_width_bits = 400,
		};
		uint32_t device = session_device_intern(s, &d);

		for (unsigned w = 0; w < PEAK_WIDTHS; w++) {
			double v = peaks_flops(peaks, s, device, w);

			ck_assert_msg(isnan(known[i].flops[w]) ? isnan(v) : v == known[i].flops[w],
				      "%s, %u bits: %g", known[i].arch, 8u << w, v);
		}
		if (isnan(known[i].memory))
			ck_assert_double_nan(peaks_bandwidth(peaks, s, device));
		else
			ck_assert_double_eq_tol(peaks_bandwidth(peaks, s, device), known[i].memory,
						1);
	}
	peaks_free(peaks);
	session_free(s);
}
END_TEST

START_TEST(peaks_can_be_given)
{
	struct derived m;
	struct fixture f;
	unsigned line;

	open_file(&f, CUDA);
	ck_assert_int_eq(derive_parse(f.s, "util", 4, &m), 0);
	ck_assert_int_eq(peaks_parse(f.peaks, "# mine\nCUDA 90 - - - - 488.28125G # half\n", &line),
			 0);
	ck_assert_double_eq_tol(derive_column(f.d, &m)[1], 1, 1e-9);
	/* Its operations have no roof now: said, once. */
	ck_assert_ptr_nonnull(strstr(derive_why(f.d), "CUDA 90"));
	ck_assert_int_eq(peaks_parse(f.peaks, "CUDA 89 1 1 1 1 bus\nCUDA 90 1 1 1\n", &line),
			 -EINVAL);
	ck_assert_uint_eq(line, 2);
	ck_assert_int_eq(peaks_parse(f.peaks, "CUDA 89 -1 1 1 1 bus\n", &line), -EINVAL);
	ck_assert_int_eq(peaks_parse(f.peaks, "CUDA 89 1 1 1 1 12\n", &line), -EINVAL);
	close_file(&f);
}
END_TEST

START_TEST(percentiles_come_from_histograms)
{
	static const struct snapshot_spec spec;
	struct session *s = session_new();
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_KERNEL, "k");
	struct fixture f = {.s = s};
	struct derived m;

	count_ns(s, node, SESSION_NONE, 1024, 99);
	count_ns(s, node, SESSION_NONE, 1 << 20, 1);
	s->ended = true;
	f.snap = snapshot_new(s, &spec);
	ck_assert_int_eq(snapshot_update(f.snap, 1), 0);
	f.d = derive_new(f.snap, NULL);
	ck_assert_int_eq(derive_parse(s, "p50", 3, &m), 0);
	ck_assert_double_lt(derive_column(f.d, &m)[0], 2048);
	ck_assert_int_eq(derive_parse(s, "time_p100/us", 12, &m), 0);
	ck_assert_double_gt(derive_column(f.d, &m)[node], 1000);
	close_file(&f);
}
END_TEST

/* Who was killed has percentiles of what came, which is said; of less than half of a row there are none. */
START_TEST(percentiles_of_a_part)
{
	static const struct snapshot_spec spec;
	struct session *s = session_new();
	uint32_t most = session_node(s, SESSION_ROOT, FRAME_KERNEL, "most");
	uint32_t few = session_node(s, SESSION_ROOT, FRAME_KERNEL, "few");
	struct fixture f = {.s = s};
	char text[SAMPLES_TEXT_MAX];
	struct derived m;

	count_ns(s, most, SESSION_NONE, 1024, 60);
	count_ns(s, few, SESSION_NONE, 1024, 40);
	for (uint32_t node = most; node <= few; node++) {
		uint32_t row = session_row_intern(s, node, 0, 0, SET_KERNEL);

		session_row_set(s, row, 0, (union metric_value){.u64 = 102400});
		session_row_set(s, row, 1, (union metric_value){.u64 = 100});
	}
	s->ended = true;
	f.snap = snapshot_new(s, &spec);
	ck_assert_int_eq(snapshot_update(f.snap, 1), 0);
	f.d = derive_new(f.snap, NULL);
	ck_assert_int_eq(derive_parse(s, "p50", 3, &m), 0);
	ck_assert_double_gt(derive_column(f.d, &m)[most], 1000);
	ck_assert_double_nan(derive_column(f.d, &m)[few]);
	ck_assert(samples_text(s, text));
	ck_assert_ptr_nonnull(strstr(text, "percentiles are of 50.0 % of the executions"));
	close_file(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("derive");
	TCase *tc = tcase_create("derive");

	tcase_add_loop_test(tc, upstreams_numbers, 0, ARRAY_SIZE(anchors));
	tcase_add_loop_test(tc, nodes_one_by_one, 0, ARRAY_SIZE(anchors));
	tcase_add_test(tc, columns_by_title);
	tcase_add_test(tc, columns_that_are_near);
	tcase_add_test(tc, what_is_no_metric);
	tcase_add_test(tc, peaks_can_be_given);
	tcase_add_test(tc, peaks_of_devices);
	tcase_add_test(tc, util_below_groups);
	tcase_add_test(tc, rates_are_over_what_has_them);
	tcase_add_test(tc, util_is_a_rate_by_its_peak);
	tcase_add_test(tc, percentiles_come_from_histograms);
	tcase_add_test(tc, percentiles_of_a_part);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
