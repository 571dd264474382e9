/* SPDX-License-Identifier: MIT */
/* Names of compiled code: of this program, of files that are none, of code that is made at run time; and
 * what the decoder makes of them. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "core/session.h"
#include "naming/native.h"
#include "naming/perf_map.h"
#include "wire/decode.h"
#include "wire/encode.h"

/* ---- files ---- */

static char self[4096];
static struct native_names *names;
static struct native_function found[NATIVE_INLINED_MAX];

static void setup(void)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	names = native_names_new();
	ck_assert_ptr_nonnull(names);
}

static void teardown(void)
{
	native_names_free(names);
}

static unsigned look(const char *path, const char *build_id, uint64_t offset)
{
	const struct native_place place = {path, build_id, offset};
	const struct native_namer *namer = native_names_namer(names);
	unsigned n = namer->functions(namer->ctx, &place, found);

	ck_assert_uint_ge(n, 1);
	for (unsigned i = 0; i < n; i++)
		ck_assert_ptr_nonnull(found[i].text);
	return n;
}

static uint64_t offset_of(void *address)
{
	return (uintptr_t)address - _r_debug.r_map->l_addr;
}

#ifdef HAVE_LIBDW
static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

START_TEST(a_function_of_this_program)
{
	look(self, "", offset_of((void *)setup));
	ck_assert_msg(ends_with(found[0].text, "setup"), "%s", found[0].text);
	look(self, "", offset_of((void *)setup)); /* it is known now */
	ck_assert(ends_with(found[0].text, "setup"));
}
END_TEST

/* A copy, cut off or written over anywhere: an error or a name, and nothing else. */
START_TEST(broken_files)
{
	uint64_t offset = offset_of((void *)setup);
	size_t n, size = 0;
	char *bytes = NULL, path[] = "/tmp/native_names.XXXXXX";
	FILE *f = fopen(self, "rbe");
	int fd = mkstemp(path);

	ck_assert(f && fd >= 0 && fseek(f, 0, SEEK_END) == 0);
	size = (size_t)ftell(f);
	rewind(f);
	bytes = malloc(size);
	ck_assert_uint_eq(fread(bytes, 1, size, f), size);
	fclose(f);
	srandom(7);
	for (int round = 0; round < 30; round++) {
		n = round % 2 ? size : (size_t)random() % size;
		for (int i = 0; round % 2 && i < 20000; i++)
			bytes[64 + (size_t)random() % (size - 64)] = (char)random();
		ck_assert_int_eq(ftruncate(fd, 0), 0);
		ck_assert_int_eq(pwrite(fd, bytes, n, 0), (ssize_t)n);
		native_names_free(names);
		names = native_names_new();
		for (int i = 0; i < 10; i++)
			look(path, "", offset + (uint64_t)i * 64);
	}
	unlink(path);
	close(fd);
	free(bytes);
}
END_TEST
#endif

START_TEST(what_is_no_file)
{
	ck_assert_uint_eq(look("/nowhere/libnone.so.1", "", 0x1f), 1);
	ck_assert_str_eq(found[0].text, "libnone.so.1+0x1f");
	ck_assert_ptr_null(found[0].file);
	look("", "", 0);
	ck_assert_str_eq(found[0].text, "?+0x0");
	look("/tmp", "", 1);
	ck_assert_str_eq(found[0].text, "tmp+0x1");
	look("/etc/passwd", "", 1);
	ck_assert_str_eq(found[0].text, "passwd+0x1");
	/* A file with another id is another file. */
	look(self, "0123456789abcdef", offset_of((void *)setup));
	ck_assert_ptr_nonnull(strstr(found[0].text, "+0x"));
}
END_TEST

START_TEST(there_is_time_for_one)
{
	const struct native_namer *namer = native_names_namer(names);

	ck_assert(namer->may_ask(namer->ctx));
	native_names_slice(names, 1);
	ck_assert(namer->may_ask(namer->ctx));
	look("/nowhere", "", 0);
	ck_assert(!namer->may_ask(namer->ctx));
	native_names_slice(names, 0);
	look("/nowhere", "", 1);
	ck_assert(namer->may_ask(namer->ctx));
}
END_TEST

START_TEST(maps_of_code_that_is_made)
{
	struct perf_map *m;
	char path[64];
	FILE *f;

	ck_assert(perf_map_is("/tmp/perf-12.map"));
	ck_assert(!perf_map_is("/tmp/perf-12.map2"));
	ck_assert(!perf_map_is("/tmp/perf-.map"));
	ck_assert(!perf_map_is("/tmp/x/perf-12.map"));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	m = perf_map_new(path);
	ck_assert_ptr_null(perf_map_find(m, 0x1000));
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fputs("1000 10 one\nnonsense\n\n2000 10\nffffffffffffffff ffffffffffffffff last\n0x3000 10 a b\n4000 10 cut",
	      f);
	fflush(f);
	ck_assert_str_eq(perf_map_find(m, 0x100f), "one");
	ck_assert_ptr_null(perf_map_find(m, 0x1010));
	ck_assert_ptr_null(perf_map_find(m, 0x2000));
	ck_assert_str_eq(perf_map_find(m, 0x3000), "a b");
	ck_assert_ptr_null(perf_map_find(m, 0x4000));
	fputs(" no more\n1000 8 other\n", f);
	fclose(f);
	ck_assert_str_eq(perf_map_find(m, 0x4000), "cut no more");
	ck_assert_str_eq(perf_map_find(m, 0x1000), "other"); /* said last */
	ck_assert_str_eq(perf_map_find(m, 0x1008), "one");
	unlink(path);
	perf_map_free(m);
}
END_TEST

/* ---- the decoder ---- */

static struct session *s;
static struct wire_decoder *d;
static bool has_time = true;

/* Offsets from 100 on are "twice" within "outer", others "once". */
static unsigned two_names(void *ctx, const struct native_place *place,
			  struct native_function ret[NATIVE_INLINED_MAX])
{
	ck_assert_str_eq(place->path, "/a");
	if (place->offset < 100) {
		ret[0] = (struct native_function){.text = "once"};
		return 1;
	}
	ret[0] = (struct native_function){.text = "outer"};
	ret[1] = (struct native_function){"a.c:7@twice", "a.c", 7};
	return 2;
}

/* As many lines as are told of: "/k.cu:1@f" is the outermost. */
static unsigned most_lines(void *ctx, const struct native_place *place,
			   struct native_function ret[NATIVE_INLINED_MAX])
{
	static char texts[NATIVE_INLINED_MAX][32];

	for (unsigned i = 0; i < NATIVE_INLINED_MAX; i++) {
		snprintf(texts[i], sizeof(texts[i]), "/k.cu:%u@f", i + 1);
		ret[i] = (struct native_function){texts[i], "/k.cu", i + 1};
	}
	return NATIVE_INLINED_MAX;
}

static bool may_ask(void *ctx)
{
	return has_time;
}

static const struct native_namer namer = {
	.functions = two_names, .lines = most_lines, .may_ask = may_ask};

static int feed(void *arg, const void *frame, size_t n)
{
	return wire_decoder_feed(d, frame, n);
}

/* An instance with one file and a name for a kernel. */
static void send_head(struct wire_encoder *e)
{
	const struct wire_hello hello = {.version = WIRE_VERSION, .pid = 1};
	const struct wire_module_def module = {.id = 0, .path = 1};

	wire_put(e, WIRE_HELLO, &hello, sizeof(hello));
	wire_encode_text(e, 1, "/a", 2);
	wire_encode_text(e, 2, "gemm", 4);
	wire_put(e, WIRE_MODULES, &module, sizeof(module));
}

/* An instance with places, each of which has a kernel below it, and the values of these. */
static void send_places(struct wire_encoder *e, const uint64_t *offsets, uint32_t n)
{
	send_head(e);
	for (uint32_t i = 0; i < n; i++) {
		const struct wire_frame_def f = {
			.id = i, .kind = FRAME_NATIVE, .offset = offsets[i]};

		wire_put(e, WIRE_FRAMES, &f, sizeof(f));
	}
	const struct wire_frame_def kernel = {
		.id = n, .kind = FRAME_KERNEL, .string = 2, .module = WIRE_NONE};

	wire_put(e, WIRE_FRAMES, &kernel, sizeof(kernel));
	for (uint32_t i = 0; i < n; i++) {
		const struct wire_node_def nodes[] = {{2 * i + 1, 0, i}, {2 * i + 2, 2 * i + 1, n}};
		const struct wire_slot_def slot = {.id = i, .node = 2 * i + 2};

		wire_put(e, WIRE_NODES, &nodes[0], sizeof(nodes[0]));
		wire_put(e, WIRE_NODES, &nodes[1], sizeof(nodes[1]));
		wire_encoder_flush(e);
		wire_put(e, WIRE_SLOTS, &slot, sizeof(slot));
	}
	ck_assert_int_eq(wire_encoder_flush(e), 0);
}

static void send_values(struct wire_encoder *e, uint32_t slot, uint64_t time, uint64_t count,
			uint64_t min, uint64_t max)
{
	const struct wire_kernel_values v = {slot, 0, time, count, min, max};

	wire_put(e, WIRE_KERNELS, &v, sizeof(v));
	ck_assert_int_eq(wire_encoder_flush(e), 0);
}

static void decoder_setup(void)
{
	has_time = true;
	s = session_new();
	d = wire_decoder_new(s);
	wire_decoder_set_namer(d, &namer);
}

static void decoder_teardown(void)
{
	wire_decoder_free(d);
	session_free(s);
}

/* The one node of this name. */
static uint32_t node_of(const char *name)
{
	uint32_t found_node = SESSION_NONE;

	for (uint32_t i = 0; i < s->n_nodes; i++)
		if (!strcmp(session_node_name(s, i), name)) {
			ck_assert_uint_eq(found_node, SESSION_NONE);
			found_node = i;
		}
	ck_assert_uint_ne(found_node, SESSION_NONE);
	return found_node;
}

static uint64_t value_of(uint32_t node, uint32_t metric)
{
	union metric_value v;

	ck_assert(session_value(s, node, metric, &v));
	return v.u64;
}

START_TEST(inlined_functions_are_nodes)
{
	static const uint64_t offsets[] = {1, 100, 101};
	struct wire_encoder e;
	uint32_t node;

	wire_encoder_init(&e, 5, feed, NULL);
	send_places(&e, offsets, 3);
	node = node_of("a.c:7@twice");
	ck_assert_uint_eq(s->nodes[node].parent, node_of("outer"));
	ck_assert_uint_eq(s->frames[s->nodes[node].frame].line, 7);
	ck_assert_uint_eq(s->nodes[node_of("outer")].parent, SESSION_ROOT);
	ck_assert_uint_eq(s->nodes[node_of("once")].parent, SESSION_ROOT);
	ck_assert_uint_eq(session_loss(s, LOSS_WIRE_ERROR), 0);
}
END_TEST

/* An instruction is below its innermost line, however many functions are inlined there. */
START_TEST(an_instruction_is_in_its_innermost_line)
{
	const struct wire_frame_def f = {.id = 0, .kind = FRAME_INSTRUCTION, .offset = 0x10};
	const struct wire_node_def node = {1, 0, 0};
	struct wire_encoder e;
	char name[32];
	uint32_t at;

	wire_encoder_init(&e, 5, feed, NULL);
	send_head(&e);
	wire_put(&e, WIRE_FRAMES, &f, sizeof(f));
	wire_put(&e, WIRE_NODES, &node, sizeof(node));
	ck_assert_int_eq(wire_encoder_flush(&e), 0);
	at = s->n_nodes - 1;
	ck_assert_int_eq(s->frames[s->nodes[at].frame].kind, FRAME_INSTRUCTION);
	for (unsigned i = NATIVE_INLINED_MAX; i > 0; i--) {
		at = s->nodes[at].parent;
		snprintf(name, sizeof(name), "/k.cu:%u@f", i);
		ck_assert_str_eq(session_node_name(s, at), name);
	}
	ck_assert_uint_eq(s->nodes[at].parent, SESSION_ROOT);
}
END_TEST

/* Two addresses, one node: what each says is the whole of its own. */
START_TEST(parts_of_a_node_add_up)
{
	static const uint64_t offsets[] = {100, 101, 102};
	struct wire_encoder e;
	uint32_t kernel;

	wire_encoder_init(&e, 5, feed, NULL);
	send_places(&e, offsets, 3);
	kernel = node_of("gemm");
	send_values(&e, 0, 100, 2, 40, 60);
	send_values(&e, 1, 1000, 1, 1000, 1000);
	send_values(&e, 2, 10, 1, 10, 10);
	send_values(&e, 0, 300, 6, 40, 70);
	send_places(&e, offsets, 3); /* said again (resync) */
	send_values(&e, 1, 3000, 3, 900, 1100);
	ck_assert_uint_eq(value_of(kernel, METRIC_TIME), 3310);
	ck_assert_uint_eq(value_of(kernel, METRIC_COUNT), 10);
	ck_assert_uint_eq(value_of(kernel, METRIC_TIME_MIN), 10);
	ck_assert_uint_eq(value_of(kernel, METRIC_TIME_MAX), 1100);
	ck_assert_uint_eq(s->n_rows, 1);
	send_values(&e, 0, 0, 0, 0, 0); /* reset */
	send_values(&e, 1, 5, 1, 5, 5);
	send_values(&e, 2, 0, 0, 0, 0);
	ck_assert_uint_eq(value_of(kernel, METRIC_TIME), 5);
	ck_assert_uint_eq(value_of(kernel, METRIC_COUNT), 1);
}
END_TEST

static int keep(void *arg, const void *frame, size_t n)
{
	buf_put(arg, frame, n);
	return 0;
}

START_TEST(what_there_is_no_time_for_waits)
{
	static const uint64_t offsets[] = {1, 100, 101};
	_cleanup_(buf_done) struct buf all = {0};
	struct wire_encoder e;

	has_time = false;
	wire_encoder_init(&e, 5, keep, &all);
	send_places(&e, offsets, 3);
	send_values(&e, 1, 7, 1, 7, 7);
	ck_assert_int_eq(wire_decoder_feed(d, all.data, all.len), 0);
	ck_assert(wire_decoder_stalled(d));
	ck_assert_uint_gt(wire_decoder_pending(d), 0);
	ck_assert_uint_eq(s->n_nodes, 1);
	for (int i = 0; wire_decoder_stalled(d); i++) {
		ck_assert_int_lt(i, 10); /* each time at least one */
		ck_assert_int_eq(wire_decoder_feed(d, NULL, 0), 0);
	}
	ck_assert_uint_eq(wire_decoder_pending(d), 0);
	ck_assert_uint_eq(s->nodes[node_of("a.c:7@twice")].parent, node_of("outer"));
	ck_assert_uint_eq(session_loss(s, LOSS_WIRE_ERROR) + session_loss(s, LOSS_WIRE_GAP), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("native names");
	TCase *files = tcase_create("files"), *decoder = tcase_create("decoder");

	tcase_add_checked_fixture(files, setup, teardown);
#ifdef HAVE_LIBDW
	tcase_add_test(files, a_function_of_this_program);
	tcase_add_test(files, broken_files);
#endif
	tcase_add_test(files, what_is_no_file);
	tcase_add_test(files, there_is_time_for_one);
	tcase_add_test(files, maps_of_code_that_is_made);
	suite_add_tcase(suite, files);
	tcase_add_checked_fixture(decoder, decoder_setup, decoder_teardown);
	tcase_add_test(decoder, inlined_functions_are_nodes);
	tcase_add_test(decoder, an_instruction_is_in_its_innermost_line);
	tcase_add_test(decoder, parts_of_a_node_add_up);
	tcase_add_test(decoder, what_there_is_no_time_for_waits);
	suite_add_tcase(suite, decoder);
	return check_run(suite);
}
