/* SPDX-License-Identifier: MIT */
/* Images of kernels: what is found in each form, whole, cut short at every byte, and with numbers that lie. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "check_main.h"
#include "images/fatbin.h"
#include "images/images.h"
#include "images/lz4.h"
#include "images/ptx_text.h"

#define TURN  "_Z4turnIdEvPT_"
#define SAXPY "_Z5saxpyPfPKffi"

static struct buf file;

static void read_sample(const char *folder, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", TESTS, folder, name);
	f = fopen(path, "rbe");
	ck_assert_ptr_nonnull(f);
	buf_done(&file);
	ck_assert_int_eq(buf_read(&file, fileno(f)), 0);
	fclose(f);
}

static struct elf_part whole(void)
{
	return (struct elf_part){(const uint8_t *)file.data, file.len};
}

static struct images found_in(const char *name)
{
	struct images images;

	read_sample("images", name);
	ck_assert_int_eq(images_find(file.data, file.len, &images), 0);
	return images;
}

/* Opens all, and looks at their kernels: how many there are. No text reaches beyond its image. */
static size_t look_at(const struct images *images)
{
	struct image_kernels kernels;
	struct image_content content;
	size_t n = 0;

	for (size_t i = 0; i < images->n; i++) {
		struct buf text = {0};

		if (image_open(&images->v[i], &content) < 0)
			continue;
		if (image_kernels(&images->v[i], content.part, &kernels) == 0) {
			for (size_t k = 0; k < kernels.n; k++)
				ck_assert(!memchr(kernels.v[k].name, 0, kernels.v[k].name_len));
			n += kernels.n;
			image_kernels_done(&kernels);
		}
		(void)cubin_ptx(content.part, &text);
		ck_assert_uint_lt(strlen(cubin_options(content.part)), content.part.size + 1);
		buf_done(&text);
		image_content_done(&content);
	}
	return n;
}

/* ---- whole ---- */

static const char *const modes[] = {"none", "speed", "size", "balance", "default"};

START_TEST(fatbins_of_all_modes)
{
	static const enum image_packing packings[][2] = {{IMAGE_RAW, IMAGE_RAW},
							 {IMAGE_RAW, IMAGE_LZ4},
							 {IMAGE_ZSTD, IMAGE_ZSTD},
							 {IMAGE_RAW, IMAGE_ZSTD},
							 {IMAGE_RAW, IMAGE_ZSTD}};
	struct images images;
	char name[64];

	snprintf(name, sizeof(name), "two.%s.fatbin", modes[_i]);
	images = found_in(name);
	ck_assert_uint_eq(images.n, 2);
	ck_assert_int_eq(images.v[0].kind, IMAGE_CUBIN);
	ck_assert_str_eq(images.v[0].arch, "sm_90a");
	ck_assert_int_eq(images.v[1].kind, IMAGE_PTX);
	ck_assert_str_eq(images.v[1].arch, "sm_80");
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(images.v[i].packing, packings[_i][i]);
	ck_assert_uint_eq(look_at(&images), 4);
	images_done(&images);
}
END_TEST

START_TEST(containers_one_behind_the_other)
{
	static const char zeros[24];
	struct images images;
	struct buf all = {0};

	read_sample("images", "two.default.fatbin");
	ck_assert_uint_eq(fatbin_size(file.data), file.len);
	for (int i = 0; i < 3; i++) {
		buf_put(&all, file.data, file.len);
		buf_put(&all, zeros, sizeof(zeros));
	}
	ck_assert_int_eq(images_find(all.data, all.len, &images), 0);
	ck_assert_uint_eq(images.n, 6);
	images_done(&images);
	all.data[file.len + sizeof(zeros)]++; /* the second begins as none */
	ck_assert_int_eq(images_find(all.data, all.len, &images), -EBADMSG);
	buf_done(&all);
}
END_TEST

static void expect(const struct image_kernels *kernels, const char *name, uint32_t registers,
		   uint64_t shared)
{
	const struct image_kernel *k = image_kernels_find(kernels, name, strlen(name));

	ck_assert_ptr_nonnull(k);
	ck_assert(k->is_assembled);
	ck_assert_uint_eq(k->registers, registers);
	ck_assert_uint_eq(k->shared_bytes, shared);
	ck_assert_uint_eq(k->local_bytes, 0);
	ck_assert_uint_gt(k->code_bytes, 0);
}

/* As `ptxas -v` says. */
START_TEST(what_kernels_take)
{
	static const struct {
		const char *folder, *file, *arch, *kernel;
		uint32_t registers;
		uint64_t shared;
	} known[] = {
		{"images", "lines.cubin", "sm_90a", TURN, 12, 2048},
		{"images", "lines.cubin", "sm_90a", SAXPY, 10, 0},
		{"images", "plain.cubin", "sm_80", TURN, 12, 2048},
		{"images", "plain.cubin", "sm_80", SAXPY, 10, 0},
		{"cubins", "planted-12.cubin", "sm_90", "_Z8conflictPf", 14, 4096},
	};
	struct image_kernels kernels = {0};
	char arch[IMAGE_ARCH_MAX];

	read_sample(known[_i].folder, known[_i].file);
	cubin_arch(whole(), arch);
	ck_assert_str_eq(arch, known[_i].arch);
	ck_assert_int_eq(cubin_kernels(whole(), &kernels), 0);
	expect(&kernels, known[_i].kernel, known[_i].registers, known[_i].shared);
	ck_assert_ptr_null(image_kernels_find(&kernels, "_Z4turn", 7));
	image_kernels_done(&kernels);
}
END_TEST

/* Of CUDA 12, whose cubins do not say how they were made. */
START_TEST(chips_by_the_header)
{
	enum { FLAGS = 48, ONLY_THIS = 0x08 };
	char arch[IMAGE_ARCH_MAX];

	read_sample("cubins", "planted-12.cubin");
	ck_assert_str_eq(cubin_options(whole()), "");
	file.data[FLAGS + 1] |= ONLY_THIS;
	cubin_arch(whole(), arch);
	ck_assert_str_eq(arch, "sm_90a");
	file.data[EI_ABIVERSION] = 8;
	file.data[FLAGS] = 0x02;
	file.data[FLAGS + 1] = 0x64;
	cubin_arch(whole(), arch);
	ck_assert_str_eq(arch, "sm_100");
	file.data[FLAGS] |= ONLY_THIS;
	cubin_arch(whole(), arch);
	ck_assert_str_eq(arch, "sm_100a");
}
END_TEST

START_TEST(ptx_in_a_cubin)
{
	struct buf text = {0};

	read_sample("images", "lines.cubin");
	ck_assert_str_eq(cubin_options(whole()), "-lineinfo  -arch sm_90a -m 64 ");
	ck_assert_int_eq(cubin_ptx(whole(), &text), 0);
	ck_assert(is_ptx_text((struct elf_part){(const uint8_t *)text.data, text.len}));
	ck_assert_ptr_nonnull(strstr(buf_str(&text), ".entry " TURN));
	buf_clear(&text);
	read_sample("images", "plain.cubin");
	ck_assert_int_eq(cubin_ptx(whole(), &text), -ENOENT);
	ck_assert_uint_eq(text.len, 0);
	buf_done(&text);
}
END_TEST

START_TEST(kernels_of_a_text)
{
	static const char text[] =
		"/* .version */\\n// .entry no(\n\t.version 8.0 .target sm_100f, debug\n"
		".visible .entry declared(.param .u64 a);\n"
		".file 1 \".entry quoted\"\n"
		".weak .entry\n  $one$ ()\n.maxntid 32\n{ ret; }\n"
		".entrything two() { } .entry last{}";
	struct elf_part all = {(const uint8_t *)text, sizeof(text) - 1};
	struct image_kernels kernels = {0};
	char arch[IMAGE_ARCH_MAX];

	ptx_text_arch(all, arch);
	ck_assert_str_eq(arch, "sm_100f");
	ck_assert_int_eq(ptx_text_kernels(all, &kernels), 0);
	ck_assert_uint_eq(kernels.n, 2);
	ck_assert_ptr_nonnull(image_kernels_find(&kernels, "$one$", 5));
	ck_assert_ptr_nonnull(image_kernels_find(&kernels, "last", 4));
	ck_assert(!ptx_text_has_lines(all));
	image_kernels_done(&kernels);
}
END_TEST

/* Looked at once: what is before each in its line is not gone through again. */
START_TEST(a_text_in_one_line)
{
	enum { N = 1000 * 1000 };
	struct image_kernels kernels = {0};
	struct buf text = {0};

	buf_puts(&text, ".version 8.0 .target sm_90");
	for (int i = 0; i < N; i++)
		buf_puts(&text, " .entry a");
	ck_assert_int_eq(
		ptx_text_kernels((struct elf_part){(uint8_t *)text.data, text.len}, &kernels), 0);
	ck_assert_uint_eq(kernels.n, 0);
	buf_puts(&text, "(){ /");
	for (int i = 0; i < N; i++)
		buf_puts(&text, " .loc 1");
	ck_assert(!ptx_text_has_lines((struct elf_part){(uint8_t *)text.data, text.len}));
	buf_done(&text);
}
END_TEST

START_TEST(what_is_none)
{
	static const char *const texts[] = {"",
					    "\177ELF",
					    ".versio",
					    ".versions 1",
					    "// .version 8.0",
					    "/* .version 8.0",
					    "P\xed\x55\xba",
					    "text"};
	struct images images;

	ck_assert_int_eq(images_find(texts[_i], strlen(texts[_i]), &images), -EBADMSG);
}
END_TEST

/* ---- in memory ---- */

START_TEST(images_without_a_length)
{
	static const char *const names[] = {"two.default.fatbin", "lines.cubin", "two.ptx"};
	struct {
		uint32_t magic, version;
		const void *data, *name;
	} wrapper = {FATBIN_WRAPPER_MAGIC, 1, NULL, NULL};
	struct elf_part part;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		read_sample("images", names[i]);
		ck_assert(image_in_memory(buf_str(&file), &part));
		ck_assert_ptr_eq(part.at, file.data);
		ck_assert_uint_eq(part.size, file.len);
	}
	ck_assert(!image_in_memory("text", &part));
	read_sample("images", names[0]);
	wrapper.data = file.data;
	ck_assert(image_in_memory(&wrapper, &part));
	ck_assert_ptr_eq(part.at, file.data);
	ck_assert_uint_eq(part.size, file.len);
}
END_TEST

/* ---- broken ---- */

static const char *const samples[] = {"two.none.fatbin", "two.speed.fatbin", "two.size.fatbin",
				      "lines.cubin",     "plain.cubin",      "two.ptx"};

/* In memory of just that size, beyond which a sanitizer sees. */
static void try_bytes(const void *bytes, size_t n)
{
	char *copy = malloc(n + 1);
	struct images images;
	int r;

	ck_assert_ptr_nonnull(copy);
	if (n) /* at the end of what is ours */
		memcpy(copy + 1, bytes, n);
	r = images_find(copy + 1, n, &images);
	ck_assert(r == 0 || r == -EBADMSG || r == -ENODATA);
	if (r == 0) {
		look_at(&images);
		images_done(&images);
	}
	free(copy);
}

START_TEST(cut_at_every_byte)
{
	read_sample("images", samples[_i]);
	for (size_t n = 0; n < file.len; n++)
		try_bytes(file.data, n);
}
END_TEST

/* Each byte of the first ones, which are headers, and of sections' headers at the end, in turn. */
START_TEST(numbers_that_lie)
{
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	char was;

	read_sample("images", samples[_i]);
	for (size_t at = 0; at < file.len;
	     at += at == 2048 && file.len > 6144 ? file.len - 4096 : 1) {
		was = file.data[at];
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			file.data[at] = (char)values[i];
			try_bytes(file.data, file.len);
		}
		file.data[at] = was;
	}
}
END_TEST

/* ---- LZ4 ---- */

START_TEST(blocks_of_lz4)
{
	static const struct {
		const char *in;
		size_t n;
		const char *out; /* NULL: broken, of 20 bytes */
	} blocks[] = {
		{"\x50"
		 "plain",
		 6, "plain"},
		{"\x11"
		 "a\x01\x00\x30"
		 "end",
		 8, "aaaaaaend"},      /* a match within what it makes */
		{"\x0f\x00", 2, NULL}, /* a match before anything */
		{"\x10"
		 "a\x02\x00",
		 4, NULL}, /* … and before the beginning */
		{"\x10"
		 "a\x00\x00",
		 4, NULL},             /* … of no distance */
		{"\xf0\xff", 2, NULL}, /* a length without an end */
		{"\xf0\xff\xff\xff\x01"
		 "a",
		 6, NULL}, /* more than there is */
		{"\x1f"
		 "a\x01\x00\xff\xff\x00\x00",
		 8, NULL}, /* more than fits */
		{"\x50"
		 "plai",
		 5, NULL},
		{"", 0, NULL},
	};
	uint8_t out[20];
	const char *want = blocks[_i].out;
	size_t size = want ? strlen(want) : sizeof(out);

	ck_assert(lz4_unpack((const uint8_t *)blocks[_i].in, blocks[_i].n, out, size) == !!want);
	if (!want)
		return;
	ck_assert_mem_eq(out, want, size);
	ck_assert(!lz4_unpack((const uint8_t *)blocks[_i].in, blocks[_i].n, out, size - 1));
	ck_assert(!lz4_unpack((const uint8_t *)blocks[_i].in, blocks[_i].n, out, size + 1));
}
END_TEST

/* Of two that have one name, the first. */
START_TEST(kernels_by_name)
{
	enum { N = 3000, NAME_MAX_LEN = 8 };
	static char names[N][NAME_MAX_LEN];
	struct image_kernels kernels = {0};

	ck_assert_ptr_null(image_kernels_find(&kernels, "k0", 2));
	for (uint32_t i = 0; i < 2 * N; i++) {
		struct image_kernel k = {.name = names[i % N], .registers = i};

		snprintf(names[i % N], NAME_MAX_LEN, "k%u", i % N);
		k.name_len = strlen(k.name);
		ck_assert_int_eq(image_kernels_add(&kernels, &k), 0);
	}
	ck_assert_uint_eq(kernels.n, 2 * N);
	for (uint32_t i = 0; i < N; i++) {
		const struct image_kernel *k =
			image_kernels_find(&kernels, names[i], strlen(names[i]));

		ck_assert_ptr_nonnull(k);
		ck_assert_uint_eq(k->registers, i);
	}
	ck_assert_ptr_null(image_kernels_find(&kernels, "k", 1));
	ck_assert_ptr_null(image_kernels_find(&kernels, "k3000", 5));
	image_kernels_done(&kernels);
	ck_assert_ptr_null(image_kernels_find(&kernels, "k0", 2));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("images");
	TCase *tc = tcase_create("images");

	tcase_add_loop_test(tc, fatbins_of_all_modes, 0, (int)ARRAY_SIZE(modes));
	tcase_add_test(tc, containers_one_behind_the_other);
	tcase_add_loop_test(tc, what_kernels_take, 0, 5);
	tcase_add_test(tc, chips_by_the_header);
	tcase_add_test(tc, ptx_in_a_cubin);
	tcase_add_test(tc, kernels_of_a_text);
	tcase_add_test(tc, a_text_in_one_line);
	tcase_add_loop_test(tc, what_is_none, 0, 8);
	tcase_add_test(tc, images_without_a_length);
	tcase_add_test(tc, kernels_by_name);
	tcase_add_loop_test(tc, cut_at_every_byte, 0, (int)ARRAY_SIZE(samples));
	tcase_add_loop_test(tc, numbers_that_lie, 0, (int)ARRAY_SIZE(samples));
	tcase_add_loop_test(tc, blocks_of_lz4, 0, 10);
	suite_add_tcase(s, tc);
	return check_run(s);
}
