/* SPDX-License-Identifier: MIT */
/* Launches that a running program leaves, and takes away again (live/warps_now.h). */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "check_main.h"
#include "intra/warp_file.h"
#include "live/warps_now.h"
#include "warp_traces.h"

static char dir[] = "/tmp/test_warps_now.XXXXXX";
static struct warps_now *now;
static struct warp_source *source;

static void setup(void)
{
	strcpy(dir + sizeof(dir) - sizeof("XXXXXX"), "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	now = warps_now_new(dir);
	ck_assert_ptr_nonnull(now);
	source = warps_now_source(now);
}

static void teardown(void)
{
	char command[sizeof(dir) + 16];

	now = warps_now_free(now);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

static const char *path_of(const char *name)
{
	static char path[sizeof(dir) + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put_file(const char *name, const void *data, size_t n)
{
	FILE *f = fopen(path_of(name), "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

static int put(void *ctx, const void *bytes, size_t n)
{
	buf_put(ctx, bytes, n);
	return 0;
}

/* A launch of this number, or how many are lost where there is none; all of the file but so many bytes. */
static void leave(const char *name, uint64_t launch, uint64_t n_lost, size_t cut)
{
	struct warp_writer w = {.put = put};
	struct warp_trace t;
	struct buf file;

	buf_init(&file, 0);
	w.ctx = &file;
	ck_assert_int_eq(warp_trace_init(&t), 0);
	ck_assert_int_eq(warp_writer_begin(&w), 0);
	if (launch) {
		warp_launch(&t, launch, 4);
		ck_assert_int_eq(warp_writer_launch(&w, &t, 0), 0);
	} else {
		ck_assert_int_eq(warp_writer_lost(&w, n_lost), 0);
	}
	warp_writer_done(&w);
	put_file(name, file.data, file.len - MIN(cut, file.len));
	buf_done(&file);
	warp_trace_done(&t);
}

static void look(void)
{
	source->look(source);
}

/* The numbers of all launches, and how many warps they have. */
static const char *listed(void)
{
	static char text[256];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < source->list->n_launches; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%u:%u ",
					(unsigned)source->list->launches[i].launch,
					(unsigned)source->list->launches[i].n_warps);
	return text;
}

static int load(size_t launch, const struct warp_trace **ret)
{
	size_t at = SIZE_MAX;
	int r = warp_source_load(source, launch, ret, &at);

	ck_assert(r < 0 || at == 0);
	return r;
}

START_TEST(come_and_go)
{
	uint64_t first, generation;

	look();
	ck_assert_str_eq(listed(), "");
	leave("a-1.warps", 7, 0, 0);
	leave("a-2.warps", 8, 0, 0);
	leave("a-10.warps", 9, 0, 0);
	leave("a-0.warps", 0, 41, 0);
	leave("other", 10, 0, 0);
	look();
	ck_assert_str_eq(listed(), "7:36 8:36 9:36 ");
	ck_assert_uint_eq(source->list->n_left_out, 41);
	first = warp_source_id(source, 2);
	generation = source->generation;
	look();
	ck_assert_uint_eq(source->generation, generation); /* nothing has changed */
	ck_assert_uint_eq(source->list->n_left_out, 41);
	ck_assert_int_eq(unlink(path_of("a-1.warps")), 0);
	leave("a-0.warps", 0, 42, 0);
	leave("0-1.warps", 11, 0, 0); /* of another process: it came last, whatever it is called */
	look();
	ck_assert_str_eq(listed(), "8:36 9:36 11:36 ");
	ck_assert_uint_ne(source->generation, generation);
	ck_assert_uint_eq(source->list->n_left_out, 42);
	ck_assert_uint_eq(warp_source_find(source, first), 1);
}
END_TEST

/* What is looked at stays until another one is. */
START_TEST(stays_while_it_is_looked_at)
{
	const struct warp_trace *t, *same;

	leave("a-1.warps", 7, 0, 0);
	leave("a-2.warps", 8, 0, 0);
	look();
	ck_assert_int_eq(load(0, &t), 0);
	ck_assert_uint_eq(t->launches[0].launch, 7);
	ck_assert_uint_eq(t->launches[0].n_warps, 36);
	ck_assert_uint_eq(t->launches[0].n_dropped, 0);
	ck_assert_int_eq(unlink(path_of("a-1.warps")), 0);
	look();
	ck_assert_str_eq(listed(), "7:36 8:36 ");
	ck_assert_int_eq(load(0, &same), 0);
	ck_assert_ptr_eq(same, t);
	ck_assert_int_eq(load(1, &t), 0);
	ck_assert_uint_eq(t->launches[0].launch, 8);
	look();
	ck_assert_str_eq(listed(), "8:36 ");
	ck_assert_int_eq(load(0, &t), 0);
	ck_assert_uint_eq(t->launches[0].launch, 8);
}
END_TEST

/* Between a look and a key. What was loaded is there as before. */
START_TEST(gone_since)
{
	const struct warp_trace *t;

	leave("a-1.warps", 7, 0, 0);
	leave("a-2.warps", 8, 0, 0);
	look();
	ck_assert_int_eq(load(0, &t), 0);
	ck_assert_int_eq(unlink(path_of("a-2.warps")), 0);
	ck_assert_int_eq(load(1, &t), -ENOENT);
	ck_assert_int_eq(load(0, &t), 0);
	ck_assert_uint_eq(t->launches[0].launch, 7);
}
END_TEST

/* The program can put anything there. */
START_TEST(what_is_no_such_file)
{
	static char large[(1 << 20) + 64];
	const struct warp_trace *t;

	put_file("text.warps", "no warps at all", 15);
	put_file("empty.warps", "", 0);
	memcpy(large, "WRPS", 4);
	put_file("zeroes.warps", large, sizeof(large));
	ck_assert_int_eq(mkdir(path_of("folder.warps"), 0700), 0);
	ck_assert_int_eq(mkfifo(path_of("fifo.warps"), 0600), 0);
	ck_assert_int_eq(symlink("/etc/passwd", path_of("link.warps")), 0);
	look();
	ck_assert_str_eq(listed(), "");
	leave("cut.warps", 7, 0, 1000);
	look();
	ck_assert_str_eq(listed(), "7:36 ");
	ck_assert_int_eq(load(0, &t), 0);
	ck_assert_uint_lt(t->launches[0].n_warps, 36);
	ck_assert_uint_eq(t->launches[0].n_warps + t->launches[0].n_dropped, 36);
}
END_TEST

/* More than is loaded at once: a file of holes. */
START_TEST(too_large)
{
	const struct warp_trace *t;

	leave("a-1.warps", 7, 0, 0);
	look();
	ck_assert_int_eq(truncate(path_of("a-1.warps"), (off_t)1 << 30), 0);
	ck_assert_int_eq(load(0, &t), -EFBIG);
}
END_TEST

START_TEST(no_folder)
{
	struct warps_now *none = warps_now_new("/nowhere/at/all");

	ck_assert_ptr_nonnull(none);
	warps_now_source(none)->look(warps_now_source(none));
	ck_assert_uint_eq(warps_now_source(none)->list->n_launches, 0);
	warps_now_free(none);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("warps_now");
	TCase *tc = tcase_create("warps_now");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, come_and_go);
	tcase_add_test(tc, stays_while_it_is_looked_at);
	tcase_add_test(tc, gone_since);
	tcase_add_test(tc, what_is_no_such_file);
	tcase_add_test(tc, too_large);
	tcase_add_test(tc, no_folder);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
