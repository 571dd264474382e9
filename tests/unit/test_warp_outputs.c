/* SPDX-License-Identifier: MIT */
/* Single scopes of warps in files of others (format/warps.h): Chrome traces as Triton's Proton has them, read again; what records
 * cost; the measured clock; where scopes of a profile are looked for. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"
#include "format/chrome.h"
#include "format/warp_lines.h"
#include "format/warps.h"
#include "intra/warp_file.h"

#define NONE  WARP_TRACE_NO_PARENT
#define EPOCH UINT64_C(1764201600000000000)

static struct warp_trace t, back;
static struct buf text;
static char folder[] = "/tmp/test_warp_outputs.XXXXXX";

static void setup(void)
{
	ck_assert_int_eq(warp_trace_init(&t), 0);
	ck_assert_int_eq(warp_trace_init(&back), 0);
	buf_init(&text, 0);
}

static void teardown(void)
{
	warp_trace_done(&t);
	warp_trace_done(&back);
	buf_done(&text);
}

static uint32_t name(const char *s)
{
	return strtab_adds(t.names, s);
}

static void launch(void)
{
	ck_assert_int_eq(warp_trace_add_launch(
				 &t, &(struct warp_trace_launch){.kernel = name("add_kernel"),
								 .path = name("main\nstep 3")}),
			 0);
}

static void warp(struct warp_trace_warp w, const struct warp_trace_scope *scopes, size_t n)
{
	ck_assert_int_eq(warp_trace_add_warp(&t, &w, scopes, n), 0);
}

static const char *chrome(const struct warps_write_options *o)
{
	struct out *out = malloc(sizeof(*out));

	buf_clear(&text);
	ck_assert_ptr_nonnull(out);
	out_to_buf(out, &text);
	ck_assert_int_eq(warps_chrome(&t, o, out), 0);
	ck_assert_int_eq(out_flush(out), 0);
	free(out);
	return buf_str(&text);
}

static void read_back(void)
{
	struct reader_memory memory = {.data = text.data, .len = text.len};
	struct format_error error = {0};
	struct reader_input in;

	reader_init_memory(&in, &memory);
	ck_assert_int_eq(reader_peek(&in), 0);
	ck_assert(chrome_detect(in.head, in.head_len));
	ck_assert_int_eq(chrome_read_warps(&in, &back, &error), 0);
}

/* All of an event, in the order in which Triton's Proton has its keys. */
START_TEST(a_trace_is_as_tritons_proton_has_it)
{
	const struct warp_trace_scope scopes[] = {
		{.enter = 5000, .leave = 5500, .parent = NONE, .name = name("load_and_add")},
		{.enter = 5100, .leave = 5300, .parent = 0, .name = name("load")},
	};

	launch();
	warp((struct warp_trace_warp){.warp = 2,
				      .multiprocessor = 7,
				      .block = 33,
				      .entered_ns = EPOCH + 40,
				      .left_ns = EPOCH + 700,
				      .copied_ns = EPOCH + 900},
	     scopes, 2);
	warp((struct warp_trace_warp){.block = 1, .multiprocessor = 1, .entered_ns = EPOCH}, NULL,
	     0);
	ck_assert_str_eq(
		chrome(&(struct warps_write_options){0}),
		"{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
		"{\"args\":{\"Finalization Time (ns)\":200,\"Frequency (MHz)\":1000.0,\"Init Time (ns)\":"
		"1764201600000000040,\"Post Final Time (ns)\":1764201600000000900,\"call_stack\":[\"ROOT\","
		"\"main\",\"step 3\",\"add_kernel\"]},\"cat\":\"add_kernel\",\"cname\":\"cq_build_passed\",\"dur\":0.5,"
		"\"name\":\"load_and_add\",\"ph\":\"X\",\"pid\":\"add_kernel Core7 CTA33\",\"tid\":"
		"\"warp 2 (line 0)\",\"ts\":0.04},"
		"{\"args\":{\"Finalization Time (ns)\":200,\"Frequency (MHz)\":1000.0,\"Init Time (ns)\":"
		"1764201600000000040,\"Post Final Time (ns)\":1764201600000000900,\"call_stack\":[\"ROOT\","
		"\"main\",\"step 3\",\"add_kernel\"]},\"cat\":\"add_kernel\",\"cname\":\"cq_build_failed\",\"dur\":0.2,"
		"\"name\":\"load\",\"ph\":\"X\",\"pid\":\"add_kernel Core7 CTA33\",\"tid\":\"warp 2 (line 1)\","
		"\"ts\":0.14}]}\n");
	read_back();
	ck_assert_uint_eq(back.n_launches, 1);
	ck_assert_str_eq(strtab_str(back.names, back.launches[0].kernel), "add_kernel");
	ck_assert_str_eq(strtab_str(back.names, back.launches[0].path), "main\nstep 3");
	ck_assert_uint_eq(back.n_warps, 1);
	ck_assert_uint_eq(back.warps[0].block, 33);
	ck_assert_uint_eq(back.warps[0].multiprocessor, 7);
	ck_assert_uint_eq(back.warps[0].warp, 2);
	ck_assert_uint_eq(back.n_scopes, 2);
	ck_assert_str_eq(strtab_str(back.names, back.scopes[0].name), "load_and_add");
	ck_assert_uint_eq(back.scopes[0].enter, 40);
	ck_assert_uint_eq(back.scopes[0].leave, 540);
	ck_assert_uint_eq(back.scopes[1].parent, 0);
}
END_TEST

static struct warp_lines_scope shifted[8];
static size_t n_shifted;

static int keep_first(void *ctx, struct warp_lines *l, const struct warp_lines_block *b)
{
	(void)ctx;
	ck_assert_int_eq(warp_lines_of(l, b->warps[0]), 0);
	n_shifted = l->n_scopes;
	memcpy(shifted, l->scopes, n_shifted * sizeof(*shifted));
	return 0;
}

static void shift(const struct warp_trace_scope *scopes, size_t n, bool nests)
{
	struct warp_lines l;

	launch();
	warp((struct warp_trace_warp){.block = 0}, scopes, n);
	warp_lines_init(&l, &t);
	l.cost = WARP_SHIFT_CUDA;
	l.nests = nests;
	ck_assert_int_eq(warp_lines_each(&l, keep_first, NULL), 0);
	warp_lines_done(&l);
}

/* As in a test of Triton's Proton. */
START_TEST(what_records_cost_is_taken_out)
{
	const struct warp_trace_scope scopes[] = {
		{.enter = 33, .leave = 70, .parent = NONE},
		{.enter = 54, .leave = 100, .parent = 0},
	};

	shift(scopes, 2, false);
	ck_assert_uint_eq(n_shifted, 2);
	ck_assert_int_eq(shifted[0].enter, 26);
	ck_assert_int_eq(shifted[0].leave, 49);
	ck_assert_int_eq(shifted[1].enter, 40);
	ck_assert_int_eq(shifted[1].leave, 72);
	ck_assert_uint_eq(shifted[1].line, 1);
}
END_TEST

/* Right after the clock began; an instant has one record. */
START_TEST(times_may_be_before_the_clocks_first)
{
	const struct warp_trace_scope scopes[] = {
		{.enter = 3, .leave = 5, .parent = NONE},
		{.enter = 4, .leave = 4, .parent = 0, .event = WARP_EVENT_MARK},
	};

	shift(scopes, 2, false);
	ck_assert_int_eq(shifted[0].enter, -10);
	ck_assert_int_eq(shifted[0].leave, -10);
	ck_assert_int_eq(shifted[1].enter, -4);
	ck_assert_int_eq(shifted[1].leave, -4 + 7 / 2); /* it would be before it begins */
}
END_TEST

START_TEST(what_nests_is_on_one_line)
{
	const struct warp_trace_scope scopes[] = {
		{.enter = 1000, .leave = 2000, .parent = NONE},
		{.enter = 1100, .leave = 1200, .parent = 0},
		{.enter = 1300, .leave = 2500, .parent = 0}, /* is left behind what it was entered in */
		{.enter = 1400, .leave = 1500, .parent = 2},
		{.enter = 2600, .leave = 2700, .parent = NONE},
	};
	static const uint32_t lines[] = {0, 0, 1, 0, 0}, outers[] = {NONE, 0, NONE, 0, NONE};

	shift(scopes, 5, true);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(shifted[i].line, lines[i]);
		ck_assert_uint_eq(shifted[i].outer, outers[i]);
	}
}
END_TEST

/* 1500 cycles in 1000 ns: 1.5 GHz. Each warp begins where its own pair of times says. */
START_TEST(real_time_by_the_measured_clock)
{
	const struct warp_trace_scope scope = {
		.enter = 7300, .leave = 7600, .parent = NONE, .name = name("load")};

	launch();
	warp((struct warp_trace_warp){.entered_ns = EPOCH + 100,
				      .left_ns = EPOCH + 1100,
				      .entered_clock = 7000,
				      .left_clock = 8500},
	     &scope, 1);
	chrome(&(struct warps_write_options){.in_ns = true});
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"Frequency (MHz)\":1500.0,"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"dur\":0.2,"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"ts\":0.2}"));
}
END_TEST

START_TEST(what_has_no_ends_is_not_written)
{
	const struct warp_trace_scope scope = {
		.enter = 5, .leave = 5, .parent = NONE, .is_open = true};
	struct out *out = malloc(sizeof(*out));

	launch();
	warp((struct warp_trace_warp){.block = 0}, &scope, 1);
	ck_assert_ptr_nonnull(out);
	out_to_buf(out, &text);
	ck_assert_int_eq(warps_chrome(&t, &(struct warps_write_options){0}, out), -ENODATA);
	ck_assert_int_eq(warps_perfetto(&t, &(struct warps_write_options){0}, out), -ENODATA);
	free(out);
}
END_TEST

static void put_file(const char *path, const void *data, size_t n)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, n, f), n);
	fclose(f);
}

static int put(void *ctx, const void *bytes, size_t n)
{
	buf_put(ctx, bytes, n);
	return ((struct buf *)ctx)->error;
}

static int load(const char *path, struct warps_said *said, char **file)
{
	struct format_error error;

	warp_trace_done(&back);
	ck_assert_int_eq(warp_trace_init(&back), 0);
	return warps_load(path, &back, said, file, &error);
}

START_TEST(scopes_lie_beside_their_profile)
{
	const struct warp_trace_scope scope = {.enter = 5, .leave = 8, .parent = NONE};
	struct warp_writer w = {.put = put, .ctx = &text};
	char profile[64], beside[64], *file;
	struct warps_said said;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(profile, sizeof(profile), "%s/run.hatchet", folder);
	snprintf(beside, sizeof(beside), "%s/run.warps", folder);
	put_file(profile, "[{}]", 4);
	ck_assert_int_eq(load(profile, &said, &file), -ENODATA);
	free(file);
	ck_assert_int_eq(load(beside, &said, &file), -ENOENT);
	free(file);
	launch();
	warp((struct warp_trace_warp){.block = 9, .n_lost = 3}, &scope, 1);
	ck_assert_int_eq(warp_writer_begin(&w), 0);
	ck_assert_int_eq(warp_writer_launch(&w, &t, 0), 0);
	ck_assert_int_eq(warp_writer_lost(&w, 4), 0);
	warp_writer_done(&w);
	put_file(beside, text.data, text.len);
	ck_assert_int_eq(load(profile, &said, &file), 0);
	ck_assert_str_eq(file, beside);
	ck_assert_uint_eq(back.warps[0].block, 9);
	ck_assert_uint_eq(said.n_missing, 0);
	ck_assert_uint_eq(back.n_left_out, 4);
	ck_assert_uint_eq(said.losses.overwritten, 3);
	free(file);
	put_file(beside, text.data, text.len - 3);
	ck_assert_int_eq(load(beside, &said, &file), 0);
	ck_assert_uint_eq(said.n_missing, 21); /* of the last piece */
	free(file);
	put_file(beside, "nothing of ours", 15);
	ck_assert_int_eq(load(profile, &said, &file), -ENODATA);
	free(file);
	unlink(profile);
	unlink(beside);
	rmdir(folder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("warp_outputs");
	TCase *tc = tcase_create("warp_outputs");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_trace_is_as_tritons_proton_has_it);
	tcase_add_test(tc, what_records_cost_is_taken_out);
	tcase_add_test(tc, times_may_be_before_the_clocks_first);
	tcase_add_test(tc, what_nests_is_on_one_line);
	tcase_add_test(tc, real_time_by_the_measured_clock);
	tcase_add_test(tc, what_has_no_ends_is_not_written);
	tcase_add_test(tc, scopes_lie_beside_their_profile);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
