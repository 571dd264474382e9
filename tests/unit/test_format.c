/* SPDX-License-Identifier: MIT */
/* Tests of what the formats share: the sink, files, numbers, JSON text, the JSON export, and what
 * happens when memory runs out. */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "check_main.h"
#include "format/format.h"
#include "format/hatchet.h"
#include "format/json_writer.h"
#include "format/place.h"
#include "format/tokens.h"
#include "format/write_file.h"
#include "format_sample.h"
#include "json_tree.h"

static char dir[64];

static void make_dir(void)
{
	strcpy(dir, "/tmp/proton-format-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static void remove_dir(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
}

static const char *content(const char *path)
{
	static char data[4096];
	FILE *f = fopen(path, "rb");
	size_t n;

	if (!f)
		return "(none)";
	n = fread(data, 1, sizeof(data) - 1, f);
	data[n] = '\0';
	fclose(f);
	return data;
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

/* Names in the directory, which must not grow by a forgotten temporary file. */
static unsigned n_files(void)
{
	FILE *f = popen("ls -A | wc -l", "r");
	unsigned n = 0;

	ck_assert_int_eq(fscanf(f, "%u", &n), 1);
	pclose(f);
	return n;
}

static int fill_text(struct out *o, void *ctx)
{
	out_puts(o, ctx);
	return 0;
}

static int fill_and_fail(struct out *o, void *ctx)
{
	out_puts(o, ctx);
	return -EDOM;
}

static int write_text(const char *path, out_fill_fn *fill, const char *text)
{
	return write_file_tagged(path, 0, fill, (void *)(uintptr_t)text);
}

/* ---- the sink ---- */

static int count_bytes(void *ctx, const char *data, size_t len)
{
	*(size_t *)ctx += len;
	return 0;
}

static int disk_full(void *ctx, const char *data, size_t len)
{
	size_t *room = ctx;

	if (len > *room)
		return -ENOSPC;
	*room -= len;
	return 0;
}

START_TEST(out_takes_pieces_of_any_size)
{
	static char large[3 * OUT_SIZE];
	struct out *o = malloc(sizeof(*o));
	size_t n = 0, expected = 0;

	memset(large, 'x', sizeof(large));
	out_init(o, count_bytes, &n);
	for (size_t len = 0; len < sizeof(large); len = len * 2 + 1) {
		out_put(o, large, len);
		out_printf(o, "%.*s", (int)len, large);
		out_spaces(o, len);
		expected += 3 * len;
	}
	ck_assert_int_eq(out_flush(o), 0);
	ck_assert_uint_eq(n, expected);
	ck_assert_uint_eq(o->total, expected);
	free(o);
}
END_TEST

START_TEST(out_keeps_its_first_error)
{
	struct out *o = malloc(sizeof(*o));
	size_t room = OUT_SIZE;

	out_init(o, disk_full, &room);
	for (int i = 0; i < 200000; i++)
		out_putc(o, 'x');
	ck_assert_int_eq(o->error, -ENOSPC);
	room = SIZE_MAX;
	ck_assert_int_eq(out_flush(o), -ENOSPC);
	free(o);
}
END_TEST

/* ---- files ---- */

START_TEST(files_are_replaced_in_one_piece)
{
	struct stat st;

	umask(022);
	ck_assert_int_eq(write_text("new", fill_text, "one"), 0);
	ck_assert_str_eq(content("new"), "one");
	ck_assert_int_eq(stat("new", &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0644);
	ck_assert_int_eq(chmod("new", 0600), 0);
	ck_assert_int_eq(write_text("new", fill_text, "two"), 0);
	ck_assert_str_eq(content("new"), "two");
	ck_assert_int_eq(stat("new", &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(write_text("new", fill_and_fail, "three"), -EDOM);
	ck_assert_str_eq(content("new"), "two");
	ck_assert_int_eq(write_text("other", fill_and_fail, "three"), -EDOM);
	ck_assert_uint_eq(n_files(), 1);
}
END_TEST

START_TEST(links_are_followed)
{
	struct stat st;

	ck_assert_int_eq(mkdir("sub", 0755), 0);
	ck_assert_int_eq(symlink("sub/link2", "link"), 0);
	ck_assert_int_eq(symlink("../target", "sub/link2"), 0);
	ck_assert_int_eq(write_text("link", fill_text, "one"), 0); /* dangling at first */
	ck_assert_int_eq(write_text("link", fill_text, "two"), 0);
	ck_assert_str_eq(content("target"), "two");
	ck_assert_int_eq(lstat("link", &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	ck_assert_int_eq(write_text("loop", fill_text, "x"), -ELOOP);
}
END_TEST

/* A check says what writing would, and leaves nothing. */
START_TEST(a_place_is_checked)
{
	put_file("old", "text");
	ck_assert_int_eq(symlink("target", "link"), 0);
	ck_assert_int_eq(symlink("nowhere/target", "lost"), 0);
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	unsigned n = n_files();

	ck_assert_int_eq(write_file_check("new"), 0);
	ck_assert_int_eq(write_file_check("old"), 0);
	ck_assert_int_eq(write_file_check("link"), 0);
	ck_assert_int_eq(write_file_check("fifo"), 0); /* which nobody reads */
	ck_assert_int_eq(write_file_check("/dev/stdout"), 0);
	ck_assert_int_eq(write_file_check("/dev/fd/987"), -EBADF);
	ck_assert_int_eq(write_file_check("lost"), -ENOENT);
	ck_assert_int_eq(write_file_check("loop"), -ELOOP);
	ck_assert_int_eq(write_file_check("."), -EISDIR);
	ck_assert_int_eq(write_file_check("new/"), -EISDIR);
	ck_assert_int_eq(write_file_check("old/new"), -ENOTDIR);
	ck_assert_int_eq(write_file_check(""), -ENOENT);
	ck_assert_uint_eq(n_files(), n);
	ck_assert_str_eq(content("old"), "text");
	ck_assert_int_eq(write_text("link", fill_and_fail, "one"), -EDOM);
	ck_assert_uint_eq(n_files(), n);
}
END_TEST

static int fill_and_die(struct out *o, void *ctx)
{
	(void)o;
	(void)ctx;
	raise(SIGKILL);
	return 0;
}

/* Who was killed leaves a file, whose name is known. */
START_TEST(a_killed_writer_is_forgotten)
{
	static const char *const paths[] = {"new", "old", "link"};

	put_file("old", "text");
	ck_assert_int_eq(mkdir("sub", 0755), 0);
	put_file("sub/target", "text");
	ck_assert_int_eq(symlink("sub/target", "link"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		unsigned n = n_files();
		pid_t pid = fork();

		if (pid == 0)
			_exit(-write_file_tagged(paths[i], 77, fill_and_die, NULL));
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		place_forget(paths[i], pid, 78);
		ck_assert_uint_eq(n_files(), n + (i != 2)); /* beside the target of the link */
		place_forget(paths[i], pid, 77);
		ck_assert_uint_eq(n_files(), n);
	}
	ck_assert_int_eq(rename("sub/target", "target"), 0);
	ck_assert_int_eq(rmdir("sub"), 0);
}
END_TEST

/* Other names of a file keep what they had. */
START_TEST(one_name_of_a_file_is_replaced)
{
	put_file("one", "text");
	ck_assert_int_eq(link("one", "two"), 0);
	ck_assert_int_eq(write_text("two", fill_text, "new"), 0);
	ck_assert_str_eq(content("one"), "text");
	ck_assert_str_eq(content("two"), "new");
}
END_TEST

START_TEST(what_is_no_file_is_written_directly)
{
	int fd, r;

	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDWR);
	ck_assert_int_eq(write_text("fifo", fill_text, "through"), 0);
	{
		char text[16] = "";

		ck_assert_int_eq(read(fd, text, sizeof(text) - 1), 7);
		ck_assert_str_eq(text, "through");
	}
	close(fd);
	/* Onto the end of what standard output is, not over its beginning. */
	put_file("log", "before ");
	fd = open("log", O_WRONLY | O_APPEND);
	if (fork() == 0) {
		dup2(fd, STDOUT_FILENO);
		_exit(write_text("/dev/stdout", fill_text, "after") == 0 ? 0 : 1);
	}
	wait(&r);
	ck_assert_int_eq(r, 0);
	ck_assert_str_eq(content("log"), "before after");
	close(fd);
}
END_TEST

START_TEST(failures_are_told)
{
	static char large[OUT_SIZE * 2];

	memset(large, 'x', sizeof(large) - 1);
	ck_assert_int_eq(write_text("/dev/full", fill_text, "x"), -ENOSPC);
	ck_assert_int_eq(write_text("/dev/full", fill_text, large), -ENOSPC);
	ck_assert_int_eq(write_text(dir, fill_text, "x"), -EISDIR);
	ck_assert_int_eq(write_text("no/such/file", fill_text, "x"), -ENOENT);
	put_file("file", "x");
	ck_assert_int_eq(write_text("file/below", fill_text, "x"), -ENOTDIR);
}
END_TEST

#ifdef HAVE_ZLIB
#define GZIP_CUT "gz: gzip: truncated at byte 3"
#else
#define GZIP_CUT "gz: packed with gzip, and built without zlib: unpack it first"
#endif

START_TEST(loading_says_what_is_wrong)
{
	static const struct {
		const char *path, *text, *line;
	} cases[] = {
		{"nothing", NULL, "nothing: No such file or directory"},
		{".", NULL, ".: Is a directory"},
		{"empty", "", "empty: the file is empty at byte 0"},
		{"gz", "\x1f\x8b\x08", GZIP_CUT},
		{"trace", "{\"traceEvents\":3}",
		 "trace: wrong shape: 'traceEvents' is a number at byte 16"},
		{"prose", "Hello",
		 "prose: no format that is read (Hatchet in JSON or MessagePack, our JSON, Chrome "
		 "trace, speedscope, pprof, folded stacks, SQLite of nsys or rocpd, tape, buffers of warps): 'Hello' at "
		 "byte 1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct format_error error = {0};
		struct session *s = NULL;
		struct buf line;

		if (cases[i].text)
			put_file(cases[i].path, cases[i].text);
		ck_assert_int_lt(format_load(cases[i].path, &s, &error), 0);
		ck_assert_ptr_null(s);
		buf_init(&line, 0);
		format_error_line(&error, cases[i].path, &line);
		ck_assert_str_eq(buf_str(&line), cases[i].line);
		buf_done(&line);
	}
}
END_TEST

START_TEST(formats_are_found)
{
	ck_assert_ptr_eq(format_by_name("hatchet"), &format_hatchet);
	ck_assert_ptr_eq(format_by_name("json"), &format_json);
	ck_assert_ptr_null(format_by_name("hatch"));
	ck_assert_ptr_eq(format_by_path("a/run.hatchet"), &format_hatchet);
	ck_assert_ptr_eq(format_by_path("run.json"), &format_json);
	ck_assert_ptr_null(format_by_path(".json"));
	ck_assert_ptr_null(format_by_path("run"));
	ck_assert_ptr_eq(format_by_content("\n [", 3), &format_hatchet);
	ck_assert_ptr_null(format_by_content("", 0));
}
END_TEST

/* ---- numbers and strings ---- */

/* clang-format off */
static const struct {
	double v;
	const char *text;
} doubles[] = {
	{0, "0.0"}, {-0.0, "-0.0"}, {1, "1.0"}, {-1, "-1.0"}, {0.1, "0.1"}, {0.5, "0.5"},
	{1.5, "1.5"}, {123.456, "123.456"}, {100000000000.0, "100000000000.0"},
	{6442450944.0, "6442450944.0"}, {1e14, "100000000000000.0"},
	{999999999999999.0, "999999999999999.0"}, {1e15, "1e+15"}, {1234567890123456.0,
	"1.234567890123456e+15"}, {1e16, "1e+16"}, {1e100, "1e+100"}, {1.5e300, "1.5e+300"},
	{0.0001, "0.0001"}, {0.00012, "0.00012"}, {1e-5, "1e-05"}, {1.5e-5, "1.5e-05"},
	{1e-100, "1e-100"}, {5e-324, "5e-324"}, {1.7976931348623157e308, "1.7976931348623157e+308"},
	{2.2250738585072014e-308, "2.2250738585072014e-308"}, {0.1 + 0.2, "0.30000000000000004"},
	{1.0 / 3, "0.3333333333333333"}, {123456789012345.67, "123456789012345.67"},
	{NAN, "null"}, {INFINITY, "null"}, {-INFINITY, "null"},
};
/* clang-format on */

START_TEST(doubles_have_the_form_of_upstream)
{
	char text[JSON_NUMBER_MAX];
	size_t n = json_format_f64(text, doubles[_i].v);
	struct number back;

	text[n] = '\0';
	ck_assert_str_eq(text, doubles[_i].text);
	if (!isfinite(doubles[_i].v))
		return;
	number_parse(text, n, &back);
	ck_assert(back.f64 == doubles[_i].v);
}
END_TEST

START_TEST(numbers_do_not_depend_on_the_locale)
{
	static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"};
	char text[JSON_NUMBER_MAX];
	struct number n;
	size_t i = 0;

	while (!setlocale(LC_ALL, names[i]))
		i++;
	text[json_format_f64(text, 0.30000000000000004)] = '\0';
	ck_assert_str_eq(text, "0.30000000000000004");
	number_parse("1.5e-5", 6, &n);
	ck_assert(n.f64 == 1.5e-5);
	setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(numbers_are_read_exactly)
{
	static const struct {
		const char *text;
		bool is_int;
		uint64_t u64;
		double f64;
	} cases[] = {
		{"0", true, 0, 0},
		{"18446744073709551615", true, UINT64_MAX, 18446744073709551615.0},
		{"18446744073709551616", false, 0, 18446744073709551616.0},
		{"-1", false, 0, -1},
		{"-0", false, 0, -0.0},
		{"1e11", false, 0, 1e11},
		{"0.1", false, 0, 0.1},
		{"9007199254740993.0", false, 0, 9007199254740992.0},
		{"123456789.123456789", false, 0, 123456789.123456789},
		{"-2.5", false, 0, -2.5},
		{"0.000000000000000000000000001", false, 0, 1e-27},
		{"1E400", false, 0, INFINITY},
	};
	char large[600];
	struct number n;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		number_parse(cases[i].text, strlen(cases[i].text), &n);
		ck_assert_msg(n.is_int == cases[i].is_int && n.u64 == cases[i].u64 &&
				      n.f64 == cases[i].f64,
			      "%s: %.17g", cases[i].text, n.f64);
	}
	memset(large, '0', sizeof(large));
	large[0] = '1';
	memcpy(large + sizeof(large) - 5, "e-594", 5);
	number_parse(large, sizeof(large), &n);
	ck_assert(n.f64 == 1);
}
END_TEST

START_TEST(random_doubles_come_back)
{
	uint64_t x = 88172645463325252u;

	for (int i = 0; i < 100000; i++) {
		char text[JSON_NUMBER_MAX + 1];
		struct number n;
		double v;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(&v, &x, sizeof(v));
		if (!isfinite(v))
			continue;
		number_parse(text, json_format_f64(text, v), &n);
		ck_assert_msg(n.f64 == v, "%a", v);
	}
}
END_TEST

START_TEST(strings_have_the_form_of_upstream)
{
	static const struct {
		const char *raw;
		size_t len;
		const char *text;
	} cases[] = {
		{"", 0, "\"\""},
		{"a/b", 3, "\"a/b\""},
		{"\"\\\b\f\n\r\t", 7, "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
		{"\x01\x1f\x7f\0", 4, "\"\\u0001\\u001f\x7f\\u0000\""},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
		 "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"a\xff"
		 "b",
		 3,
		 "\"a\xef\xbf\xbd"
		 "b\""},
		{"\xc3", 1, "\"\xef\xbf\xbd\""},
		{"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
		{"\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* overlong */
		{"\xf4\x90\x80\x80", 4, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct out *o = malloc(sizeof(*o));
		struct json_writer w;
		struct buf b;

		buf_init(&b, 0);
		out_to_buf(o, &b);
		jsonw_init(&w, o, true);
		w.upstream = true;
		jsonw_string(&w, cases[i].raw, cases[i].len);
		out_flush(o);
		ck_assert_str_eq(buf_str(&b), cases[i].text);
		buf_done(&b);
		free(o);
	}
}
END_TEST

/* C1 controls, marks of direction, what cannot be seen: as numbers, which are read as the same. Letters
 * and what joins them stay. */
START_TEST(what_steers_a_terminal_is_escaped)
{
	static const char raw[] =
		"a\x7f\xc2\x9b\xc2\x85\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf\xf3\xa0\x80\x81"
		"\xc3\xa9\xe2\x80\x8d\xf0\x9f\x98\x80";
	static const char text[] = "\"a\\u007f\\u009b\\u0085\\u202e\\u2028\\ufeff\\udb40\\udc01"
				   "\xc3\xa9\xe2\x80\x8d\xf0\x9f\x98\x80\"";
	struct out *o = malloc(sizeof(*o));
	struct json_writer w;
	yajl_val v;
	struct buf b;

	buf_init(&b, 0);
	out_to_buf(o, &b);
	jsonw_init(&w, o, true);
	jsonw_string(&w, raw, sizeof(raw) - 1);
	out_flush(o);
	ck_assert_str_eq(buf_str(&b), text);
	v = json_parse(buf_str(&b));
	ck_assert_str_eq(json_text(v), raw);
	yajl_tree_free(v);
	buf_done(&b);
	free(o);
}
END_TEST

/* ---- the JSON export ---- */

static yajl_val export_sample(const struct session *s)
{
	struct out *o = malloc(sizeof(*o));
	struct buf b;
	yajl_val root;

	buf_init(&b, 0);
	out_to_buf(o, &b);
	ck_assert_int_eq(format_json.write(s, NULL, o), 0);
	ck_assert_int_eq(out_flush(o), 0);
	root = json_parse(buf_str(&b));
	buf_done(&b);
	free(o);
	return root;
}

START_TEST(json_has_everything)
{
	static const struct {
		const char *key;
		size_t n;
	} lists[] = {{"processes", 2}, {"devices", 3},        {"epochs", 2},    {"modules", 1},
		     {"notes", 2},     {"samples", 2},        {"intervals", 2}, {"clocks", 1},
		     {"lanes", 4},     {"launch_configs", 2}, {"counters", 2}};
	struct session *s = sample_session();
	yajl_val root = export_sample(s), node, row;

	ck_assert_str_eq(json_text(json_member(root, "schema")), "proton-profile");
	ck_assert(json_number(json_member(root, "version")) == 1);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		ck_assert_uint_eq(json_size(json_member(root, lists[i].key)), lists[i].n);
	/* Of sizes of copies there are those that some had. */
	ck_assert_uint_eq(json_size(json_member(root, "metrics")),
			  metric_table_count(s->metrics) - 2 * N_COPY_SIZES);
	ck_assert_uint_eq(json_size(json_member(root, "nodes")), s->n_nodes);
	ck_assert_uint_eq(json_size(json_member(root, "losses")), LOSS_N);
	node = json_element(json_member(root, "nodes"), 3);
	ck_assert_str_eq(json_text(json_member(node, "name")), "_Z6matmulPfS_S_");
	ck_assert_str_eq(json_text(json_member(node, "kind")), "kernel");
	ck_assert(json_number(json_member(node, "parent")) == 1);
	ck_assert(json_number(json_member(json_member(node, "metrics"), "time (ns)")) == 1500);
	ck_assert(json_number(json_member(json_member(node, "metrics"), "time_min (ns)")) == 90);
	ck_assert_uint_eq(json_size(json_member(node, "rows")), 3);
	ck_assert_uint_eq(json_size(json_member(node, "histograms")), 2);
	row = json_element(json_member(node, "rows"), 1);
	ck_assert(json_number(json_member(row, "device")) == 1);
	ck_assert(json_number(json_member(row, "stream")) == 8);
	ck_assert(json_number(json_member(row, "thread")) == 1002);
	ck_assert(json_number(json_member(row, "epoch")) == 1);
	yajl_tree_free(root);
	session_free(s);
}
END_TEST

/* ---- when memory runs out ---- */

static long allocations_left = -1; /* -1: no limit */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool may_allocate(void)
{
	if (allocations_left < 0)
		return true;
	if (allocations_left == 0)
		return false;
	allocations_left--;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return may_allocate() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return may_allocate() ? __real_calloc(n, size) : NULL;
}

void *__wrap_realloc(void *p, size_t size)
{
	return may_allocate() ? __real_realloc(p, size) : NULL;
}

static void write_sample(const struct session *s, struct buf *text)
{
	struct out *o = malloc(sizeof(*o));

	buf_init(text, 0);
	out_to_buf(o, text);
	ck_assert_int_eq(hatchet_write(s, NULL, o), 0);
	out_flush(o);
	free(o);
}

START_TEST(reading_survives_any_failed_allocation)
{
	struct session *sample = sample_session();
	struct format_error error = {0};
	struct buf text;
	int r = -ENOMEM;
	long n;

	write_sample(sample, &text);
	for (n = 0; r != 0 && n < 100000; n++) {
		struct reader_memory memory = {text.data, text.len, 0};
		struct session *s = session_new();
		struct reader_input in;

		reader_init_memory(&in, &memory);
		allocations_left = n;
		r = hatchet_read(&in, s, &error);
		allocations_left = -1;
		ck_assert_int_eq(r, r == 0 ? 0 : -ENOMEM);
		ck_assert(r == 0 || !strcmp(error.reason, "out of memory"));
		session_free(s);
	}
	ck_assert_int_eq(r, 0);
	ck_assert_int_gt(n, 20);
	buf_done(&text);
	session_free(sample);
}
END_TEST

static void read_whole(const char *path, struct buf *text)
{
	FILE *f = fopen(path, "rb");
	char chunk[4096];
	size_t n;

	ck_assert_ptr_nonnull(f);
	buf_init(text, 0);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_put(text, chunk, n);
	fclose(f);
}

/* Of the file's bytes, with the n-th allocation failing, until none does. */
static long read_until_it_succeeds(const struct buf *text)
{
	struct format_error error = {0};
	int r = -ENOMEM;
	long n;

	for (n = 0; r != 0 && n < 2000; n++) {
		struct reader_memory memory = {text->data, text->len, 0};
		struct session *s = session_new();
		struct reader_input in;

		reader_init_memory(&in, &memory);
		allocations_left = n;
		r = format_read(&in, s, &error);
		allocations_left = -1;
		ck_assert_int_eq(r, r == 0 ? 0 : -ENOMEM);
		session_free(s);
	}
	ck_assert_int_eq(r, 0);
	return n;
}

START_TEST(traces_survive_any_failed_allocation)
{
	static const char *const traces[] = {
		TEST_SRCDIR "/tests/chrome/torch.json",
		TEST_SRCDIR "/tests/chrome/proton.chrome_trace",
		TEST_SRCDIR "/tests/chrome/cycles.chrome_trace",
		TEST_SRCDIR "/tests/chrome/array.json",
		TEST_SRCDIR "/tests/stacks/evented.json",
		TEST_SRCDIR "/tests/fuzz/corpus_import/pprof_inlined",
		TEST_SRCDIR "/tests/fuzz/corpus_import/pprof_labels",
		TEST_SRCDIR "/tests/fuzz/corpus_import/pprof_address",
		TEST_SRCDIR "/tests/fuzz/corpus_import/json_small",
#ifdef HAVE_ZLIB
		TEST_SRCDIR "/tests/fuzz/corpus_import/packed.gz",
#endif
#ifdef HAVE_SQLITE
		TEST_SRCDIR "/tests/fuzz/corpus_import/nsys_old.sqlite",
		TEST_SRCDIR "/tests/fuzz/corpus_import/rocpd3.db",
#endif
	};
	struct buf text;

	for (size_t i = 0; i < ARRAY_SIZE(traces); i++) {
		read_whole(traces[i], &text);
		ck_assert_int_gt(read_until_it_succeeds(&text), 20);
		buf_done(&text);
	}
}
END_TEST

START_TEST(writing_survives_any_failed_allocation)
{
	static const struct format *const writers[] = {
		&format_hatchet,    &format_json, &format_folded, &format_speedscope,
		&format_flamegraph, &format_dot,  &format_pprof,  &format_msgpack};
	struct session *sample = sample_session();
	struct out *o = malloc(sizeof(*o));
	size_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		int r = -ENOMEM;

		for (long n = 0; r != 0 && n < 1000; n++) {
			out_init(o, count_bytes, &bytes);
			allocations_left = n;
			r = writers[i]->write(sample, NULL, o);
			allocations_left = -1;
			ck_assert_int_eq(r, r == 0 ? 0 : -ENOMEM);
		}
		ck_assert_int_eq(r, 0);
	}
	free(o);
	session_free(sample);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("format");
	TCase *files = tcase_create("files"), *text = tcase_create("text"),
	      *memory = tcase_create("memory");

	tcase_add_checked_fixture(files, make_dir, remove_dir);
	tcase_add_test(files, out_takes_pieces_of_any_size);
	tcase_add_test(files, out_keeps_its_first_error);
	tcase_add_test(files, files_are_replaced_in_one_piece);
	tcase_add_test(files, links_are_followed);
	tcase_add_test(files, a_place_is_checked);
	tcase_add_test(files, a_killed_writer_is_forgotten);
	tcase_add_test(files, one_name_of_a_file_is_replaced);
	tcase_add_test(files, what_is_no_file_is_written_directly);
	tcase_add_test(files, failures_are_told);
	tcase_add_test(files, loading_says_what_is_wrong);
	tcase_add_test(files, formats_are_found);
	tcase_add_loop_test(text, doubles_have_the_form_of_upstream, 0, ARRAY_SIZE(doubles));
	tcase_add_test(text, numbers_do_not_depend_on_the_locale);
	tcase_add_test(text, numbers_are_read_exactly);
	tcase_add_test(text, random_doubles_come_back);
	tcase_add_test(text, strings_have_the_form_of_upstream);
	tcase_add_test(text, what_steers_a_terminal_is_escaped);
	tcase_add_test(text, json_has_everything);
	tcase_set_timeout(memory, 60);
	tcase_add_test(memory, reading_survives_any_failed_allocation);
	tcase_add_test(memory, traces_survive_any_failed_allocation);
	tcase_add_test(memory, writing_survives_any_failed_allocation);
	suite_add_tcase(suite, files);
	suite_add_tcase(suite, text);
	suite_add_tcase(suite, memory);
	return suite;
}

int main(void)
{
	return check_run(make_suite());
}
