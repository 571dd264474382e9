/* SPDX-License-Identifier: MIT */
/* Tests of what reads stacks of other profilers (speedscope, pprof) and our own JSON: what becomes of
 * them, what is refused and why. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "format/format.h"
#include "format/pprof.h"
#include "format/protobuf.h"
#include "format_sample.h"

static struct session *read_bytes(const void *data, size_t len, struct format_error *error)
{
	struct reader_memory memory = {data, len, 0};
	struct session *s = session_new();
	struct reader_input in;

	ck_assert_ptr_nonnull(s);
	reader_init_memory(&in, &memory);
	*error = (struct format_error){0};
	return format_read(&in, s, error) == 0 ? s : session_free(s);
}

static struct session *must_read(const void *data, size_t len)
{
	struct format_error error;
	struct session *s = read_bytes(data, len, &error);

	ck_assert_msg(s != NULL, "%s", error.reason);
	return s;
}

static void expect_refused(const void *data, size_t len, const char *reason)
{
	struct format_error error;

	ck_assert_ptr_null(read_bytes(data, len, &error));
	ck_assert_str_eq(error.reason, reason);
	ck_assert_int_lt(error.code, 0);
}

static void write_text(const struct format *format, const struct session *s, struct buf *text)
{
	struct out *o = malloc(sizeof(*o));

	buf_init(text, 0);
	out_to_buf(o, text);
	ck_assert_int_eq(format->write(s, NULL, o), 0);
	ck_assert_int_eq(out_flush(o), 0);
	free(o);
}

/* The node of a path of names, from below the root. */
static uint32_t node_at(const struct session *s, const char *const *path)
{
	uint32_t node = SESSION_ROOT, child;

	for (; *path; path++, node = child) {
		child = s->nodes[node].first_child;
		while (child != SESSION_NONE && strcmp(session_node_name(s, child), *path) != 0)
			child = s->nodes[child].next_sibling;
		ck_assert_msg(child != SESSION_NONE, "no node '%s'", *path);
	}
	return node;
}
#define NODE(s, ...) node_at(s, (const char *const[]){__VA_ARGS__, NULL})

/* -1: absent. */
static double value(const struct session *s, uint32_t node, const char *metric)
{
	uint32_t id = metric_table_find(s->metrics, metric);
	union metric_value v;

	ck_assert_msg(id != METRIC_NONE, "no metric '%s'", metric);
	return session_value(s, node, id, &v) ? metric_number(metric_table_get(s->metrics, id), v)
					      : -1;
}

static bool has_note(const struct session *s, const char *text)
{
	for (size_t i = 0; i < s->n_notes; i++)
		if (!strcmp(strtab_str(s->strings, s->notes[i].text), text))
			return true;
	return false;
}

/* ---- our JSON ---- */

START_TEST(json_goes_round)
{
	struct session *s = sample_session(), *first, *second;
	struct buf text, again;

	write_text(&format_json, s, &text);
	first = must_read(text.data, text.len);
	ck_assert_uint_eq(first->n_nodes, s->n_nodes);
	ck_assert_uint_eq(first->n_lanes, s->n_lanes);
	ck_assert_uint_eq(first->n_hists, s->n_hists);
	ck_assert_uint_eq(first->n_intervals, s->n_intervals);
	ck_assert_uint_eq(first->n_samples, s->n_samples);
	ck_assert_uint_eq(first->n_runs, s->n_runs);
	for (unsigned i = 0; i < LOSS_N; i++)
		if (s->losses[i] < UINT64_MAX) /* the sum with those of processes is no number */
			ck_assert_uint_eq(session_loss(first, i), session_loss(s, i));
	buf_done(&text);
	/* What JSON has no number for, and bytes that are no text, are gone; all else stays. */
	write_text(&format_json, first, &text);
	second = must_read(text.data, text.len);
	write_text(&format_json, second, &again);
	ck_assert_str_eq(buf_str(&again), buf_str(&text));
	buf_done(&text);
	buf_done(&again);
	session_free(s);
	session_free(first);
	session_free(second);
}
END_TEST

START_TEST(json_may_say_little)
{
	static const char text[] =
		"{\"schema\":\"proton-profile\",\"nodes\":[{\"kind\":\"root\"},"
		"{\"parent\":0,\"name\":\"f\",\"metrics\":{\"mine\":2,\"mine\":3}},"
		"{\"parent\":1,\"name\":\"k\",\"kind\":\"kernel\",\"metrics\":{\"count\":1,\"time (ns)\":7}}"
		"]} more";
	struct session *s = must_read(text, sizeof(text) - 1);

	ck_assert_int_eq(session_node_kind(s, NODE(s, "f", "k")), FRAME_KERNEL);
	ck_assert(value(s, NODE(s, "f", "k"), "time (ns)") == 7);
	ck_assert(value(s, NODE(s, "f"), "mine") == 2);
	ck_assert(has_note(s, "text after the end of the profile was ignored"));
	session_free(s);
}
END_TEST

#define JSON(rest) "{\"schema\":\"proton-profile\"," rest
static const struct {
	const char *text, *reason;
} refused[] = {
	{JSON("\"nodes\":3}"), "wrong shape: no list 'nodes'"},
	{JSON("\"nodes\":[3]}"), "wrong shape: node 0 is no object"},
	{JSON("\"nodes\":[{\"id\":1}]}"),
	 "wrong shape: node 0 has an id that is not its place in the list"},
	{JSON("\"nodes\":[{},{\"id\":1,\"parent\":0},{\"id\":1,\"parent\":0}]}"),
	 "wrong shape: node 2 has an id that is not its place in the list"},
	{JSON("\"nodes\":[{},{\"parent\":2},{\"parent\":1}]}"),
	 "wrong shape: node 1 has no parent before it"},
	{JSON("\"nodes\":[{},{}]}"), "wrong shape: node 1 has no parent before it"},
	{JSON("\"nodes\":[{},"), "truncated"},

#define SPEEDSCOPE(rest) "{\"$schema\":\"speedscope.app\"," rest
#define SHARED           "\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":"
#define EVENTED          SHARED "[{\"type\":\"evented\",\"events\":"
	{SPEEDSCOPE("\"shared\":{\"frames\":3}}"), "wrong shape: no list 'frames' in 'shared'"},
	{SPEEDSCOPE("\"shared\":{\"frames\":[3]}}"), "wrong shape: frame 0 is no object"},
	{SPEEDSCOPE(SHARED "3}"), "wrong shape: no list 'profiles'"},
	{SPEEDSCOPE(SHARED "[3]}"), "wrong shape: profile 1 is no object"},
	{SPEEDSCOPE(SHARED "[{\"type\":\"x\"}]}"),
	 "wrong shape: profile 1 is neither 'sampled' nor 'evented'"},
	{SPEEDSCOPE(SHARED "[{\"type\":\"sampled\",\"samples\":[[0]]}]}"),
	 "wrong shape: profile 1 has no lists 'samples' and 'weights'"},
	{SPEEDSCOPE(SHARED "[{\"type\":\"sampled\",\"samples\":[[0]],\"weights\":[]}]}"),
	 "wrong shape: profile 1 has not as many weights as samples"},
	{SPEEDSCOPE(SHARED "[{\"type\":\"sampled\",\"samples\":[0],\"weights\":[1]}]}"),
	 "wrong shape: profile 1 has a sample that is no list"},
	{SPEEDSCOPE(SHARED "[{\"type\":\"sampled\",\"samples\":[[0]],\"weights\":[[]]}]}"),
	 "wrong shape: profile 1 has a weight that is no number"},
	{SPEEDSCOPE(SHARED "[{\"type\":\"sampled\",\"samples\":[[1]],\"weights\":[1]}]}"),
	 "wrong shape: profile 1 refers to a frame that is not there"},
	{SPEEDSCOPE(EVENTED "3}]}"), "wrong shape: profile 1 has no list 'events'"},
	{SPEEDSCOPE(EVENTED "[3]}]}"), "wrong shape: profile 1 has an event that is at no number"},
	{SPEEDSCOPE(EVENTED "[{\"at\":1,\"frame\":0,\"type\":\"?\"}]}]}"),
	 "wrong shape: profile 1 has an event that is neither 'O' nor 'C'"},
	{SPEEDSCOPE(EVENTED "[{\"at\":1,\"frame\":0,\"type\":\"C\"}]}]}"),
	 "wrong shape: profile 1 has an event that closes a frame which is not the innermost"},
	{SPEEDSCOPE(EVENTED "[{\"at\":1,\"frame\":0,\"type\":\"O\"},{\"at\":0,\"frame\":0,"
			    "\"type\":\"C\"}]}]}"),
	 "wrong shape: profile 1 has an event that is earlier than the one before it"},
};

START_TEST(json_is_refused_with_a_reason)
{
	expect_refused(refused[_i].text, strlen(refused[_i].text), refused[_i].reason);
}
END_TEST

/* ---- speedscope ---- */

START_TEST(speedscope_adds_up_host_time)
{
	static const char text[] = SPEEDSCOPE(
		"\"profiles\":[{\"type\":\"sampled\",\"name\":\"one\",\"unit\":\"seconds\","
		"\"samples\":[[0,1],[0,1,2],[0],[]],\"weights\":[0.5,0.25,1,9]},"
		"{\"type\":\"evented\",\"name\":\"two\",\"unit\":\"microseconds\",\"endValue\":10,"
		"\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1},{\"type\":\"O\",\"frame\":1,"
		"\"at\":3},{\"type\":\"C\",\"frame\":1,\"at\":4}]}],"
		"\"shared\":{\"frames\":[{\"name\":\"main\"},"
		"{\"name\":\"f\",\"file\":\"m.py\",\"line\":7},{\"name\":\"f\",\"file\":\"n.rb\"}]}}");
	struct session *s = must_read(text, sizeof(text) - 1);
	uint32_t f = NODE(s, "main", "m.py:7@f");

	ck_assert_uint_eq(s->n_nodes, 4);
	ck_assert(value(s, NODE(s, "main"), "cpu_time (ns)") == 1.75e9 + 9000);
	ck_assert(value(s, f, "cpu_time (ns)") == 0.75e9 + 1000);
	ck_assert(value(s, NODE(s, "main", "m.py:7@f", "n.rb@f"), "cpu_time (ns)") == 0.25e9);
	ck_assert(value(s, f, "cpu_count") == 1);
	ck_assert(value(s, SESSION_ROOT, "cpu_time (ns)") == -1);
	ck_assert_int_eq(session_node_kind(s, f), FRAME_PYTHON);
	ck_assert_uint_eq(s->n_lanes, 2);
	ck_assert(has_note(s, "the file's profiles are threads here: 1 one, 2 two"));
	ck_assert(has_note(s, "left out: samples without a stack: 1"));
	ck_assert(has_note(s, "never closed, and taken to be open until the end: frames: 1"));
	session_free(s);
}
END_TEST

START_TEST(speedscope_weighs_by_what_it_says)
{
	static const char text[] = SPEEDSCOPE(
		"\"shared\":{\"frames\":[{\"name\":\"a\"}]},\"profiles\":["
		"{\"type\":\"sampled\",\"unit\":\"bytes\",\"samples\":[[0]],\"weights\":[18446744073709551615]},"
		"{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[0]],\"weights\":[2.0]},"
		"{\"type\":\"sampled\",\"unit\":\"none\",\"samples\":[[0],[0]],\"weights\":[0.5,-1]}]}");
	struct session *s = must_read(text, sizeof(text) - 1);
	union metric_value v;

	ck_assert(session_value(s, 1, METRIC_BYTES, &v) && v.u64 == UINT64_MAX);
	ck_assert(value(s, 1, "samples") == 2.5);
	ck_assert(has_note(s, "left out: values below 0 or too large: 1"));
	session_free(s);
}
END_TEST

/* The schema may stand behind all that is looked at. */
START_TEST(speedscope_is_known_by_its_shape)
{
	static const struct {
		const char *head;
		bool is_speedscope;
	} cases[] = {
		{"{\"shared\":{\"frames\":[{\"name\":\"a", true},
		{"{\"exporter\":\"x\",\"profiles\":[{\"type\":\"sampled\",", true},
		{"{\"profiles\":[{\"type\":\"evented\",", true},
		{"{\"profiles\":[{\"type\":\"a", false},
		{"{\"$schema\":\"x\",\"shared\":{\"frames\":[", false},
		{"{\"traceEvents\":[],\"shared\":{\"frames\":[", false},
		{"[\"shared\",\"frames\"]", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg((format_by_content(cases[i].head, strlen(cases[i].head)) ==
			       &format_speedscope) == cases[i].is_speedscope,
			      "%s", cases[i].head);
}
END_TEST

/* Stacks with their values, in their order, are the same as before. */
START_TEST(stacks_go_round)
{
	static const struct format *const formats_of_stacks[] = {&format_speedscope, &format_pprof};
	struct session *s = sample_session(), *again;
	struct buf text, before, after;

	write_text(&format_folded, s, &before);
	write_text(formats_of_stacks[_i], s, &text);
	again = must_read(text.data, text.len);
	write_text(&format_folded, again, &after);
	/* Siblings of one name are one, as they are when folded stacks are read. */
	session_free(s);
	s = must_read(before.data, before.len);
	buf_done(&before);
	write_text(&format_folded, s, &before);
	ck_assert_str_eq(buf_str(&after), buf_str(&before));
	buf_done(&text);
	buf_done(&before);
	buf_done(&after);
	session_free(s);
	session_free(again);
}
END_TEST

#ifdef HAVE_ZLIB
/* All that adds up is there again, under its name and in its unit; the host's time, too, which pprof has
 * without what is nested. */
START_TEST(all_metrics_go_round_in_pprof)
{
	static const char *const metrics[] = {"time (ns)", "count", "bytes", "cpu_time (ns)",
					      "flops16"};
	struct session *s = sample_session(), *again;
	struct buf text;

	write_text(&format_pprof, s, &text);
	again = must_read(text.data, text.len);
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		double sum = 0, got = 0;

		for (uint32_t n = 0; n < s->n_nodes; n++)
			sum += fmax(value(s, n, metrics[i]), 0);
		for (uint32_t n = 0; n < again->n_nodes; n++)
			got += fmax(value(again, n, metrics[i]), 0);
		ck_assert_msg(sum > 0 && got == fmin(sum, (double)INT64_MAX), "%s: %g is %g",
			      metrics[i], sum, got);
	}
	buf_done(&text);
	session_free(s);
	session_free(again);
}
END_TEST
#endif

/* ---- pprof ---- */

static void put_text(struct buf *b, unsigned field, const char *text)
{
	pb_bytes(b, field, text, strlen(text));
}

/* A message of numbers: field, number, … 0. */
static void put_message(struct buf *b, unsigned field, const uint64_t *v)
{
	struct buf message;

	buf_init(&message, 0);
	for (; *v; v += 2)
		pb_u64(&message, (unsigned)v[0], v[1]);
	pb_message(b, field, &message);
	buf_done(&message);
}
#define MESSAGE(b, field, ...) put_message(b, field, (const uint64_t[]){__VA_ARGS__, 0})

static void put_location(struct buf *b, uint64_t id, uint64_t inner, uint64_t outer, unsigned n)
{
	struct buf message;

	buf_init(&message, 0);
	pb_u64(&message, LOCATION_ID, id);
	MESSAGE(&message, LOCATION_LINE, LINE_FUNCTION, inner, LINE_LINE, 3);
	while (n--)
		MESSAGE(&message, LOCATION_LINE, LINE_FUNCTION, outer);
	pb_message(b, PROFILE_LOCATION, &message);
	buf_done(&message);
}

enum { S_EMPTY, S_CPU, S_NS, S_SPACE, S_BYTES, S_A, S_B, S_C, S_TID, S_SO, S_N };
static const char *const strings[S_N] = {"",  "cpu", "nanoseconds", "space", "bytes",
					 "a", "b",   "c",           "tid",   "lib.so"};

/* Two types; functions a, b, c; location 1 is b inlined into a, 2 is c, 3 an address. */
static void put_tables(struct buf *b)
{
	MESSAGE(b, PROFILE_SAMPLE_TYPE, TYPE_TYPE, S_CPU, TYPE_UNIT, S_NS);
	MESSAGE(b, PROFILE_SAMPLE_TYPE, TYPE_TYPE, S_SPACE, TYPE_UNIT, S_BYTES);
	MESSAGE(b, PROFILE_MAPPING, MAPPING_ID, 9, MAPPING_START, 0x1000, MAPPING_LIMIT, 0x2000,
		MAPPING_OFFSET, 0x100, MAPPING_FILE, S_SO, MAPPING_BUILD_ID, S_C);
	put_location(b, 1, 2, 1, 1);
	put_location(b, 2, 3, 3, 0);
	MESSAGE(b, PROFILE_LOCATION, LOCATION_ID, 3, LOCATION_MAPPING, 9, LOCATION_ADDRESS, 0x1040);
	for (uint64_t i = 1; i <= 3; i++)
		MESSAGE(b, PROFILE_FUNCTION, FUNCTION_ID, i, FUNCTION_NAME, S_A + i - 1);
	for (unsigned i = 0; i < S_N; i++)
		put_text(b, PROFILE_STRING, strings[i]);
}

/* Of two locations, 0: of one. */
static void put_sample(struct buf *b, uint64_t leaf, uint64_t caller, uint64_t cpu, uint64_t bytes,
		       uint64_t tid)
{
	struct buf message;

	buf_init(&message, 0);
	pb_u64(&message, SAMPLE_LOCATION, leaf);
	if (caller)
		pb_u64(&message, SAMPLE_LOCATION, caller);
	pb_u64(&message, SAMPLE_VALUE, cpu);
	pb_u64(&message, SAMPLE_VALUE, bytes);
	if (tid)
		MESSAGE(&message, SAMPLE_LABEL, LABEL_KEY, S_TID, LABEL_NUMBER, tid);
	pb_message(b, PROFILE_SAMPLE, &message);
	buf_done(&message);
}

START_TEST(pprof_has_stacks_types_and_threads)
{
	struct session *s;
	struct buf b;
	uint32_t c;

	buf_init(&b, 0);
	put_sample(&b, 2, 1, 10, 100, 7);
	put_sample(&b, 2, 1, 5, 0, 8);
	put_sample(&b, 1, 0, 3, (uint64_t)-1, 0);
	put_sample(&b, 3, 2, 1, 0, 0);
	put_tables(&b);
	s = must_read(b.data, b.len);
	c = NODE(s, "a", "b", "c");
	ck_assert(value(s, c, "cpu_time (ns)") == 15);
	ck_assert(value(s, c, "space (B)") == 100);
	ck_assert(value(s, NODE(s, "a"), "cpu_time (ns)") == 18);
	ck_assert(value(s, NODE(s, "c", "c+0x140"), "cpu_time (ns)") == 1);
	ck_assert_int_eq(session_node_kind(s, NODE(s, "c", "c+0x140")), FRAME_NATIVE);
	ck_assert_uint_eq(s->n_lanes, 3);
	ck_assert_str_eq(
		metric_table_get(s->metrics, metric_table_find(s->metrics, "space (B)"))->unit,
		"B");
	ck_assert(has_note(s, "left out: values below 0 or too large: 1"));
	session_free(s);
	buf_done(&b);
}
END_TEST

/* Those of Python have names; each is a thread of its own. */
START_TEST(pprof_tells_the_names_of_threads)
{
	static const unsigned labels[] = {S_A, S_B, S_A};
	struct buf b, message;
	struct session *s;

	buf_init(&b, 0);
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		buf_init(&message, 0);
		pb_u64(&message, SAMPLE_LOCATION, 2);
		pb_u64(&message, SAMPLE_VALUE, 5);
		pb_u64(&message, SAMPLE_VALUE, 0);
		MESSAGE(&message, SAMPLE_LABEL, LABEL_KEY, S_TID, LABEL_STRING, labels[i]);
		pb_message(&b, PROFILE_SAMPLE, &message);
		buf_done(&message);
	}
	put_tables(&b);
	s = must_read(b.data, b.len);
	ck_assert_uint_eq(s->n_lanes, 2);
	for (size_t i = 0; i < 2; i++) {
		char number[32];

		snprintf(number, sizeof(number), " %" PRIu64 " %s", s->lanes[i].thread,
			 strings[labels[i]]);
		ck_assert_uint_eq(s->n_notes, 1);
		ck_assert_ptr_nonnull(strstr(strtab_str(s->strings, s->notes[0].text), number));
	}
	session_free(s);
	buf_done(&b);
}
END_TEST

enum {
	NO_LOCATION,
	FEW_VALUES,
	MANY_VALUES,
	TWO_FUNCTIONS,
	TWO_LOCATIONS,
	NO_FUNCTION,
	NO_STRING,
	NO_ID,
	BROKEN_SAMPLE,
	BROKEN_FIELD,
	CUT,
	PPROF_CASES
};

/* Two types of one name, and a time that is not the one that is shown first. */
START_TEST(pprof_types_have_names_of_their_own)
{
	struct session *s;
	struct buf b, sample;

	buf_init(&b, 0);
	buf_init(&sample, 0);
	put_tables(&b);
	MESSAGE(&b, PROFILE_SAMPLE_TYPE, TYPE_TYPE, S_SPACE, TYPE_UNIT, S_BYTES);
	MESSAGE(&b, PROFILE_SAMPLE_TYPE, TYPE_TYPE, S_A, TYPE_UNIT, S_NS);
	put_text(&b, PROFILE_STRING, "time");
	MESSAGE(&b, PROFILE_SAMPLE_TYPE, TYPE_TYPE, S_N, TYPE_UNIT, S_NS);
	pb_u64(&b, PROFILE_DEFAULT_TYPE, S_CPU);
	pb_u64(&sample, SAMPLE_LOCATION, 2);
	for (uint64_t i = 1; i <= 5; i++)
		pb_u64(&sample, SAMPLE_VALUE, i);
	pb_message(&b, PROFILE_SAMPLE, &sample);
	s = must_read(b.data, b.len);
	ck_assert(value(s, 1, "cpu_time (ns)") == 1);
	ck_assert(value(s, 1, "space (B)") == 2);
	ck_assert(value(s, 1, "space #2 (B)") == 3);
	ck_assert(value(s, 1, "a (ns)") == 4);
	ck_assert(value(s, 1, "time #2 (ns)") == 5); /* "time (ns)" is a device's */
	ck_assert(!session_has_values(s, METRIC_TIME));
	session_free(s);
	buf_done(&b);
	buf_done(&sample);
}
END_TEST

static void put_case(struct buf *b, unsigned which)
{
	switch (which) {
	case NO_LOCATION:
		put_sample(b, 4, 0, 1, 1, 0);
		break;
	case FEW_VALUES:
		MESSAGE(b, PROFILE_SAMPLE, SAMPLE_LOCATION, 1, SAMPLE_VALUE, 1);
		break;
	case MANY_VALUES:
		MESSAGE(b, PROFILE_SAMPLE, SAMPLE_VALUE, 1, SAMPLE_VALUE, 1, SAMPLE_VALUE, 1);
		break;
	case TWO_FUNCTIONS:
		MESSAGE(b, PROFILE_FUNCTION, FUNCTION_ID, 3);
		break;
	case TWO_LOCATIONS:
		MESSAGE(b, PROFILE_LOCATION, LOCATION_ID, 3);
		break;
	case NO_FUNCTION:
		put_location(b, 5, 4, 4, 0);
		break;
	case NO_STRING:
		MESSAGE(b, PROFILE_FUNCTION, FUNCTION_ID, 4, FUNCTION_NAME, S_N);
		break;
	case NO_ID:
		MESSAGE(b, PROFILE_LOCATION, LOCATION_ADDRESS, 3);
		break;
	case BROKEN_SAMPLE:
		put_text(b, PROFILE_SAMPLE, "\x0b");
		break;
	case BROKEN_FIELD:
		buf_putc(b, '\x0b');
		break;
	default:
		buf_put(b,
			"\x32\x05"
			"ab",
			4);
	}
}

START_TEST(pprof_is_refused_with_a_reason)
{
	static const char *const reasons[PPROF_CASES] = {
		[NO_LOCATION] = "wrong shape: sample 1 refers to a location that is not there",
		[FEW_VALUES] = "wrong shape: sample 1 has fewer values than there are sample types",
		[MANY_VALUES] = "wrong shape: sample 1 has more values than there are sample types",
		[TWO_FUNCTIONS] = "wrong shape: two functions have the id 3",
		[TWO_LOCATIONS] = "wrong shape: two locations have the id 3",
		[NO_FUNCTION] = "wrong shape: location 5 refers to function 4, which is not there",
		[NO_STRING] = "wrong shape: string 10 of 10 is not there",
		[NO_ID] = "wrong shape: a location has no id",
		[BROKEN_SAMPLE] = "not a profile of pprof: a sample",
		[BROKEN_FIELD] = "not a profile of pprof: no field of a protobuf",
		[CUT] = "truncated",
	};
	struct format_error error;
	struct reader_memory memory;
	struct reader_input in;
	struct session *s = session_new();
	struct buf b;

	buf_init(&b, 0);
	put_tables(&b);
	put_case(&b, (unsigned)_i);
	memory = (struct reader_memory){b.data, b.len, 0};
	reader_init_memory(&in, &memory);
	error = (struct format_error){0};
	ck_assert_int_lt(format_pprof.read(&in, s, &error), 0);
	ck_assert_str_eq(error.reason, reasons[_i]);
	session_free(s);
	buf_done(&b);
}
END_TEST

/* Some kilobytes that name a way through 2000 inlined functions a hundred times. */
START_TEST(pprof_stacks_are_no_longer_than_the_file)
{
	struct buf b, sample;

	buf_init(&b, 0);
	buf_init(&sample, 0);
	put_tables(&b);
	put_location(&b, 4, 1, 2, 2000);
	for (unsigned i = 0; i < 100; i++)
		pb_u64(&sample, SAMPLE_LOCATION, 4);
	pb_u64(&sample, SAMPLE_VALUE, 1);
	pb_u64(&sample, SAMPLE_VALUE, 1);
	pb_message(&b, PROFILE_SAMPLE, &sample);
	expect_refused(b.data, b.len,
		       "its stacks are far longer than the file (inlined functions, "
		       "over and over)");
	buf_done(&b);
	buf_done(&sample);
}
END_TEST

/* The same with one way through them on each of a thousand threads, whose rows it would take. */
START_TEST(pprof_threads_are_no_longer_than_the_file)
{
	struct buf b;

	buf_init(&b, 0);
	put_tables(&b);
	put_location(&b, 4, 1, 2, 2000);
	for (unsigned i = 1; i <= 1000; i++)
		put_sample(&b, 4, 0, 1, 1, i);
	expect_refused(b.data, b.len,
		       "its stacks are far longer than the file (inlined functions, "
		       "over and over)");
	buf_done(&b);
}
END_TEST

/* Memory may be out for a part alone: then the file is not complete. */
START_TEST(an_error_of_a_part_is_one_of_the_file)
{
	struct out *o = malloc(sizeof(*o));
	struct buf part, whole, file;

	buf_init(&part, 4);
	buf_init(&whole, 0);
	buf_init(&file, 0);
	out_to_buf(o, &file);
	out_put_buf(o, &whole);
	ck_assert_int_eq(o->error, 0);
	buf_puts(&part, "more than four");
	pb_message(&whole, 1, &part);
	ck_assert_int_eq(whole.error, -EFBIG);
	out_put_buf(o, &whole);
	ck_assert_int_eq(out_flush(o), -EFBIG);
	buf_done(&part);
	buf_done(&whole);
	buf_done(&file);
	free(o);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("stacks");
	TCase *json = tcase_create("json"), *speedscope = tcase_create("speedscope"),
	      *pprof = tcase_create("pprof");

	tcase_add_test(json, json_goes_round);
	tcase_add_test(json, json_may_say_little);
	tcase_add_loop_test(json, json_is_refused_with_a_reason, 0, ARRAY_SIZE(refused));
	tcase_add_test(speedscope, speedscope_adds_up_host_time);
	tcase_add_test(speedscope, speedscope_weighs_by_what_it_says);
	tcase_add_test(speedscope, speedscope_is_known_by_its_shape);
#ifdef HAVE_ZLIB
	tcase_add_loop_test(speedscope, stacks_go_round, 0, 2);
	tcase_add_test(pprof, all_metrics_go_round_in_pprof);
#else
	tcase_add_loop_test(speedscope, stacks_go_round, 0, 1);
#endif
	tcase_add_test(pprof, pprof_has_stacks_types_and_threads);
	tcase_add_test(pprof, pprof_tells_the_names_of_threads);
	tcase_add_test(pprof, pprof_types_have_names_of_their_own);
	tcase_add_loop_test(pprof, pprof_is_refused_with_a_reason, 0, PPROF_CASES);
	tcase_add_test(pprof, pprof_stacks_are_no_longer_than_the_file);
	tcase_add_test(pprof, pprof_threads_are_no_longer_than_the_file);
	tcase_add_test(pprof, an_error_of_a_part_is_one_of_the_file);
	suite_add_tcase(suite, json);
	suite_add_tcase(suite, speedscope);
	suite_add_tcase(suite, pprof);
	return suite;
}

int main(void)
{
	return check_run(make_suite());
}
