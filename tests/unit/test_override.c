/* SPDX-License-Identifier: MIT */
/* Modules that were rewritten are kept (override/kept.h), and limits of registers (override/limits.h). */
#include "config.h" // IWYU pragma: keep

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "override/kept.h"
#include "override/limits.h"

/* ---- what is kept ---- */

static char folder[] = "/tmp/test_override.XXXXXX";

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
}

static void teardown(void)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
}

static struct kept_key key_of(const char *text)
{
	struct kept_key key = kept_key();

	kept_key_add(&key, text, strlen(text));
	return key;
}

static int write_text(const char *key, const char *text)
{
	struct kept_key k = key_of(key);
	const struct iovec parts[] = {{(void *)(uintptr_t)text, 1},
				      {(void *)(uintptr_t)(text + 1), strlen(text) - 1}};

	return kept_write(&k, parts, ARRAY_SIZE(parts));
}

/* "": there is nothing. */
static const char *text_of(const char *key)
{
	static char text[64];
	_cleanup_(buf_done) struct buf read = {0};
	struct kept_key k = key_of(key);

	snprintf(text, sizeof(text), "%s", kept_read(&k, &read) < 0 ? "" : buf_str(&read));
	return text;
}

static void path_of(char path[128], const char *name)
{
	snprintf(path, 128, "%s/proton/modules/%s", folder, name);
}

/* Of so many bytes, all holes, that was used so many seconds ago. */
static void plant(const char *name, off_t size, time_t age)
{
	const struct timespec then[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
	char path[128];
	int fd;

	path_of(path, name);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, size), 0);
	futimens(fd, then);
	close(fd);
}

static bool is_there(const char *name)
{
	char path[128];

	path_of(path, name);
	return access(path, F_OK) == 0;
}

static unsigned n_files(void)
{
	char path[128];
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "ls %s/proton/modules | wc -l", folder);
	f = popen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%u", &n), 1);
	pclose(f);
	return n;
}

START_TEST(what_was_kept_is_found)
{
	ck_assert_str_eq(text_of("a"), "");
	ck_assert_int_eq(write_text("a", "module of a"), 0);
	ck_assert_int_eq(write_text("b", "module of b"), 0);
	ck_assert_str_eq(text_of("a"), "module of a");
	ck_assert_str_eq(text_of("b"), "module of b");
	ck_assert_str_eq(text_of("c"), "");
	ck_assert_int_eq(write_text("a", "another"), 0);
	ck_assert_str_eq(text_of("a"), "another");
	ck_assert_uint_eq(n_files(), 2);
}
END_TEST

/* Where the only file is that there is. */
static void path_of_file(char path[128])
{
	char command[160], name[64];
	FILE *f;

	snprintf(command, sizeof(command), "ls %s/proton/modules", folder);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%63s", name), 1);
	pclose(f);
	path_of(path, name);
}

static void flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	char c;

	ck_assert_int_eq(pread(fd, &c, 1, at), 1);
	c ^= 1;
	ck_assert_int_eq(pwrite(fd, &c, 1, at), 1);
	close(fd);
}

START_TEST(what_something_happened_to_is_not_taken)
{
	static const char text[] = "module of a";
	char path[128];
	struct stat st;

	ck_assert_int_eq(write_text("a", text), 0);
	path_of_file(path);
	ck_assert_int_eq(stat(path, &st), 0);
	for (off_t i = 0; i < st.st_size; i++) {
		flip(path, i);
		ck_assert_str_eq(text_of("a"), "");
		flip(path, i);
	}
	ck_assert_str_eq(text_of("a"), text);
	for (off_t i = st.st_size - 1; i >= 0; i--) {
		ck_assert_int_eq(truncate(path, i), 0);
		ck_assert_str_eq(text_of("a"), "");
	}
	ck_assert_int_eq(write_text("a", text), 0);
	ck_assert_int_eq(chmod(path, 0620), 0);
	ck_assert_str_eq(text_of("a"), ""); /* a group's */
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_str_eq(text_of("a"), text);
}
END_TEST

/* One module's file under the name of another's. */
START_TEST(what_was_renamed_is_not_taken)
{
	char path[128], other[128];

	ck_assert_int_eq(write_text("b", "module of b"), 0);
	path_of_file(path);
	snprintf(other, sizeof(other), "%s.kept", folder);
	ck_assert_int_eq(rename(path, other), 0);
	ck_assert_int_eq(write_text("a", "module of a"), 0);
	path_of_file(path);
	ck_assert_int_eq(rename(other, path), 0);
	ck_assert_str_eq(text_of("a"), "");
}
END_TEST

START_TEST(keys_tell_all_apart)
{
	static const char *const texts[] = {"",   "a",     "b",    "ab",  "ba",
					    "aa", "a\xff", "\xff", "aab", "aba"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (size_t k = 0; k < i; k++) {
			struct kept_key x = key_of(texts[i]), y = key_of(texts[k]);

			ck_assert(x.a != y.a && x.b != y.b);
		}
}
END_TEST

/* What nobody used for the longest time goes, and what a writer who was killed has left; files that are not ours stay. */
START_TEST(there_is_a_bound)
{
	static const char old[] = "00000000000000000000000000000001",
			  half[] = "00000000000000000000000000000002.4711",
			  newer[] = "00000000000000000000000000000003", other[] = "notes.txt";

	ck_assert_int_eq(write_text("a", "module of a"), 0);
	plant(old, KEPT_MOST / 2, 300);
	plant(half, KEPT_MOST / 2, 200);
	plant(newer, KEPT_MOST / 4, 100);
	plant(other, KEPT_MOST, 400);
	ck_assert_int_eq(write_text("b", "module of b"), 0);
	ck_assert(!is_there(old));
	ck_assert(is_there(half) && is_there(newer) && is_there(other));
	plant(old, KEPT_MOST / 2, 50);
	ck_assert_int_eq(write_text("c", "module of c"), 0);
	ck_assert(!is_there(half));
	ck_assert(is_there(old) && is_there(newer));
	ck_assert_str_eq(text_of("a"), "module of a");
}
END_TEST

START_TEST(a_full_disk_leaves_nothing)
{
	const struct rlimit small = {4, RLIM_INFINITY};

	ck_assert_int_eq(write_text("a", "is"), 0);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	ck_assert_int_eq(write_text("a", "is too long"), -EFBIG);
	ck_assert_int_eq(write_text("b", "is too long"), -EFBIG);
	ck_assert_str_eq(text_of("a"), "is");
	ck_assert_str_eq(text_of("b"), "");
	ck_assert_uint_eq(n_files(), 1);
}
END_TEST

START_TEST(many_write_the_same)
{
	enum { WRITERS = 8 };
	int status;

	for (int i = 0; i < WRITERS; i++)
		if (!fork()) {
			for (int k = 0; k < 50; k++)
				if (write_text("a", "module of a") < 0 ||
				    strcmp(text_of("a"), "module of a"))
					_exit(1);
			_exit(0);
		}
	for (int i = 0; i < WRITERS; i++) {
		ck_assert_int_ge(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_uint_eq(n_files(), 1);
}
END_TEST

START_TEST(without_a_folder_nothing_is_kept)
{
	setenv("XDG_CACHE_HOME", "/proc/none", 1);
	ck_assert_int_lt(write_text("a", "module of a"), 0);
	ck_assert_str_eq(text_of("a"), "");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	ck_assert_int_eq(write_text("a", "module of a"), -ENOENT);
	setenv("HOME", folder, 1);
	ck_assert_int_eq(write_text("a", "module of a"), 0);
	ck_assert_str_eq(text_of("a"), "module of a");
}
END_TEST

/* ---- limits ---- */

/* Threads of the largest block that such kernels can be launched with. */
static uint32_t threads_of(uint32_t registers)
{
	uint32_t warps = 65536 / ((registers + 7) / 8 * 8 * 32);

	return warps < 32 ? warps * 32 : 1024;
}

START_TEST(the_largest_block_still_fits)
{
	for (uint32_t before = 1; before <= 255; before++) {
		uint32_t allowed = registers_allowed(before);

		ck_assert_uint_ge(allowed, before);
		ck_assert_uint_eq(threads_of(allowed), threads_of(before));
		ck_assert(allowed == 255 || threads_of(allowed + 8) < threads_of(before));
	}
	ck_assert_uint_eq(registers_allowed(40), 64);
	ck_assert_uint_eq(registers_allowed(64), 64);
}
END_TEST

START_TEST(limits_stand_before_the_body)
{
	static const struct {
		const char *ptx, *kernel, *limited;
	} texts[] = {
		{".visible .entry k(\n.param .u64 p\n)\n{\nret;\n}\n", "k",
		 ".visible .entry k(\n.param .u64 p\n)\n.maxnreg 64\n{\nret;\n}\n"},
		{".entry k2() {}\n.entry k() { }", "k",
		 ".entry k2() {}\n.entry k() .maxnreg 64\n{ }"},
		{".entry  k\n{ }", "k", ".entry  k\n.maxnreg 64\n{ }"},
		{".entry k() .maxntid 128 { }", "k", NULL},
		{".entry k() .reqntid 32, 1, 1 { }", "k", NULL},
		{".entry k() .maxnreg 32 { }", "k", NULL},
		{".entry kk() { }", "k", NULL},
		{".entry k", "k", NULL},
		{"", "k", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_(buf_done) struct buf text = {0};

		buf_puts(&text, texts[i].ptx);
		ck_assert_int_eq(
			limit_registers(&text, texts[i].kernel, strlen(texts[i].kernel), 64),
			texts[i].limited != NULL);
		ck_assert_str_eq(buf_str(&text),
				 texts[i].limited ? texts[i].limited : texts[i].ptx);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("override");
	TCase *kept = tcase_create("kept"), *limits = tcase_create("limits");

	tcase_add_checked_fixture(kept, setup, teardown);
	tcase_add_test(kept, what_was_kept_is_found);
	tcase_add_test(kept, what_something_happened_to_is_not_taken);
	tcase_add_test(kept, what_was_renamed_is_not_taken);
	tcase_add_test(kept, keys_tell_all_apart);
	tcase_add_test(kept, there_is_a_bound);
	tcase_add_test(kept, a_full_disk_leaves_nothing);
	tcase_add_test(kept, many_write_the_same);
	tcase_add_test(kept, without_a_folder_nothing_is_kept);
	tcase_add_test(limits, the_largest_block_still_fits);
	tcase_add_test(limits, limits_stand_before_the_body);
	suite_add_tcase(s, kept);
	suite_add_tcase(s, limits);
	return check_run(s);
}
