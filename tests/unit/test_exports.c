/* SPDX-License-Identifier: MIT */
/* Tests of the readers and writers beside Hatchet and JSON: what is read, what is refused and why. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "format/export.h"
#include "format/format.h"
#include "format_sample.h"

static struct session *read_text(const char *text, size_t len, struct format_error *error)
{
	struct reader_memory memory = {text, len, 0};
	const struct format *format;
	struct session *s = session_new();
	struct reader_input in;

	ck_assert_ptr_nonnull(s);
	reader_init_memory(&in, &memory);
	ck_assert_int_eq(reader_peek(&in), 0);
	format = format_by_content(in.head, in.head_len);
	ck_assert_msg(format && format->read, "not recognised: %.40s", text);
	*error = (struct format_error){0};
	return format->read(&in, s, error) == 0 ? s : session_free(s);
}

static void write_text(const char *name, const struct session *s,
		       const struct write_options *options, struct buf *text)
{
	struct out *o = malloc(sizeof(*o));

	buf_init(text, 0);
	out_to_buf(o, text);
	ck_assert_int_eq(format_by_name(name)->write(s, options, o), 0);
	ck_assert_int_eq(out_flush(o), 0);
	free(o);
}

static void expect_refused(const char *text, size_t len, const char *line)
{
	struct format_error error;
	struct buf got;

	ck_assert_ptr_null(read_text(text, len, &error));
	buf_init(&got, 0);
	format_error_line(&error, "f", &got);
	ck_assert_str_eq(buf_str(&got), line);
	buf_done(&got);
}

static uint64_t time_of(const struct session *s, uint32_t node)
{
	union metric_value v;

	return session_value(s, node, METRIC_TIME, &v) ? v.u64 : 0;
}

/* ---- folded ---- */

START_TEST(folded_stacks_are_a_tree)
{
	static const char text[] =
		"main;run it;k 5\r\nmain 2\nmain;run it;k 7\n\nROOT;main;a%3Bb 1";
	struct format_error error;
	struct session *s = read_text(text, sizeof(text) - 1, &error);

	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(s->n_nodes, 5);
	ck_assert_str_eq(session_node_name(s, 2), "run it");
	ck_assert_str_eq(session_node_name(s, 4), "a;b");
	ck_assert_uint_eq(time_of(s, 1), 2);
	ck_assert_uint_eq(time_of(s, 3), 12);
	ck_assert_uint_eq(s->nodes[4].parent, 1);
	session_free(s);
}
END_TEST

START_TEST(folded_goes_round)
{
	static const struct write_options by_count = {.metric = "count"};
	struct session *s = sample_session(), *again;
	struct format_error error;
	struct buf first, second;

	write_text("folded", s, NULL, &first);
	again = read_text(first.data, first.len, &error);
	ck_assert_ptr_nonnull(again);
	write_text("folded", again, NULL, &second);
	session_free(again);
	/* Two nodes of one path are one now; nothing else changed. */
	ck_assert_str_eq(buf_str(&second), "forward;_Z6matmulPfS_S_ 1550\n"
					   "forward;memcpy HtoD pinned 5000\nforward;plain 10\n");
	buf_done(&first);
	buf_done(&second);
	write_text("folded", s, &by_count, &first);
	ck_assert_ptr_nonnull(strstr(buf_str(&first), "forward;_Z6matmulPfS_S_ 7\n"));
	buf_done(&first);
	session_free(s);
}
END_TEST

/* Names that are no UTF-8, as old files and databases have them. */
START_TEST(folded_is_utf8)
{
	static const char text[] = "gr\xfc\xdf;e\xcc\x81\xe2\x82;%3B 5\n";
	struct format_error error;
	struct session *s = read_text(text, sizeof(text) - 1, &error);
	struct buf written;

	ck_assert_ptr_nonnull(s);
	write_text("folded", s, NULL, &written);
	ck_assert_str_eq(buf_str(&written), "gr\xef\xbf\xbd\xef\xbf\xbd;"
					    "e\xcc\x81\xef\xbf\xbd\xef\xbf\xbd;%3B 5\n");
	buf_done(&written);
	session_free(s);
}
END_TEST

/* A name of a kernel may be longer than what is looked at; a document of one line is no stack. */
START_TEST(folded_may_begin_with_a_long_line)
{
	static const struct {
		const char *begin;
		const struct format *format;
	} cases[] = {
		{"void f<(anonymous namespace)::g, ", &format_folded},
		{"[unknown];main;", &format_folded},
		{"{lambda(int)#1};", &format_folded},
		{" {\"more\": \"a;b", NULL},
		{"{\"more\": \"a;b", NULL},
		{"<html>", NULL},
		{"\x01\x02", NULL},
	};
	char head[READER_HEAD];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(head, 'x', sizeof(head));
		memcpy(head, cases[i].begin, strlen(cases[i].begin));
		ck_assert_msg(format_by_content(head, sizeof(head)) == cases[i].format, "%s",
			      cases[i].begin);
	}
}
END_TEST

START_TEST(folded_says_what_is_wrong)
{
	static const char torn[] = "a;b 1\nc 2\n{}";
	static const char large[] = "a;b 99999999999999999999999999\n";
	char *later = malloc(READER_HEAD + 64);
	size_t len = 0;

	ck_assert_ptr_null(format_by_content(torn, sizeof(torn) - 1));
	while (len < READER_HEAD + 8) {
		memcpy(later + len, "a;b;c 1\n", 8);
		len += 8;
	}
	memcpy(later + len, "a;b;c\n", 6);
	expect_refused(later, len + 6,
		       "f: not folded stacks: a line does not end in a number at byte 4105");
	free(later);
	expect_refused(large, sizeof(large) - 1,
		       "f: wrong shape: the value of a stack is too large at byte 5");
}
END_TEST

/* ---- hatchet_msgpack ---- */

START_TEST(msgpack_says_what_is_wrong)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *line;
	} table[] = {
		{"\x92\x81", 2, "f: truncated at byte 2"},
		{"\x92\x81\xa5"
		 "fra",
		 6, "f: truncated at byte 6"},
		{"\x92\x81\xa8"
		 "children\xdd\xff\xff\xff\xff",
		 16, "f: truncated at byte 16"},
		{"\x91\x81\x05\x06", 4, "f: wrong shape: a key that is no string at byte 3"},
		{"\x91\x81\xa1"
		 "a\xc1",
		 5, "f: not MessagePack: a byte that means nothing at byte 5"},
		{"\x91\x81\xa8"
		 "children\x07",
		 12, "f: wrong shape: 'children' is a number"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		expect_refused(table[i].bytes, table[i].len, table[i].line);
}
END_TEST

START_TEST(msgpack_goes_round)
{
	struct session *s = sample_session(), *again;
	struct format_error error;
	struct buf first, second;

	write_text("hatchet_msgpack", s, NULL, &first);
	again = read_text(first.data, first.len, &error);
	ck_assert_msg(again != NULL, "%s", error.reason);
	ck_assert_uint_eq(again->n_nodes, s->n_nodes);
	write_text("hatchet_msgpack", again, NULL, &second);
	session_free(again);
	again = read_text(second.data, second.len, &error);
	ck_assert_ptr_nonnull(again);
	buf_done(&first);
	write_text("hatchet_msgpack", again, NULL, &first);
	ck_assert_uint_eq(first.len, second.len);
	ck_assert_int_eq(memcmp(first.data, second.data, first.len), 0);
	session_free(again);
	session_free(s);
	buf_done(&first);
	buf_done(&second);
}
END_TEST

/* 100,000 levels: each is a map, a list and a frame. */
/* The root lists what its readers may sum up: not a maximum. */
START_TEST(msgpack_sums_up_sums_alone)
{
	static const char text[] =
		"[{\"proton\":{\"metrics\":[{\"name\":\"m\",\"add\":\"max\"},{\"name\":\"n\"}],\"sets\":"
		"[[\"m\",\"n\"]],\"lanes\":[{}]},\"children\":[{\"frame\":{\"name\":\"k\"},\"proton\":"
		"{\"rows\":[[0,0,0,5,6]]}}]}]";
	struct format_error error;
	struct session *s = read_text(text, strlen(text), &error), *back;
	struct buf packed;
	uint32_t m;

	ck_assert_ptr_nonnull(s);
	write_text("hatchet_msgpack", s, NULL, &packed);
	back = read_text(packed.data, packed.len, &error);
	ck_assert_ptr_nonnull(back);
	m = metric_table_find(back->metrics, "m");
	ck_assert_uint_eq(metric_table_get(back->metrics, m)->scope, METRIC_EXCLUSIVE);
	m = metric_table_find(back->metrics, "n");
	ck_assert_uint_eq(metric_table_get(back->metrics, m)->scope, METRIC_INCLUSIVE);
	session_free(back);
	session_free(s);
	buf_done(&packed);
}
END_TEST

START_TEST(msgpack_may_be_deep)
{
	static const char level[] = "\x81\xa8"
				    "children\x91";
	struct format_error error;
	struct session *s;
	struct buf text;

	buf_init(&text, 0);
	buf_putc(&text, '\x91');
	for (unsigned i = 0; i < 100000; i++)
		buf_put(&text, level, sizeof(level) - 1);
	buf_putc(&text, '\x80');
	s = read_text(text.data, text.len, &error);
	ck_assert_msg(s != NULL, "%s", error.reason);
	ck_assert_uint_eq(s->n_nodes, 100001);
	session_free(s);
	buf_done(&text);
}
END_TEST

/* ---- all writers ---- */

START_TEST(unknown_metrics_are_refused)
{
	static const char *const names[] = {"folded",    "speedscope", "pprof",
					    "callgrind", "flamegraph", "dot"};
	static const struct write_options options[] = {
		{.metric = "no such"}, {.metric = "tag"}, {.metric = "peak"}};
	struct session *s = sample_session();
	struct out *o = malloc(sizeof(*o));
	struct buf text;

	buf_init(&text, 0);
	out_to_buf(o, &text);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		for (size_t k = 0; k < ARRAY_SIZE(options); k++)
			ck_assert_int_lt(format_by_name(names[i])->write(s, &options[k], o), 0);
	buf_done(&text);
	free(o);
	session_free(s);
}
END_TEST

/* Events have names of their own, costs are whole and add up, names are seen. */
START_TEST(callgrind_of_odd_metrics)
{
	static const char *const names[] = {"bytes (read)", "bytes (write)", "1st, \"odd\"",
					    "energy (J)",   "huge",          "gb/s"};
	static const double values[] = {11, 22, 3, 0.25, 1e19, 5};
	struct session *s = session_new();
	const int first = METRIC_N_BUILTIN; /* numbers of metrics, which tell names apart */
	struct write_options gbs = {.metric = "gb/s"};
	struct buf text;
	char wanted[256];

	for (unsigned k = 0; k < 4; k++) {
		char name[8];
		uint32_t node;

		snprintf(name, sizeof(name), k ? "k%u" : " \n ", k);
		node = session_node(s, SESSION_ROOT, FRAME_KERNEL, name);
		for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
			const struct metric m = {.name = names[i],
						 .unit = "",
						 .type = METRIC_F64,
						 .weight = METRIC_NONE};

			ck_assert_int_eq(session_add(s, node, SESSION_NONE, 0,
						     session_metric_add(s, &m),
						     (union metric_value){.f64 = values[i]}),
					 0);
		}
	}
	write_text("callgrind", s, NULL, &text);
	snprintf(wanted, sizeof(wanted),
		 "events: bytes_%d bytes_%d _1st___odd__%d energy_%d huge_%d gb_s_%d\n"
		 "summary: 44 88 12 100 9223372036854775807 20\n",
		 first, first + 1, first + 2, first + 3, first + 4, first + 5);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), wanted));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), " : energy (J), in units of 1e-2\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), " <unnamed>\n"));
	buf_done(&text);
	write_text("folded", s, &gbs, &text); /* though "gb/s" is a rate as well */
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "k1 5\n"));
	buf_done(&text);
	session_free(s);
}
END_TEST

START_TEST(suffixes_choose_formats)
{
	ck_assert_str_eq(format_by_path("a.speedscope.json")->name, "speedscope");
	ck_assert_str_eq(format_by_path("a.json")->name, "json");
	ck_assert_str_eq(format_by_path("a.svg")->name, "flamegraph");
	ck_assert_str_eq(format_by_path("a.md")->name, "markdown");
}
END_TEST

/* Bytes are known of all copies together, over two epochs: each event has its share, and nothing is
 * lost by rounding. */
START_TEST(copies_share_their_bytes)
{
	static const uint32_t metrics[] = {METRIC_COUNT, METRIC_BYTES};
	static const uint64_t values[2][2] = {{2, 1000}, {1, 1}};
	struct session *s = session_new();
	struct session_lane lane = {.process = SESSION_NONE, .device = SESSION_NONE};
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_COPY, "memcpy DtoD");
	uint32_t on = session_lane_intern(s, &lane);
	uint32_t set = session_set_intern(s, metrics, ARRAY_SIZE(metrics));
	struct buf text;

	for (uint32_t i = 0; i < 2; i++) {
		struct session_epoch epoch = {.index = i};
		uint32_t row =
			session_row_intern(s, node, on, session_epoch_intern(s, &epoch), set);

		for (uint32_t k = 0; k < 2; k++)
			session_row_set(s, row, k, (union metric_value){.u64 = values[i][k]});
	}
	for (uint64_t i = 1; i <= 3; i++)
		session_interval_add(s, &(struct session_interval){i * 10, i * 10 + 5, node, on});
	write_text("chrome", s, &(struct write_options){.compact = true}, &text);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "{\"bytes\":333,\"bytes_mean_of\":3,"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "{\"bytes\":334,\"bytes_mean_of\":3,"));
	buf_done(&text);
	session_free(s);
}
END_TEST

/* As reports have them: a mean weighs its rows, not its nodes, and what is no number is absent. */
START_TEST(tables_have_the_numbers_of_reports)
{
	static const char text[] =
		"[{\"proton\":{\"metrics\":[{\"name\":\"w\"},{\"name\":\"m\",\"type\":\"f64\",\"add\":"
		"\"wmean\",\"weight\":\"w\"},{\"name\":\"n\",\"type\":\"f64\",\"add\":\"wmean\"},{\"name\":"
		"\"x\",\"type\":\"f64\"}],\"sets\":[[\"w\",\"m\",\"n\",\"x\"],[\"w\"]],\"lanes\":[{},"
		"{\"stream\":1}]},\"children\":[{\"proton\":{\"rows\":[[0,0,0,1,10,10,1],[1,0,0,3,20,20,1],"
		"[0,0,1,100]]},\"frame\":{\"name\":\"a\"},\"children\":[{\"proton\":{\"rows\":"
		"[[0,0,0,4,100,100,\"nan\"]]},\"frame\":{\"name\":\"b\"}}]}]}]";
	struct format_error error;
	struct session *s = read_text(text, strlen(text), &error);
	struct buf table;

	ck_assert_ptr_nonnull(s);
	write_text("csv", s, NULL, &table);
	ck_assert_ptr_nonnull(strstr(buf_str(&table), ",a,a,104,108,17.5,58.75,15.0,43.3333"));
	ck_assert_ptr_nonnull(strstr(buf_str(&table), ",2.0,2.0\r\n2,1,"));
	buf_done(&table);
	session_free(s);
}
END_TEST

/* A tree of one path and one of many twins are written by all. */
START_TEST(any_shape_is_written)
{
	for (unsigned shape = 0; shape < 2; shape++) {
		struct session *s = session_new();
		uint32_t node = SESSION_ROOT, lane;
		static const struct session_lane nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};

		lane = session_lane_intern(s, &nowhere);
		for (unsigned i = 0; i < 2000; i++) {
			uint32_t frame = session_frame_intern(
				s, FRAME_KERNEL, strtab_adds(s->strings, "f"), SESSION_NONE, 0);

			node = session_node_append(s, shape ? SESSION_ROOT : node, frame);
		}
		session_add(s, node, lane, 0, METRIC_TIME, (union metric_value){.u64 = 1});
		session_interval_add(s, &(struct session_interval){1000, 1001, node, lane});
		for (size_t i = 0; formats[i]; i++) {
			struct buf text;

			if (!formats[i]->write)
				continue;
			write_text(formats[i]->name, s, NULL, &text);
			ck_assert_uint_gt(text.len, 0);
			buf_done(&text);
		}
		session_free(s);
	}
}
END_TEST

/* ---- depth ---- */

/* Each context has a time, and was there once. */
static struct session *chain(uint32_t n)
{
	struct session *s = session_new();
	uint32_t lane = session_lane_intern(s, &session_nowhere);
	struct session_interval v = {.end_ns = 1, .lane = lane, .node = SESSION_ROOT};

	for (uint32_t i = 0; i < n; i++) {
		v.node = session_node(s, v.node, FRAME_FUNCTION, i % 2 ? "a" : "b");
		session_add(s, v.node, lane, 0, METRIC_TIME, (union metric_value){.u64 = i + 1});
		session_interval_add(s, &v);
	}
	return s;
}

static double sum_of(const struct export_stacks *x, uint64_t *ret_names)
{
	double sum = 0;

	*ret_names = 0;
	for (uint32_t i = 1; i < x->s->n_nodes; i++) { /* its depth */
		sum += x->own[i];
		*ret_names += x->own[i] > 0 ? i : 0;
	}
	return sum;
}

START_TEST(deep_stacks_are_bounded)
{
	static const uint32_t lengths[] = {3000, 20000}; /* of which the second is too long */
	uint32_t n = lengths[_i];
	struct session *s = chain(n);
	struct write_notes notes = {0};
	const struct write_options options = {.notes = &notes};
	struct export_stacks x;
	uint64_t names;
	double sum = (double)n * (n + 1) / 2;

	ck_assert_int_eq(export_stacks_weigh(&x, s, METRIC_TIME, &options), 0);
	ck_assert_int_eq(export_stacks_limit(&x, 1), 0);
	ck_assert(sum_of(&x, &names) == sum);
	ck_assert_uint_le(names, 16000000);
	ck_assert_int_eq(export_stacks_round(&x, INT64_MAX), 0);
	if (_i) {
		ck_assert_uint_eq(notes.n_deep, n - notes.depth);
		ck_assert(x.whole[notes.depth] == sum - (notes.depth - 1.0) * notes.depth / 2);
	} else {
		ck_assert_uint_eq(notes.depth, 0);
		ck_assert_uint_eq(x.whole[n], n);
	}
	export_stacks_done(&x);
	session_free(s);
}
END_TEST

START_TEST(deep_paths_are_bounded)
{
	static const uint32_t lengths[] = {3000, 20000};
	uint32_t n = lengths[_i], most;
	struct session *s = chain(n);
	struct write_notes notes = {0};

	ck_assert_int_eq(export_paths_limit(s, &notes, &most), 0);
	ck_assert_uint_eq(most == UINT32_MAX, !_i);
	ck_assert_uint_eq(notes.n_short, _i ? n - most : 0);
	ck_assert_uint_le((uint64_t)n * MIN(most, n), 16000000);
	ck_assert_int_eq(export_events_limit(s, &notes, &most), 0);
	ck_assert_uint_eq(most == UINT32_MAX, !_i);
	session_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exports");
	TCase *c = tcase_create("all");

	tcase_add_test(c, folded_stacks_are_a_tree);
	tcase_add_test(c, folded_goes_round);
	tcase_add_test(c, folded_is_utf8);
	tcase_add_test(c, folded_may_begin_with_a_long_line);
	tcase_add_test(c, folded_says_what_is_wrong);
	tcase_add_test(c, msgpack_says_what_is_wrong);
	tcase_add_test(c, msgpack_goes_round);
	tcase_add_test(c, msgpack_sums_up_sums_alone);
	tcase_add_test(c, msgpack_may_be_deep);
	tcase_add_test(c, unknown_metrics_are_refused);
	tcase_add_test(c, callgrind_of_odd_metrics);
	tcase_add_test(c, suffixes_choose_formats);
	tcase_add_test(c, copies_share_their_bytes);
	tcase_add_test(c, tables_have_the_numbers_of_reports);
	tcase_add_test(c, any_shape_is_written);
	tcase_add_loop_test(c, deep_stacks_are_bounded, 0, 2);
	tcase_add_loop_test(c, deep_paths_are_bounded, 0, 2);
	suite_add_tcase(suite, c);
	return check_run(suite);
}
