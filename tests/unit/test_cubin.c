/* SPDX-License-Identifier: MIT */
/* Cubins: functions, lines as nvdisasm has them, instructions of what it prints; and what is broken. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "naming/cubin.h"
#include "naming/sass.h"

#define GATHER "_Z6gatherPfPKfi"

static struct object_function found[NATIVE_INLINED_MAX];

static struct cubin *planted(const char *name)
{
	struct cubin *c = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", CUBINS, name);
	ck_assert_int_eq(cubin_open(path, &c), 0);
	return c;
}

static void read_file(const char *name, struct buf *ret)
{
	char path[4096], piece[4096];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", CUBINS, name);
	f = fopen(path, "rbe");
	ck_assert_ptr_nonnull(f);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_put(ret, piece, n);
	fclose(f);
	ck_assert(!ret->error && ret->len);
}

/* ---- functions ---- */

static const char *const cubins[] = {"planted.cubin", "planted-12.cubin"};
static const char *const lines[] = {"planted.lines", "planted-12.lines"}; /* nvdisasm -gi -c */

START_TEST(functions_by_name)
{
	struct cubin *c = planted(cubins[_i]);
	const struct cubin_function *f = cubin_find(c, GATHER), *all;
	size_t n;

	ck_assert_ptr_nonnull(f);
	ck_assert_str_eq(f->name, GATHER);
	ck_assert_str_eq(f->section_name, ".text." GATHER);
	ck_assert_uint_eq(f->offset, 0);
	ck_assert_uint_eq(f->size, 512);
	ck_assert_uint_eq(f->symbol, _i == 0 ? 20 : 18);
	f = cubin_find(c, "$_Z6callerPf$_Z5apartf");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(f->offset, 0xb0); /* behind what calls it */
	ck_assert_str_eq(f->section_name, ".text._Z6callerPf");
	ck_assert_ptr_null(cubin_find(c, "_Z6gather"));
	ck_assert_ptr_null(cubin_find(c, ""));
	all = cubin_functions(c, &n);
	ck_assert_uint_eq(n, 5);
	for (size_t i = 0; i < n; i++)
		ck_assert_ptr_eq(cubin_find(c, all[i].name), &all[i]);
	cubin_free(c);
}
END_TEST

/* ---- lines ---- */

/* The next line of a text; false: there is none. */
static bool next_line(const char **at, char *out, size_t size)
{
	size_t n = strcspn(*at, "\n");

	if (!**at)
		return false;
	snprintf(out, size, "%.*s", (int)n, *at);
	*at += n + ((*at)[n] == '\n');
	return true;
}

/* What nvdisasm says of an instruction: lines, innermost first. */
struct told {
	char files[8][128];
	unsigned lines[8], n;
	bool is_over; /* the next one begins anew */
};

static bool take_told(struct told *told, const char *line)
{
	char file[128];
	unsigned number;

	if (sscanf(line, " //## File \"%127[^\"]\", line %u", file, &number) != 2)
		return false;
	if (told->is_over)
		*told = (struct told){.n = 0};
	ck_assert_uint_lt(told->n, 8);
	snprintf(told->files[told->n], sizeof(file), "%s", file);
	told->lines[told->n++] = number;
	return true;
}

static void check_instruction(const struct cubin *c, const char *section, uint64_t offset,
			      const struct told *told)
{
	const struct cubin_function *f = cubin_find(c, section + 1);
	unsigned n;

	ck_assert_msg(f, "%s", section);
	n = cubin_lines(c, f, offset, found);
	ck_assert_msg(n == told->n, "%s+%#lx: %u lines, nvdisasm has %u", section, (long)offset, n,
		      told->n);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_uint_eq(found[n - 1 - i].line, told->lines[i]);
		ck_assert_str_eq(found[n - 1 - i].file, told->files[i]);
	}
}

START_TEST(lines_as_nvdisasm_has_them)
{
	struct cubin *c = planted(cubins[_i]);
	_cleanup_(buf_done) struct buf text = {0};
	char line[4096], section[128] = "", *end;
	struct told told = {.n = 0};
	unsigned n = 0, n_inlined = 0;
	const char *at;

	read_file(lines[_i], &text);
	at = buf_str(&text);
	while (next_line(&at, line, sizeof(line))) {
		char *offset = strstr(line, "/*");

		if (sscanf(line, " .section .text%122[^,]", section) == 1)
			told = (struct told){.n = 0};
		else if (!take_told(&told, line) && offset) {
			check_instruction(c, section, strtoull(offset + 2, &end, 16), &told);
			told.is_over = true;
			n++;
			n_inlined += told.n == 3;
		}
	}
	ck_assert_uint_eq(n, 128); /* all code of the file */
	ck_assert_uint_gt(n_inlined, 5);
	cubin_free(c);
}
END_TEST

START_TEST(frames_of_what_is_inlined)
{
	struct cubin *c = planted("planted.cubin");
	const struct cubin_function *f = cubin_find(c, GATHER), *apart;

	ck_assert_uint_eq(cubin_lines(c, f, 0x80, found), 3);
	ck_assert_str_eq(found[0].name, GATHER);
	ck_assert_str_eq(found[1].name, "_Z6scaledPKfif");
	ck_assert_str_eq(found[2].name, "_Z6weightPKfi");
	ck_assert_uint_eq(cubin_lines(c, f, 0x88, found), 3); /* within an instruction */
	ck_assert_uint_eq(cubin_lines(c, f, 0xc0, found), 1); /* between such ones: gather's own */
	ck_assert_str_eq(found[0].name, GATHER);
	ck_assert_uint_eq(cubin_lines(c, f, f->size, found), 0);
	ck_assert_uint_eq(cubin_lines(c, f, UINT64_MAX, found), 0);
	apart = cubin_find(c, "$_Z6callerPf$_Z5apartf");
	ck_assert_uint_eq(cubin_lines(c, apart, 0, found), 1);
	ck_assert_str_eq(found[0].name, "$_Z6callerPf$_Z5apartf");
	cubin_free(c);
}
END_TEST

/* ---- instructions ---- */

/* Of the one file's functions, out of all that it has. */
START_TEST(instructions_of_all_functions)
{
	struct cubin *c = planted(cubins[_i]);
	_cleanup_(buf_done) struct buf text = {0};
	const struct cubin_function *f;
	struct sass sass;
	size_t n;

	read_file(lines[_i], &text);
	f = cubin_functions(c, &n);
	while (n-- > 0) {
		ck_assert_int_eq(sass_parse(text.data, text.len, &f[n], &sass), 0);
		ck_assert_uint_eq(sass.n, f[n].size / 16);
		sass_done(&sass);
	}
	cubin_free(c);
}
END_TEST

START_TEST(instructions_of_a_function)
{
	struct cubin *c = planted("planted.cubin");
	const struct cubin_function *f = cubin_find(c, GATHER);
	_cleanup_(buf_done) struct buf text = {0}, all = {0};
	struct sass sass;

	read_file("planted.sass", &text);
	ck_assert_int_eq(sass_parse(text.data, text.len, f, &sass), 0);
	ck_assert_uint_eq(sass.n, f->size / 16);
	ck_assert_str_eq(sass_at(&sass, 0), "LDC R1, c[0x0][0x28]");
	ck_assert_str_eq(sass_at(&sass, 0x70), "@P0 EXIT");
	ck_assert_str_eq(sass_at(&sass, 0xd0), "LDG.E R2, desc[UR4][R2.64]");
	ck_assert_ptr_null(sass_at(&sass, 0x78));
	ck_assert_ptr_null(sass_at(&sass, f->size));
	sass_done(&sass);

	/* Out of all of the file those of the function, from where it begins. */
	read_file("planted.lines", &all);
	f = cubin_find(c, "$_Z6callerPf$_Z5apartf");
	ck_assert_int_eq(sass_parse(all.data, all.len, f, &sass), 0);
	ck_assert_uint_eq(sass.n, f->size / 16);
	ck_assert_str_eq(sass_at(&sass, 0), "IADD3 R2, R0, -0xd000000, RZ");
	sass_done(&sass);
	cubin_free(c);
}
END_TEST

static const struct {
	const char *text, *first;
	size_t n;
} prints[] = {
	{"", NULL, 0},
	{"\t.section .text.k,\"ax\"\n /*0000*/ NOP ;\n", "NOP", 1},
	{"\t.section .text.k,\"ax\"\n /*0000*/\tNOP\t;\n /*0010*/ EX", "NOP", 1}, /* cut off */
	{" /*0000*/ NOP ;\n", NULL, 0},                                         /* of no section */
	{"\t.section .text.k2,\"ax\"\n /*0000*/ NOP ;\n", NULL, 0},             /* of another one */
	{"\t.section .text.k,\"ax\"\n /*0010*/ A ;\n /*0000*/ B ;\n", NULL, 1}, /* turns back */
	{"\t.section .text.k,\"ax\"\n /*0000*/ A\033[2J\r;\n", "A?[2J?", 1},
	{"\t.section .text.k,\"ax\"\n /*0000*/ ;\n /**/ B;\n /*zz*/ C;\n", NULL, 0},
	{"\t.section .text.k,\"ax\"\n /*0100*/ A ;\n /*fffffffffffffffff*/ B;\n", NULL, 0},
};

START_TEST(what_a_disassembler_may_print)
{
	const struct cubin_function f = {.name = "k", .section_name = ".text.k", .size = 0x100};
	struct sass sass;

	ck_assert_int_eq(sass_parse(prints[_i].text, strlen(prints[_i].text), &f, &sass), 0);
	ck_assert_uint_eq(sass.n, prints[_i].n);
	if (prints[_i].first)
		ck_assert_str_eq(sass_at(&sass, 0), prints[_i].first);
	else
		ck_assert_ptr_null(sass_at(&sass, 0));
	sass_done(&sass);
}
END_TEST

/* ---- instructions that are kept ---- */

START_TEST(kept_and_read_again)
{
	struct cubin *c = planted("planted.cubin");
	const struct cubin_function *f = cubin_find(c, GATHER),
				    *apart = cubin_find(c, "$_Z6callerPf$_Z5apartf");
	_cleanup_(buf_done) struct buf all = {0}, kept = {0};
	struct sass of_gather, of_apart, again;

	read_file("planted.lines", &all);
	ck_assert_int_eq(sass_parse(all.data, all.len, f, &of_gather), 0);
	ck_assert_int_eq(sass_parse(all.data, all.len, apart, &of_apart), 0);
	sass_keep(&of_gather, f->name, &kept);
	sass_keep(&of_apart, apart->name, &kept);
	sass_keep(&of_apart, "a\nfunction 1 b\n0 NOP", &kept);
	ck_assert_int_eq(sass_kept(kept.data, kept.len, apart->name, &again), 0);
	ck_assert_uint_eq(again.n, of_apart.n);
	for (size_t i = 0; i < again.n; i++)
		ck_assert_str_eq(sass_at(&again, of_apart.rows[i].offset), of_apart.rows[i].text);
	sass_done(&again);
	ck_assert_int_eq(sass_kept(kept.data, kept.len, f->name, &again), 0);
	ck_assert_uint_eq(again.n, of_gather.n);
	ck_assert_str_eq(sass_at(&again, 0xd0), "LDG.E R2, desc[UR4][R2.64]");
	sass_done(&again);
	sass_done(&of_gather);
	sass_done(&of_apart);
	cubin_free(c);
}
END_TEST

static const struct {
	const char *text, *first;
	size_t n;
} keeps[] = {
	{"", NULL, 0},
	{"function 1 k\n0 NOP\n", "NOP", 1},
	{"function 2 k\n0 NOP\n10 EXIT\nfunction 1 b\n0 B\n", "NOP", 2},
	{"function 1 b\n0 B\nfunction 1 k\n0 NOP\n", "NOP", 1},
	{"function 1 k2\n0 NOP\n", NULL, 0},            /* another one */
	{"function 1 a k\n0 NOP\n", NULL, 0},           /* another one */
	{"function 2 k\n0 NOP\n", NULL, 0},             /* cut off */
	{"function 2 k\n0 NOP\n10 EX", NULL, 0},        /* cut off */
	{"function 2 k\n0 A\nfunction 1 b\n", NULL, 0}, /* a part of it */
	{"function 2 k\n10 A\n0 B\n", NULL, 0},         /* turns back */
	{"function k\n0 A\n", NULL, 0},
	{"function ffffffffffff k\n0 A\n", NULL, 0},
	{"function 1 k\n0 A\033[2J\r;\n", "A?[2J?", 1},
};

START_TEST(what_may_have_been_kept)
{
	struct sass sass;

	ck_assert_int_eq(sass_kept(keeps[_i].text, strlen(keeps[_i].text), "k", &sass), 0);
	ck_assert_uint_eq(sass.n, keeps[_i].n);
	if (keeps[_i].first)
		ck_assert_str_eq(sass_at(&sass, 0), keeps[_i].first);
	else
		ck_assert_ptr_null(sass_at(&sass, 0));
	sass_done(&sass);
}
END_TEST

/* ---- what is broken ---- */

static void look_everywhere(const struct cubin *c)
{
	size_t n;
	const struct cubin_function *f = cubin_functions(c, &n);

	for (size_t i = 0; i < n; i++)
		for (uint64_t offset = 0; offset < MIN(f[i].size, (uint64_t)1024); offset += 16)
			for (unsigned k = cubin_lines(c, &f[i], offset, found); k-- > 0;)
				ck_assert(!found[k].name || strlen(found[k].name) < 4096);
}

START_TEST(broken_bytes)
{
	_cleanup_(buf_done) struct buf whole = {0};
	_cleanup_(freep) char *bytes = NULL;
	struct cubin *c;
	unsigned n_read = 0;

	read_file("planted.cubin", &whole);
	srandom(7);
	for (int round = 0; round < 400; round++) {
		size_t n = round % 2 ? whole.len : (size_t)random() % whole.len;
		int r;

		free(bytes);
		bytes = malloc(n + 1);
		memcpy(bytes, whole.data, n);
		for (int i = 0; round % 2 && i < 40; i++)
			bytes[64 + (size_t)random() % (n - 64)] = (char)random();
		r = cubin_read(bytes, n, &c);
		ck_assert(r == 0 || r == -EBADMSG);
		if (r < 0)
			continue;
		n_read++;
		look_everywhere(c);
		cubin_free(c);
	}
	ck_assert_uint_gt(n_read, 50);
}
END_TEST

START_TEST(what_is_no_cubin)
{
	struct cubin *c = NULL;

	ck_assert_int_eq(cubin_open(CUBINS "/planted.cu", &c), -EBADMSG);
	ck_assert_int_eq(cubin_open("/proc/self/exe", &c), -EBADMSG); /* of another machine */
	ck_assert_int_eq(cubin_open(CUBINS, &c), -EISDIR);
	ck_assert_int_eq(cubin_open(CUBINS "/absent", &c), -ENOENT);
	ck_assert_int_eq(cubin_read("", 0, &c), -EBADMSG);
	ck_assert_ptr_null(c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cubin");
	TCase *tc = tcase_create("cubin");

	tcase_add_loop_test(tc, functions_by_name, 0, (int)ARRAY_SIZE(cubins));
	tcase_add_loop_test(tc, lines_as_nvdisasm_has_them, 0, (int)ARRAY_SIZE(cubins));
	tcase_add_test(tc, frames_of_what_is_inlined);
	tcase_add_loop_test(tc, instructions_of_all_functions, 0, (int)ARRAY_SIZE(cubins));
	tcase_add_test(tc, instructions_of_a_function);
	tcase_add_loop_test(tc, what_a_disassembler_may_print, 0, (int)ARRAY_SIZE(prints));
	tcase_add_test(tc, kept_and_read_again);
	tcase_add_loop_test(tc, what_may_have_been_kept, 0, (int)ARRAY_SIZE(keeps));
	tcase_add_test(tc, broken_bytes);
	tcase_add_test(tc, what_is_no_cubin);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
