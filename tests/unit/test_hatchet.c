/* SPDX-License-Identifier: MIT */
/* Tests of the Hatchet reader and writer. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "check_main.h"
#include "core/snapshot.h"
#include "format/format.h"
#include "format/hatchet.h"
#include "format_sample.h"

#define DATA TEST_SRCDIR "/tests/hatchet/"

/* ---- helpers ---- */

static int parse(const char *text, size_t len, struct session **ret, struct format_error *error)
{
	struct reader_memory memory = {text, len, 0};
	struct session *s = session_new();
	struct reader_input in;
	int r;

	ck_assert_ptr_nonnull(s);
	reader_init_memory(&in, &memory);
	r = hatchet_read(&in, s, error);
	*ret = r < 0 ? session_free(s) : s;
	return r;
}

static struct session *parse_ok(const char *text, size_t len)
{
	struct format_error error = {0};
	struct session *s;

	ck_assert_msg(parse(text, len, &s, &error) == 0, "%s in %.200s", error.reason, text);
	return s;
}

static void write_text(const struct session *s, const struct write_options *o, struct buf *buf)
{
	struct out *out = malloc(sizeof(*out));

	buf_init(buf, 0);
	out_to_buf(out, buf);
	ck_assert_int_eq(hatchet_write(s, o, out), 0);
	ck_assert_int_eq(out_flush(out), 0);
	free(out);
}

static char *read_whole(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	char *data = malloc(1 << 20);

	ck_assert_msg(f && data, "%s", path);
	*ret_len = fread(data, 1, (1 << 20) - 1, f);
	data[*ret_len] = '\0';
	fclose(f);
	return data;
}

/* The first node of this name, in order of the file. */
static uint32_t node_named(const struct session *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (!strcmp(session_node_name(s, i), name))
			return i;
	return SESSION_NONE;
}

static double own(const struct session *s, uint32_t node, const char *metric)
{
	uint32_t id = metric_table_find(s->metrics, metric);
	union metric_value v;

	if (node == SESSION_NONE || id == METRIC_NONE || !session_value(s, node, id, &v))
		return NAN;
	return metric_number(metric_table_get(s->metrics, id), v);
}

/* ---- byte for byte ---- */

static uint32_t gpu_lane(struct session *s)
{
	struct session_device d = {.type = strtab_adds(s->strings, "CUDA"),
				   .arch = strtab_adds(s->strings, "90"),
				   .num_sms = 132,
				   .clock_khz = 1980000,
				   .memory_clock_khz = 2619000,
				   .bus_width_bits = 6144};
	struct session_lane lane = {SESSION_NONE, session_device_intern(s, &d), 0, 0, 0};

	return session_lane_intern(s, &lane);
}

static void kernel(struct session *s, uint32_t node, uint32_t lane, uint64_t time, uint64_t count)
{
	uint32_t row = session_row_intern(s, node, lane, 0, SET_KERNEL);

	session_row_set(s, row, 0, (union metric_value){.u64 = time});
	session_row_set(s, row, 1, (union metric_value){.u64 = count});
}

/* The example that the rules of the format end with. */
static struct session *literal_session(void)
{
	struct session *s = session_new();
	uint32_t lane = gpu_lane(s), host, forward, matmul, graph, row;
	struct session_lane nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	const uint32_t set[] = {METRIC_BYTES, METRIC_FLOPS16};

	host = session_lane_intern(s, &nowhere);
	forward = session_node(s, SESSION_ROOT, FRAME_FUNCTION, "forward");
	session_add(s, forward, host, 0, METRIC_CPU_TIME, (union metric_value){.u64 = 812345});
	matmul = session_node(s, forward, FRAME_KERNEL, "matmul_<grid:256x1x1>");
	kernel(s, matmul, lane, 614400, 3);
	row = session_row_intern(s, matmul, lane, 0, session_set_intern(s, set, 2));
	session_row_set(s, row, 0, (union metric_value){.u64 = 6291456});
	session_row_set(s, row, 1, (union metric_value){.f64 = 6442450944.0});
	graph = session_node(s, forward, FRAME_GRAPH, "<captured_at>");
	graph = session_node(s, graph, FRAME_FUNCTION, "iter_0");
	kernel(s,
	       session_node(s, graph, FRAME_KERNEL,
			    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
			    "11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_"),
	       lane, 20480, 10);
	return s;
}

/* Upstream no longer lists what users add, which its own viewer then fails to sum up: we do. There
 * is nothing else in the file that upstream could not say, thus no key of ours. */
static void expect_users_metrics_on_root(const char *ours, const char *theirs)
{
	static const char count[] = "            \"count\": 0,\n";
	const char *at = strstr(theirs, count);
	struct buf expected;

	buf_init(&expected, 0);
	buf_put(&expected, theirs, (size_t)(at - theirs));
	buf_puts(&expected, "            \"bytes\": 0,\n");
	buf_puts(&expected, count);
	buf_puts(&expected, "            \"flops16\": 0,\n");
	buf_puts(&expected, at + strlen(count));
	ck_assert_str_eq(ours, buf_str(&expected));
	buf_done(&expected);
}

START_TEST(writes_the_bytes_that_upstream_writes)
{
	static const struct write_options plain = {.plain = true};
	struct session *s = literal_session();
	struct buf ours;
	size_t len;
	char *theirs = read_whole(DATA "literal.hatchet", &len);

	write_text(s, &plain, &ours);
	ck_assert_str_eq(buf_str(&ours), theirs);
	buf_done(&ours);
	write_text(s, NULL, &ours);
	expect_users_metrics_on_root(buf_str(&ours), theirs);
	buf_done(&ours);
	free(theirs);
	session_free(s);
}
END_TEST

START_TEST(upstreams_files_come_back_byte_for_byte)
{
	static const char *const paths[] = {DATA "h200-torch-add-python.hatchet",
					    DATA "h200-torch-add-shadow.hatchet"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		size_t len;
		char *theirs = read_whole(paths[i], &len);
		struct session *s = parse_ok(theirs, len);
		struct buf ours;

		write_text(s, NULL, &ours);
		ck_assert_str_eq(buf_str(&ours), theirs);
		buf_done(&ours);
		session_free(s);
		free(theirs);
	}
}
END_TEST

START_TEST(upstreams_files_keep_their_content)
{
	static const char *const paths[] = {
		DATA "upstream-cuda.json", DATA "upstream-frame.json", DATA "upstream-hip.json",
		DATA "upstream-leaf_nodes.json", DATA "upstream-triton.json"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		size_t len;
		char *theirs = read_whole(paths[i], &len);
		struct session *a = parse_ok(theirs, len), *b;
		struct buf ours;

		write_text(a, NULL, &ours);
		ck_assert_ptr_null(strstr(buf_str(&ours), "proton\":"));
		b = parse_ok(ours.data, ours.len);
		ck_assert_str_eq(sample_difference(a, b), "");
		ck_assert_uint_eq(a->n_notes, 0);
		buf_done(&ours);
		session_free(a);
		session_free(b);
		free(theirs);
	}
}
END_TEST

START_TEST(upstreams_files_have_upstreams_numbers)
{
	static const struct {
		const char *path, *node, *metric;
		double inclusive;
	} expected[] = {
		{DATA "upstream-cuda.json", "ROOT", "time (ns)", 614400},
		{DATA "upstream-cuda.json", "ROOT", "flops8", 2.1e11},
		{DATA "upstream-cuda.json", "ROOT", "bytes", 1.2e8},
		{DATA "upstream-cuda.json", "foo0", "count", 10},
		{DATA "upstream-frame.json", "test0", "time (ns)", 204800},
		{DATA "upstream-hip.json", "foo2", "flops8", 1e12},
		{DATA "upstream-leaf_nodes.json", "kernel_1_1_1", "bytes", 3997237248.0},
		{DATA "upstream-leaf_nodes.json", "ROOT", "flops", 1607773192192.0},
		{DATA "upstream-triton.json", "scope", "cpu_time (ns)", 12345},
		{DATA "upstream-triton.json", "scope", "bytes", 2},
		{DATA "h200-torch-add-python.hatchet", "ROOT", "count", 200000},
		{DATA "h200-torch-add-shadow.hatchet", "ROOT", "time (ns)", 173542538},
	};

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		struct snapshot_spec spec = {.keep_metadata = true};
		struct format_error error = {0};
		struct session *s;
		struct snapshot *snap;
		uint32_t metric, node;

		ck_assert_msg(format_load(expected[i].path, &s, &error) == 0, "%s", error.reason);
		snap = snapshot_new(s, &spec);
		ck_assert_int_eq(snapshot_update(snap, 1), 0);
		metric = metric_table_find(s->metrics, expected[i].metric);
		node = node_named(s, expected[i].node);
		ck_assert_msg(snapshot_column(snap, metric, true)->v[node] == expected[i].inclusive,
			      "%s %s %s: %.17g", expected[i].path, expected[i].node,
			      expected[i].metric, snapshot_column(snap, metric, true)->v[node]);
		snapshot_free(snap);
		session_free(s);
	}
}
END_TEST

/* ---- everything is carried ---- */

START_TEST(everything_survives_a_file)
{
	static const struct write_options options[] = {{.compact = false}, {.compact = true}};
	struct session *a = sample_session(), *b;
	struct buf first, second;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		write_text(a, &options[i], &first);
		b = parse_ok(first.data, first.len);
		ck_assert_str_eq(sample_difference(a, b), "");
		write_text(b, &options[i], &second);
		ck_assert_str_eq(buf_str(&first), buf_str(&second));
		buf_done(&first);
		buf_done(&second);
		session_free(b);
	}
	session_free(a);
}
END_TEST

/* Upstream's viewer walks the first object as nodes and the second as devices: nothing of ours may
 * be where it does not expect it, and text must be UTF-8. */
START_TEST(nothing_of_ours_in_a_plain_file)
{
	static const struct write_options plain = {.plain = true};
	struct session *s = sample_session();
	struct buf text;

	write_text(s, &plain, &text);
	ck_assert_ptr_null(strstr(buf_str(&text), "\"proton\""));
	ck_assert_ptr_null(strstr(buf_str(&text), "time_min"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "bad \xef\xbf\xbd( name"));
	ck_assert_ptr_null(strstr(buf_str(&text), "\xc3("));
	buf_done(&text);
	session_free(s);
}
END_TEST

START_TEST(siblings_of_one_name_are_folded)
{
	static const struct write_options plain = {.plain = true};
	struct session *s = session_new(), *back;
	struct buf text;
	uint32_t lane = gpu_lane(s), node;

	s->ended = true;
	kernel(s, session_node(s, SESSION_ROOT, FRAME_KERNEL, "twin"), lane, 100, 1);
	node = session_node(s, SESSION_ROOT, FRAME_SCOPE, "twin");
	kernel(s, session_node(s, node, FRAME_KERNEL, "inner"), lane, 7, 1);
	kernel(s, session_node_append(s, SESSION_ROOT, s->nodes[1].frame), lane, 11, 2);
	write_text(s, &plain, &text);
	back = parse_ok(text.data, text.len);
	ck_assert_uint_eq(back->n_nodes, 3);
	ck_assert(own(back, node_named(back, "twin"), "time (ns)") == 111);
	ck_assert(own(back, node_named(back, "twin"), "count") == 3);
	ck_assert(own(back, node_named(back, "inner"), "time (ns)") == 7);
	session_free(back);
	buf_done(&text);
	write_text(s, NULL, &text);
	back = parse_ok(text.data, text.len);
	ck_assert_str_eq(sample_difference(s, back), "");
	session_free(back);
	buf_done(&text);
	session_free(s);
}
END_TEST

START_TEST(the_heaviest_device_gives_its_id)
{
	struct session *s = session_new();
	struct session_device d = {.type = strtab_adds(s->strings, "CUDA"), .num_sms = 1};
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_KERNEL, "k");
	struct buf text;

	for (int i = 0; i < 3; i++) {
		struct session_lane lane = {SESSION_NONE, SESSION_NONE, 0, 0, 0};

		d.index = i;
		lane.device = session_device_intern(s, &d);
		kernel(s, node, session_lane_intern(s, &lane), i == 1 ? 1000 : 10, 1);
	}
	write_text(s, NULL, &text);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"device_id\": \"1\""));
	ck_assert_ptr_null(strstr(buf_str(&text), "\"device_id\": \"0\""));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"time (ns)\": 1020"));
	buf_done(&text);
	session_free(s);
}
END_TEST

/* What the root lists other readers sum up: its own exclusive metrics are not among it. */
START_TEST(the_root_lists_what_adds_up)
{
	static const char expected[] =
		"        \"metrics\": {\n            \"bytes\": 0,\n"
		"            \"count\": 0,\n            \"flops16\": 0,\n"
		"            \"time (ns)\": 0\n        },\n        \"proton\": {\n";
	struct session *s = sample_session();
	struct buf text;

	write_text(s, NULL, &text);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), expected));
	buf_done(&text);
	session_free(s);
}
END_TEST

START_TEST(texts_that_are_not_utf8_survive)
{
	struct session *s = session_new(), *back;
	struct session_lane nowhere = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	struct metric m = {"tag", "", METRIC_TEXT, METRIC_PROPERTY, METRIC_LAST, METRIC_NONE};
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_FUNCTION, "f");
	struct buf text;

	s->ended = true;
	session_add(s, node, session_lane_intern(s, &nowhere), 0, metric_table_add(s->metrics, &m),
		    (union metric_value){.text = strtab_adds(s->strings, "\xff")});
	write_text(s, NULL, &text);
	back = parse_ok(text.data, text.len);
	ck_assert_str_eq(sample_difference(s, back), "");
	session_free(back);
	buf_done(&text);
	session_free(s);
}
END_TEST

/* ---- what a reader puts up with ---- */

#define FRAME(name)         "\"frame\":{\"name\":\"" name "\",\"type\":\"function\"}"
#define LEAF(name, metrics) "{\"children\":[]," FRAME(name) ",\"metrics\":{" metrics "}}"
#define KERNEL              "\"count\":2,\"device_id\":\"0\",\"device_type\":\"CUDA\",\"time (ns)\":100"
#define FILE_OF(children)   "[{\"children\":[" children "]," FRAME("ROOT") ",\"metrics\":{}},{}]"

/* clang-format off */
static const struct {
	const char *what, *text;
	size_t n_nodes, n_notes;
	const char *metric; /* of node "k"; NULL: none is looked at */
	double value;
	const char *note; /* what the first one begins with; NULL: not looked at */
} tolerated[] = {
	{"empty list", "[]", 1, 0, NULL, 0},
	{"empty objects", "[{}, {}]", 1, 0, NULL, 0},
	{"one empty object", " \n[{}]\n\n", 1, 0, NULL, 0},
	{"nulls", "[null, null]", 1, 0, NULL, 0},
	{"empty profile", FILE_OF(""), 1, 0, NULL, 0},
	{"no second element", "[{\"children\":[" LEAF("k", KERNEL) "]}]", 2, 0, "count", 2},
	{"byte order mark", "\xef\xbb\xbf[{\"children\":[" LEAF("k", KERNEL) "]}]", 2, 0, "count", 2},
	{"null fields", "[{\"children\":[{\"children\":null,\"frame\":{\"name\":\"k\",\"type\":null},"
			"\"metrics\":null}, null],\"frame\":null,\"metrics\":{\"count\":null}}]",
	 2, 0, NULL, 0},
	{"keys in any order", "[{\"metrics\":{},\"frame\":{\"type\":\"function\",\"name\":\"ROOT\"},"
			      "\"children\":[{\"metrics\":{\"count\":3},\"children\":[],"
			      "\"frame\":{\"name\":\"k\"}}]},{}]",
	 2, 0, "count", 3},
	{"unknown keys", "[{\"children\":[{\"x\":[1,{\"frame\":[]}],\"frame\":{\"name\":\"k\",\"file\":"
			 "{\"name\":1},\"y\":[[]]},\"metrics\":{\"count\":1},\"z\":{\"children\":3}}],"
			 "\"hatchet\":null,\"a\":1.5,\"b\":true,\"c\":\"d\"}]",
	 2, 0, "count", 1},
	{"frame is a name", "[{\"children\":[{\"frame\":\"k\",\"metrics\":{\"count\":1}}]}]", 2, 0,
	 "count", 1},
	{"duplicate siblings", FILE_OF(LEAF("k", KERNEL) "," LEAF("k", KERNEL)), 3, 0, "count", 2},
	{"device id is a number", FILE_OF(LEAF("k", "\"device_id\":3,\"device_type\":\"HIP\","
						    "\"time (ns)\":5")),
	 2, 0, "time (ns)", 5},
	{"device id 999", FILE_OF(LEAF("k", "\"device_id\":\"999\",\"time (ns)\":5")), 2, 0,
	 "time (ns)", 5},
	{"device id is a word", FILE_OF(LEAF("k", "\"device_id\":\"gpu\",\"time (ns)\":5")), 2, 0,
	 "time (ns)", 5},
	{"integer as a float", FILE_OF(LEAF("k", "\"time (ns)\":1e11")), 2, 0, "time (ns)", 1e11},
	{"integer with a point", FILE_OF(LEAF("k", "\"bytes\":2.0")), 2, 0, "bytes", 2},
	{"fraction of a count", FILE_OF(LEAF("k", "\"bytes\":2.5")), 2, 1, "bytes", 3,
	 "fractions of a metric of whole numbers were rounded"},
	{"negative count", FILE_OF(LEAF("k", "\"bytes\":-4,\"count\":1")), 2, 1, "bytes", NAN,
	 "negative values of a metric of whole numbers were ignored"},
	{"beyond 64 bits", FILE_OF(LEAF("k", "\"count\":99999999999999999999999")), 2, 1, "count", NAN},
	{"beyond a double", FILE_OF(LEAF("k", "\"flops\":1e999")), 2, 0, "flops", INFINITY},
	{"mixed numbers", FILE_OF(LEAF("a", "\"m\":3") "," LEAF("k", "\"m\":2.5")), 3, 0, "m", 2.5},
	{"number and text", FILE_OF(LEAF("a", "\"m\":\"x\"") "," LEAF("k", "\"m\":2")), 3, 1, "m", 2},
	{"boolean", FILE_OF(LEAF("k", "\"m\":true")), 2, 0, "m", 1},
	{"vector", FILE_OF(LEAF("k", "\"v\":[1.5,2,null,4]")), 2, 0, "v[3]", 4},
	{"object as a metric", FILE_OF(LEAF("k", "\"m\":{\"a\":[1]},\"count\":7")), 2, 0, "count", 7},
	{"text after the end", FILE_OF(LEAF("k", KERNEL)) "\n]garbage", 2, 1, "count", 2},
	{"two documents", FILE_OF(LEAF("k", KERNEL)) "\n" FILE_OF(""), 2, 1, "count", 2},
	{"invalid UTF-8", "[{\"children\":[" LEAF("\xff\xfe", "") "," LEAF("k", KERNEL) "]}]", 3, 0,
	 "count", 2},
	{"python frame of old", FILE_OF("{\"children\":[" LEAF("k", KERNEL) "],"
					FRAME("foo@/a/b.py:12") ",\"metrics\":{}}"),
	 3, 0, "time (ns)", 100},
	{"several trees", "[" LEAF("k", KERNEL) "," LEAF("l", KERNEL) "]", 3, 0, "count", 2},
	{"names of metrics of old",
	 FILE_OF(LEAF("k", "\"Count\":2,\"DeviceId\":\"0\",\"DeviceType\":\"CUDA\",\"Time (ns)\":5")), 2, 0,
	 "time (ns)", 5},
	{"names that only look old",
	 FILE_OF(LEAF("k", "\"Count\":7,\"Time (ns)\":9,\"time (ns)\":5")), 2, 0, "Count", 7},
	{"several trees, as Hatchet writes them",
	 "[{\"name\":\"l\",\"frame\":{\"name\":\"l\"},\"metrics\":{\"count\":1.0},\"attributes\":{},"
	 "\"children\":[]},{\"name\":\"k\",\"frame\":{\"name\":\"k\"},\"metrics\":{\"count\":2.0,"
	 "\"_hatchet_nid\":5},\"attributes\":{},\"children\":[]}]",
	 3, 0, "count", 2},
	{"Hatchet's numbers of nodes",
	 "[{\"frame\":{\"name\":\"k\"},\"metrics\":{\"count\":2,\"_hatchet_nid\":5}}]", 2, 0,
	 "_hatchet_nid", NAN},
	{"a root of another name", "[" LEAF("k", KERNEL) "]", 2, 0, "count", 2},
	{"key twice", "[{\"children\":[{\"metrics\":{\"count\":1},\"metrics\":{\"count\":5},"
		      "\"frame\":{\"name\":\"k\"}}]}]",
	 2, 0, "count", 5},
	{"metric twice", FILE_OF(LEAF("k", "\"bytes\":100,\"m\":7,\"bytes\":200")), 2, 1,
	 "bytes", 200, "a metric is listed twice in one place: the last value counts"},
	{"time twice", FILE_OF(LEAF("k", KERNEL ",\"time (ns)\":20")), 2, 1, "time (ns)", 20},
	{"element twice", FILE_OF(LEAF("k", "\"v\":[1,2],\"v[0]\":5")), 2, 1, "v[0]", 5},
	{"metric twice in a set",
	 "[{\"proton\":{\"sets\":[[\"count\"],[\"bytes\",\"count\",\"bytes\"]],\"lanes\":[{}]},"
	 "\"children\":[{\"proton\":{\"rows\":[[0,0,1,5,6,7]]},\"frame\":{\"name\":\"k\"}}]}]",
	 2, 1, "bytes", 7},
	{"and what is beside it",
	 "[{\"proton\":{\"sets\":[[\"none\"],[\"bytes\",\"count\",\"bytes\"]],\"lanes\":[{}]},"
	 "\"children\":[{\"proton\":{\"rows\":[[0,0,1,5,6,7]]},\"frame\":{\"name\":\"k\"}}]}]",
	 2, 1, "count", 6},
	{"a mean whose weight is listed behind it",
	 "[{\"proton\":{\"metrics\":[{\"name\":\"m\",\"type\":\"f64\",\"add\":\"wmean\",\"weight\":\"w\"},"
	 "{\"name\":\"w\"}],\"sets\":[[\"m\",\"w\"]],\"lanes\":[{},{\"stream\":1}]},\"children\":"
	 "[{\"proton\":{\"rows\":[[0,0,0,10,1],[1,0,0,20,3]]},\"frame\":{\"name\":\"k\"}}]}]",
	 2, 0, "m", 17.5},
	{"a rule that nobody knows",
	 "[{\"proton\":{\"metrics\":[{\"name\":\"m\",\"add\":\"median\"}],\"sets\":[[\"m\"]],"
	 "\"lanes\":[{},{\"stream\":1}]},\"children\":"
	 "[{\"proton\":{\"rows\":[[0,0,0,10],[1,0,0,20]]},\"frame\":{\"name\":\"k\"}}]}]",
	 2, 1, "m", 20, "some metrics add up by a rule that this version does not know"},
	{"our key is nonsense", "[{\"proton\":[1],\"children\":[{\"proton\":3,\"frame\":{\"name\":"
				"\"k\"},\"metrics\":{\"count\":4}}]}]",
	 2, 0, "count", 4},
	{"our key is of another kind",
	 "[{\"proton\":{\"lanes\":{},\"sets\":[3,[]],\"metrics\":[{}],\"version\":\"x\",\"processes\":"
	 "[1,{}],\"intervals\":[{\"node\":77}],\"frames\":[{\"module\":9}],\"losses\":[]},\"children\":"
	 "[{\"proton\":{\"frame\":0,\"kind\":\"kernel\",\"histograms\":[{\"buckets\":[[1],[2,3],7,[],[-1,2],[160,1]],\"durations\":[[1],[[],4],3,[\"x\",1],[1e30,2]]}]},"
	 "\"frame\":{\"name\":\"x\"},\"metrics\":{}}]}]",
	 2, 1, NULL, 0},
	{"rows that refer to nothing",
	 "[{\"proton\":{\"sets\":[[\"count\"]],\"lanes\":[{}]},\"children\":[{\"proton\":{\"rows\":"
	 "[[9,0,0,1],[0,9,0,1],[0,0,9,1],[0],[],[\"a\",1,2],[0,0,0,5]]},\"frame\":{\"name\":"
	 "\"k\"}}]}]",
	 2, 1, "count", 5},
	{"an epoch that is not there",
	 "[{\"proton\":{\"sets\":[[\"count\"]],\"lanes\":[{}],\"epochs\":[{}]},\"children\":"
	 "[{\"proton\":{\"rows\":[[0,1,0,5]]},\"frame\":{\"name\":\"k\"}}]}]",
	 2, 1, "count", NAN},
	{"entries that are none keep their numbers",
	 "[{\"proton\":{\"sets\":[null,[\"bytes\"],[\"count\"]],\"lanes\":[3,{\"device\":1}],"
	 "\"epochs\":[[],{}],\"frames\":[null,{\"name\":\"no\"},{\"name\":\"k\"}],"
	 "\"devices\":[null,{\"type\":\"CUDA\"}]},\"children\":"
	 "[{\"proton\":{\"frame\":2,\"rows\":[[1,1,2,5]]},\"frame\":{\"name\":\"x\"}}]}]",
	 2, 0, "count", 5},
	{"a newer version", "[{\"proton\":{\"version\":99},\"children\":[]}]", 1, 1, NULL, 0},
	{"a loss that only a newer version knows",
	 "[{\"proton\":{\"version\":1,\"losses\":{\"unmatched\":2,\"eaten\":3,\"none\":0},"
	 "\"processes\":[{\"losses\":{\"eaten\":4}},{\"losses\":{\"eaten\":0}}]},"
	 "\"children\":[]}]",
	 1, 1, NULL, 0, "lost, and counted by a newer version of proton: 7 eaten"},
	{"a loss of a newer version that is no number",
	 "[{\"proton\":{\"losses\":{\"eaten\":{\"here\":3}}},\"children\":[]}]", 1, 1, NULL, 0,
	 "lost, and counted by a newer version of proton: eaten"},
	{"kinds of losses without end",
	 "[{\"proton\":{\"losses\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,"
	 "\"h\":1,\"i\":1,\"j\":18446744073709551615}},\"children\":[]}]",
	 1, 8, NULL, 0, "lost, and counted by a newer version of proton: 1 a"},
	{"parts without parents",
	 "[{\"children\":[{\"proton\":{\"parts\":[{\"parent\":5,\"kind\":\"scope\"},7]},\"frame\":"
	 "{\"name\":\"k\"},\"metrics\":{\"count\":6}}]}]",
	 2, 0, "count", 6},
};
/* clang-format on */

START_TEST(tolerates)
{
	struct session *s = parse_ok(tolerated[_i].text, strlen(tolerated[_i].text));
	uint32_t node = node_named(s, "k");
	double v;

	ck_assert_msg(s->n_nodes == tolerated[_i].n_nodes, "%s: %zu nodes", tolerated[_i].what,
		      s->n_nodes);
	ck_assert_msg(s->n_notes == tolerated[_i].n_notes, "%s: %zu notes, %s", tolerated[_i].what,
		      s->n_notes, s->n_notes ? strtab_str(s->strings, s->notes[0].text) : "");
	if (tolerated[_i].note)
		ck_assert_ptr_eq(
			strstr(strtab_str(s->strings, s->notes[0].text), tolerated[_i].note),
			strtab_str(s->strings, s->notes[0].text));
	if (tolerated[_i].metric) {
		v = own(s, node, tolerated[_i].metric);
		ck_assert_msg(v == tolerated[_i].value || (isnan(v) && isnan(tolerated[_i].value)),
			      "%s: %s is %g", tolerated[_i].what, tolerated[_i].metric, v);
	}
	ck_assert(s->ended);
	session_free(s);
}
END_TEST

/* ---- what it refuses: one line each, with the place ---- */

static const struct {
	const char *text, *line;
} refused[] = {
	{"", "f: the file is empty at byte 0"},
	{"  \n", "f: truncated at byte 3"},
	{"[", "f: truncated at byte 1"},
	{"[{\"children\":[", "f: truncated at byte 14"},
	{"[{\"children\":[]", "f: truncated at byte 15"},
	{"[{\"children\":[]}", "f: truncated at byte 16"},
	{"[{}, ", "f: truncated at byte 5"},
	{"hello", "f: not JSON: invalid char in json text at byte 1"},
	{"[{\"a\": NaN}]", "f: not JSON, which has no NaN (write null) at byte 8"},
	{"[{\"a\": Infinity}]", "f: not JSON, which has no Infinity (write null) at byte 8"},
	{"[{\"a\": -Infinity}]", "f: not JSON, which has no Infinity (write null) at byte 8"},
	{"[{\"a\": Nothing}]", "f: not JSON: invalid char in json text at byte 8"},
	{"[{\"a\": tru", "f: truncated at byte 10"},
	{"[{\"a\": trux", "f: not JSON: invalid string in json text at byte 10"},
	{"[{\"a\" 1}]",
	 "f: not JSON: object key and value must be separated by a colon (':') at byte 7"},
	{"[{},]", "f: not JSON: unallowed token at this point in JSON text at byte 5"},
	{"{}", "f: wrong shape: the document is an object at byte 1"},
	{"\"text\"", "f: wrong shape: the document is a string at byte 6"},
	{"17 ", "f: wrong shape: the document is a number at byte 2"},
	{"null", "f: wrong shape: the document is null at byte 4"},
	{"[1]", "f: wrong shape: an element of the list is a number at byte 2"},
	{"[[]]", "f: wrong shape: an element of the list is a list at byte 2"},
	{"[{\"traceEvents\":[]}]",
	 "f: wrong shape: no 'frame', 'metrics' or 'children' in the first "
	 "object of the list at byte 19"},
	{"[{\"children\":{}}]", "f: wrong shape: 'children' is an object at byte 14"},
	{"[{\"children\":5}]", "f: wrong shape: 'children' is a number at byte 14"},
	{"[{\"children\":[1]}]", "f: wrong shape: an element of 'children' is a number at byte 15"},
	{"[{\"children\":[[]]}]", "f: wrong shape: an element of 'children' is a list at byte 15"},
	{"[{\"metrics\":[]}]", "f: wrong shape: 'metrics' is a list at byte 13"},
	{"[{\"metrics\":\"x\"}]", "f: wrong shape: 'metrics' is a string at byte 15"},
	{"[{\"frame\":7}]", "f: wrong shape: 'frame' is a number at byte 11"},
	{"[{\"frame\":{\"name\":7}}]", "f: wrong shape: a frame's 'name' is a number at byte 19"},
	{"[{\"frame\":{\"name\":{}}}]", "f: wrong shape: a frame's 'name' is an object at byte 19"},
};

START_TEST(refuses)
{
	struct format_error error = {0};
	struct session *s;
	struct buf line;

	ck_assert_int_lt(parse(refused[_i].text, strlen(refused[_i].text), &s, &error), 0);
	ck_assert_int_lt(error.code, 0);
	buf_init(&line, 0);
	format_error_line(&error, "f", &line);
	ck_assert_str_eq(buf_str(&line), refused[_i].line);
	buf_done(&line);
}
END_TEST

START_TEST(every_beginning_of_a_file_is_truncated)
{
	struct session *sample = sample_session(), *s;
	struct format_error error = {0};
	struct buf text;
	size_t n, step = getenv("PROTON_TEST_FULL") ? 1 : 7;

	write_text(sample, NULL, &text);
	while (text.len && text.data[text.len - 1] != ']')
		text.len--;
	for (n = 1; n < text.len; n += step) {
		ck_assert_int_eq(parse(text.data, n, &s, &error), -EBADMSG);
		ck_assert_str_eq(error.reason, "truncated");
		ck_assert_uint_eq(error.offset, n);
	}
	buf_done(&text);
	session_free(sample);
}
END_TEST

/* A file with one byte changed is read or refused, and what was read can be written. */
START_TEST(broken_bytes_do_no_harm)
{
	static const char bytes[] = {'"', '9', '{', ']', '\0', (char)0xff};
	struct session *sample = sample_session(), *s;
	struct format_error error = {0};
	struct buf text, again;
	size_t step = getenv("PROTON_TEST_FULL") ? 1 : 11;

	write_text(sample, NULL, &text);
	for (size_t i = 0; i < text.len; i += step) {
		char kept = text.data[i];

		text.data[i] = bytes[i / step % sizeof(bytes)];
		if (parse(text.data, text.len, &s, &error) == 0) {
			write_text(s, NULL, &again);
			buf_done(&again);
			session_free(s);
		}
		text.data[i] = kept;
	}
	buf_done(&text);
	session_free(sample);
}
END_TEST

/* ---- sizes ---- */

static void put_deep(struct buf *b, unsigned depth)
{
	buf_puts(b, "[");
	for (unsigned i = 0; i < depth; i++)
		buf_puts(b, "{\"children\":[");
	for (unsigned i = depth; i-- > 0;)
		buf_printf(b, "]," FRAME("%s") ",\"metrics\":{}}", i ? "f" : "ROOT");
	buf_puts(b, ",{}]");
}

START_TEST(depth_has_no_limit)
{
	static const unsigned depths[] = {5000, 100000};
	struct session *s, *again;
	struct buf text, ours;

	buf_init(&text, 0);
	put_deep(&text, depths[_i]);
	s = parse_ok(text.data, text.len);
	ck_assert_uint_eq(s->n_nodes, depths[_i]);
	write_text(s, NULL, &ours); /* without indentation: it would be most of the file */
	ck_assert_uint_lt(ours.len, text.len * 2);
	again = parse_ok(ours.data, ours.len);
	ck_assert_uint_eq(again->n_nodes, depths[_i]);
	session_free(again);
	session_free(s);
	buf_done(&ours);
	buf_done(&text);
}
END_TEST

/* Indented as upstream does, unless blanks would be most of the file. */
START_TEST(small_trees_are_indented)
{
	static const struct {
		unsigned leaves;
		bool indented;
	} trees[] = {{1, true}, {300, true}, {1000, true}, {2000, false}};
	struct session *s = session_new();
	uint32_t node = SESSION_ROOT;
	struct buf text;
	char name[32];

	for (unsigned i = 0; i < 4; i++)
		node = session_node(s, node, FRAME_SCOPE, "level");
	for (unsigned i = 0, n = 0; i < ARRAY_SIZE(trees); i++) {
		for (; n < trees[i].leaves; n++) {
			snprintf(name, sizeof(name), "step %u", n);
			session_node(s, session_node(s, node, FRAME_SCOPE, name), FRAME_KERNEL,
				     "k");
		}
		write_text(s, NULL, &text);
		ck_assert_int_eq(strstr(buf_str(&text), "\n        \"children\"") != NULL,
				 trees[i].indented);
		buf_done(&text);
	}
	session_free(s);
}
END_TEST

START_TEST(one_node_may_have_very_many_children)
{
	const unsigned n = 200000;
	struct session *s;
	struct buf text, ours;

	buf_init(&text, 0);
	buf_puts(&text, "[{\"children\":[");
	for (unsigned i = 0; i < n; i++)
		buf_printf(&text, "%s" LEAF("k%u", KERNEL), i ? "," : "", i % 100000);
	buf_puts(&text, "]}]");
	s = parse_ok(text.data, text.len);
	ck_assert_uint_eq(s->n_nodes, n + 1);
	write_text(s, NULL, &ours); /* each name is there twice: folded */
	session_free(s);
	s = parse_ok(ours.data, ours.len);
	ck_assert_uint_eq(s->n_nodes, n + 1);
	session_free(s);
	buf_done(&ours);
	buf_done(&text);
}
END_TEST

/* ---- meaning ---- */

START_TEST(kinds_are_guessed)
{
	static const struct {
		const char *name;
		enum frame_kind kind;
	} expected[] = {{"a/b.py:12@f", FRAME_PYTHON}, {"matmul", FRAME_KERNEL},
			{"memcpy HtoD", FRAME_COPY},   {"memset device", FRAME_SET},
			{"cudaMemcpy", FRAME_COPY},    {"<captured_at>", FRAME_GRAPH},
			{"scope", FRAME_FUNCTION},     {"__proton_launch_metadata", FRAME_STATE},
			{"inner", FRAME_INSTRUMENT},   {"f.py:3@k", FRAME_LINE},
			{"a@b", FRAME_FUNCTION},       {"c.c:7@m@GLIBC_2.14", FRAME_PYTHON}};
	static const char text[] = FILE_OF(
		LEAF("a/b.py:12@f", "") "," LEAF("matmul", KERNEL) "," LEAF("memcpy HtoD", KERNEL) "," LEAF("memset device", KERNEL) "," LEAF("cudaMemcpy", KERNEL ",\"direction\":\"x\"") "," LEAF(
			"<captured_at>",
			"") "," LEAF("scope",
				     "") "," LEAF("__proton_launch_metadata",
						  "") "," LEAF("inner",
							       "\"cycles\":5") "," LEAF("f.py:3@k",
											"\"num_samples\":5") "," LEAF("a@b",
														      "") "," LEAF("c.c:7@m@GLIBC_2.14",
																   ""));
	struct session *s = parse_ok(text, strlen(text));

	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_msg(session_node_kind(s, node_named(s, expected[i].name)) ==
				      expected[i].kind,
			      "%s", expected[i].name);
	session_free(s);
}
END_TEST

static enum metric_scope scope_of(const struct session *s, const char *metric)
{
	return (enum metric_scope)metric_table_get(s->metrics,
						   metric_table_find(s->metrics, metric))
		->scope;
}

/* Upstream stopped listing users' metrics at the root: with none listed they are inclusive, with
 * some listed the others are exclusive. */
START_TEST(metrics_are_inclusive_unless_known_not_to_be)
{
	static const char fresh[] = "[{\"children\":[" LEAF(
		"k", "\"mine\":1,\"cpu_time (ns)\":2,"
		     "\"m (exc)\":1,\"p\":\"x\"") "],\"metrics\":{\"count\":0,\"time (ns)\":0}}]";
	static const char old[] = "[{\"children\":[" LEAF(
		"k",
		"\"mine\":1,\"other\":2") "],\"metrics\":{\"count\":0,\"time (ns)\":0,\"mine\":0}}]";
	struct session *s = parse_ok(fresh, strlen(fresh));

	ck_assert_int_eq(scope_of(s, "mine"), METRIC_INCLUSIVE);
	ck_assert_int_eq(scope_of(s, "cpu_time (ns)"), METRIC_EXCLUSIVE);
	ck_assert_int_eq(scope_of(s, "m (exc)"), METRIC_EXCLUSIVE);
	ck_assert_int_eq(scope_of(s, "p"), METRIC_PROPERTY);
	session_free(s);
	s = parse_ok(old, strlen(old));
	ck_assert_int_eq(scope_of(s, "mine"), METRIC_INCLUSIVE);
	ck_assert_int_eq(scope_of(s, "other"), METRIC_EXCLUSIVE);
	session_free(s);
}
END_TEST

/* Whatever a file says of them. */
static double whole(struct snapshot *snap, const char *metric, uint32_t node)
{
	const struct session *s = snapshot_session(snap);

	return snapshot_column(snap, metric_table_find(s->metrics, metric), true)->v[node];
}

/* 2 ns at 10 and 6 ns at 50 are 40; without the times they count alike. */
START_TEST(what_hardware_counted_adds_up_by_its_name)
{
	static const char file[] =
		"[{\"frame\":{\"name\":\"ROOT\",\"type\":\"function\"},"
		"\"metrics\":{\"u__a.sum\":7,\"time (ns)\":8},"
		"\"children\":[{\"frame\":{\"name\":\"p\",\"type\":\"function\"},"
		"\"metrics\":{\"u__a.sum\":3,\"u__b.pct\":10,\"u__c.max\":1,\"%s\":2},"
		"\"children\":[{\"frame\":{\"name\":\"c\",\"type\":\"function\"},"
		"\"metrics\":{\"u__a.sum\":4,\"u__b.pct\":50,\"u__c.max\":9,\"%s\":6},"
		"\"children\":[]}]}]}]";
	static const char *const times[] = {"measured_time (ns)", "other"};

	for (unsigned i = 0; i < ARRAY_SIZE(times); i++) {
		const struct snapshot_spec spec = {0};
		char text[1024];
		struct snapshot *snap;
		struct session *s;
		uint32_t p;

		snprintf(text, sizeof(text), file, times[i], times[i]);
		s = parse_ok(text, strlen(text));
		snap = snapshot_new(s, &spec);
		ck_assert_int_eq(snapshot_update(snap, 1), 0);
		p = 1;
		ck_assert(whole(snap, "u__a.sum", p) == 7);
		ck_assert(whole(snap, "u__b.pct", p) == (i ? 30 : 40));
		ck_assert(whole(snap, "u__c.max", p) == 9);
		snapshot_free(snap);
		session_free(s);
	}
}
END_TEST

START_TEST(texts_do_not_add_up)
{
	static const char text[] = "[{\"proton\":{\"metrics\":[{\"name\":\"m\",\"type\":\"text\","
				   "\"scope\":\"inclusive\",\"add\":\"sum\"}]},\"children\":[]}]";
	struct session *s = parse_ok(text, strlen(text));

	ck_assert_int_eq(scope_of(s, "m"), METRIC_PROPERTY);
	ck_assert_int_eq(metric_table_get(s->metrics, metric_table_find(s->metrics, "m"))->add,
			 METRIC_LAST);
	session_free(s);
}
END_TEST

START_TEST(the_roots_zeros_are_no_values)
{
	static const char text[] =
		"[{\"children\":[],\"metrics\":{\"count\":0,\"mine\":0,\"yours\":5}}]";
	struct session *s = parse_ok(text, strlen(text));

	ck_assert(isnan(own(s, 0, "count")));
	ck_assert(isnan(own(s, 0, "mine")));
	ck_assert(own(s, 0, "yours") == 5);
	session_free(s);
}
END_TEST

/* What a program gave: lists, a name that is a number here and a text there, and one of what is measured. */
static struct session *given_session(void)
{
	static const struct {
		const char *name;
		enum metric_type type;
	} metrics[] = {{"tile[1] (us)", METRIC_U64}, {"lr", METRIC_F64},
		       {"tile[0] (us)", METRIC_U64}, {"lr (text)", METRIC_TEXT},
		       {"odd[1]", METRIC_F64},       {"user:count", METRIC_U64}};
	struct session *s = session_new();
	uint32_t nodes[] = {session_node(s, SESSION_ROOT, FRAME_SCOPE, "first"),
			    session_node(s, SESSION_ROOT, FRAME_SCOPE, "second")};
	uint32_t ids[ARRAY_SIZE(metrics)], lane = gpu_lane(s);
	struct metric m;

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		metric_guess(metrics[i].name, metrics[i].type, &m);
		ids[i] = metric_table_add(s->metrics, &m);
	}
	for (uint32_t i = 0; i < 2; i++) {
		session_add(s, nodes[i], lane, 0, ids[0], (union metric_value){.u64 = 2});
		session_add(s, nodes[i], lane, 0, ids[2], (union metric_value){.u64 = 1 + i});
		session_add(s, nodes[i], lane, 0, ids[5], (union metric_value){.u64 = 5});
	}
	kernel(s, nodes[1], lane, 100, 1);
	session_add(s, nodes[0], lane, 0, ids[1], (union metric_value){.f64 = 0.5});
	session_add(s, nodes[0], lane, 0, ids[4], (union metric_value){.f64 = 7});
	session_add(s, nodes[1], lane, 0, ids[3],
		    (union metric_value){.text = strtab_adds(s->strings, "cosine")});
	return s;
}

static const struct write_options as_given = {.as_given = true, .compact = true};

START_TEST(what_was_given_is_as_it_was_given)
{
	struct session *s = given_session(), *back;
	struct buf text;

	write_text(s, &as_given, &text);
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"count\":5,"));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"count\":1,\"user:count\":5,"));
	ck_assert_ptr_nonnull(
		strstr(buf_str(&text), "\"lr\":0.5,\"odd\":[null,7.0],\"tile (us)\":[1,2]"));
	ck_assert_ptr_nonnull(
		strstr(buf_str(&text), "\"lr\":\"cosine\",\"tile (us)\":[2,2],\"time (ns)\":100"));
	back = parse_ok(text.data, text.len);
	ck_assert_uint_eq(back->n_notes, 0); /* rows and metrics say the same */
	ck_assert(own(back, node_named(back, "second"), "tile[0] (us)") == 2);
	ck_assert(own(back, node_named(back, "first"), "odd[1]") == 7);
	ck_assert(own(back, node_named(back, "first"), "user:count") == 5);
	ck_assert(isnan(own(back, node_named(back, "first"), "count")));
	ck_assert_uint_ne(metric_table_find(back->metrics, "lr (text)"), METRIC_NONE);
	session_free(back);
	buf_done(&text);
	session_free(s);
}
END_TEST

START_TEST(what_was_given_is_so_in_messagepack)
{
	struct session *s = given_session(), *back = session_new();
	struct out *out = malloc(sizeof(*out));
	struct format_error error = {0};
	struct reader_memory memory;
	struct reader_input in;
	struct buf data;

	buf_init(&data, 0);
	out_to_buf(out, &data);
	ck_assert_int_eq(format_msgpack.write(s, &as_given, out), 0);
	ck_assert_int_eq(out_flush(out), 0);
	memory = (struct reader_memory){data.data, data.len, 0};
	reader_init_memory(&in, &memory);
	ck_assert_msg(format_read(&in, back, &error) == 0, "%s", error.reason);
	ck_assert(own(back, node_named(back, "second"), "tile[0] (us)") == 2);
	ck_assert(own(back, node_named(back, "first"), "odd[1]") == 7);
	ck_assert(own(back, node_named(back, "second"), "user:count") == 5);
	ck_assert(own(back, node_named(back, "second"), "count") == 1);
	session_free(back);
	buf_done(&data);
	free(out);
	session_free(s);
}
END_TEST

/* As a file of others has them: what the collector names is "user:device_id". */
START_TEST(where_a_node_ran_is_no_metric)
{
	static const char *const names[] = {"device_id", "device_type[1]"};
	struct session *s = session_new(), *back;
	uint32_t node = session_node(s, SESSION_ROOT, FRAME_KERNEL, "k"), lane = gpu_lane(s);
	struct buf text;
	struct metric m;

	kernel(s, node, lane, 100, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		metric_guess(names[i], METRIC_U64, &m);
		session_add(s, node, lane, 0, metric_table_add(s->metrics, &m),
			    (union metric_value){.u64 = 7 + i});
	}
	for (unsigned i = 0; i < 2; i++) {
		write_text(s,
			   i ? &as_given : &(struct write_options){.compact = true, .plain = true},
			   &text);
		ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"device_id\":\"0\""));
		ck_assert_ptr_null(strstr(buf_str(&text), "\"device_id\":7"));
		ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"user:device_id\":7"));
		ck_assert_ptr_nonnull(strstr(buf_str(&text), "\"device_type[1]\":8"));
		back = parse_ok(text.data, text.len);
		/* Its name is in the rows. */
		ck_assert(own(back, node_named(back, "k"), i ? names[0] : "user:device_id") == 7);
		session_free(back);
		buf_done(&text);
	}
	session_free(s);
}
END_TEST

START_TEST(elements_are_named_before_the_unit)
{
	static const char text[] = "[{\"children\":[{\"frame\":{\"name\":\"a\"},\"metrics\":"
				   "{\"t (us)\":[1,2.5]}}],\"frame\":{\"name\":\"ROOT\"}}]";
	struct session *s = parse_ok(text, sizeof(text) - 1);

	ck_assert(own(s, node_named(s, "a"), "t[0] (us)") == 1);
	ck_assert(own(s, node_named(s, "a"), "t[1] (us)") == 2.5);
	session_free(s);
}
END_TEST

START_TEST(whole_numbers_stay_exact)
{
	static const char text[] =
		FILE_OF(LEAF("k", "\"time (ns)\":18446744073709551615,\"m\":9007199254740993"));
	struct session *s = parse_ok(text, strlen(text));
	union metric_value v;
	struct buf ours;

	ck_assert(session_value(s, 1, METRIC_TIME, &v));
	ck_assert(v.u64 == UINT64_MAX);
	ck_assert(session_value(s, 1, metric_table_find(s->metrics, "m"), &v));
	ck_assert(v.u64 == UINT64_C(9007199254740993));
	write_text(s, NULL, &ours);
	ck_assert_ptr_nonnull(strstr(buf_str(&ours), "18446744073709551615"));
	ck_assert_ptr_nonnull(strstr(buf_str(&ours), "9007199254740993"));
	buf_done(&ours);
	session_free(s);
}
END_TEST

/* Rows of two processes, which the file names by their place in its list. */
START_TEST(processes_are_as_many_as_are_listed)
{
	static const char *const lists[] = {
		"{\"pid\":7},{\"pid\":1,\"instance\":\"5\"},{\"pid\":2,\"instance\":\"5\"}",
		"null,{\"pid\":1},{\"pid\":2}",
	};
	struct session *s;
	char text[512];
	size_t i;

	snprintf(text, sizeof(text),
		 "[{\"proton\":{\"processes\":[%s],\"lanes\":[{\"process\":1},{\"process\":2}],"
		 "\"sets\":[[\"count\"]]},\"children\":"
		 "[{\"proton\":{\"rows\":[[0,0,0,5],[1,0,0,6]]},"
		 "\"frame\":{\"name\":\"k\"}}]}]",
		 lists[_i]);
	s = parse_ok(text, strlen(text));
	ck_assert_uint_eq(s->n_processes, 3 - _i);
	ck_assert_uint_eq(s->n_rows, 2);
	for (i = 0; i < 2; i++)
		ck_assert_uint_eq(s->processes[s->lanes[s->rows[i].lane].process].pid, i + 1);
	session_free(s);
}
END_TEST

START_TEST(devices_are_found)
{
	static const char text[] =
		"[{\"children\":[" LEAF("a", "\"cycles\":1,\"device_id\":\"0\",\"device_type\":\"1\"") "," LEAF(
			"k",
			KERNEL) "]},{\"CUDA\":{\"0\":{\"arch\":\"90\",\"num_sms\":132,\"x\":[]},"
				"\"1\":{\"arch\":\"80\"},\"2\":7},\"note\":\"none\"}]";
	struct session *s = parse_ok(text, strlen(text));

	ck_assert_uint_eq(s->n_devices, 2);
	ck_assert_str_eq(strtab_str(s->strings, s->devices[0].type), "CUDA");
	ck_assert_uint_eq(s->devices[0].num_sms, 132);
	ck_assert_int_eq(s->devices[1].index, 1);
	ck_assert_uint_eq(s->n_lanes, 1); /* "1" is upstream's number of "CUDA" */
	session_free(s);
}
END_TEST

static TCase *contract_cases(void)
{
	TCase *tc = tcase_create("contract");

	tcase_add_test(tc, writes_the_bytes_that_upstream_writes);
	tcase_add_test(tc, upstreams_files_come_back_byte_for_byte);
	tcase_add_test(tc, upstreams_files_keep_their_content);
	tcase_add_test(tc, upstreams_files_have_upstreams_numbers);
	tcase_add_test(tc, everything_survives_a_file);
	tcase_add_test(tc, nothing_of_ours_in_a_plain_file);
	tcase_add_test(tc, siblings_of_one_name_are_folded);
	tcase_add_test(tc, the_heaviest_device_gives_its_id);
	tcase_add_test(tc, the_root_lists_what_adds_up);
	tcase_add_test(tc, texts_that_are_not_utf8_survive);
	tcase_add_test(tc, kinds_are_guessed);
	tcase_add_test(tc, metrics_are_inclusive_unless_known_not_to_be);
	tcase_add_test(tc, what_hardware_counted_adds_up_by_its_name);
	tcase_add_test(tc, texts_do_not_add_up);
	tcase_add_test(tc, the_roots_zeros_are_no_values);
	tcase_add_test(tc, what_was_given_is_as_it_was_given);
	tcase_add_test(tc, what_was_given_is_so_in_messagepack);
	tcase_add_test(tc, where_a_node_ran_is_no_metric);
	tcase_add_test(tc, elements_are_named_before_the_unit);
	tcase_add_test(tc, whole_numbers_stay_exact);
	tcase_add_test(tc, devices_are_found);
	tcase_add_loop_test(tc, processes_are_as_many_as_are_listed, 0, 2);
	return tc;
}

static TCase *input_cases(void)
{
	TCase *tc = tcase_create("input");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, tolerates, 0, ARRAY_SIZE(tolerated));
	tcase_add_loop_test(tc, refuses, 0, ARRAY_SIZE(refused));
	tcase_add_test(tc, every_beginning_of_a_file_is_truncated);
	tcase_add_test(tc, broken_bytes_do_no_harm);
	tcase_add_loop_test(tc, depth_has_no_limit, 0, 2);
	tcase_add_test(tc, small_trees_are_indented);
	tcase_add_test(tc, one_node_may_have_very_many_children);
	return tc;
}

int main(void)
{
	Suite *suite = suite_create("hatchet");

	suite_add_tcase(suite, contract_cases());
	suite_add_tcase(suite, input_cases());
	return check_run(suite);
}
