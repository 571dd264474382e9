/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a cubin, of which every function is looked at, and as what nvdisasm prints of one.
 * The corpus is tests/fuzz/corpus_cubin. */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/util.h"
#include "naming/cubin.h"
#include "naming/sass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* A function has a name, and is found by it; of what stands there every text ends. */
static void look_at(const struct cubin *c, const struct cubin_function *f)
{
	struct object_function lines[NATIVE_INLINED_MAX];
	unsigned n;

	must(*f->name && cubin_find(c, f->name));
	for (uint64_t offset = 0; offset < MIN(f->size, (uint64_t)1024); offset += 16) {
		n = cubin_lines(c, f, offset, lines);
		must(n <= NATIVE_INLINED_MAX && (!n || lines[0].name));
		while (n-- > 0)
			must((!lines[n].name || strlen(lines[n].name) < SIZE_MAX) &&
			     (!lines[n].file || *lines[n].file));
	}
}

static void look_at_rows(struct cubin *c)
{
	struct object_function lines[NATIVE_INLINED_MAX];
	uint32_t row;
	size_t n;

	must(cubin_read_rows(c, &n) == 0);
	for (size_t i = 0; i < n; i++)
		must(cubin_row(c, i, &row, lines) <= NATIVE_INLINED_MAX);
}

static void as_cubin(const uint8_t *data, size_t len)
{
	struct cubin *c = NULL;
	int r = cubin_read(data, len, &c);
	const struct cubin_function *f;
	size_t n;

	must(r == 0 || r == -EBADMSG || r == -EFBIG);
	if (r < 0)
		return;
	f = cubin_functions(c, &n);
	for (size_t i = 0; i < MIN(n, (size_t)64); i++)
		look_at(c, &f[i]);
	look_at_rows(c);
	cubin_free(c);
}

static void must_be_text(const struct sass *sass)
{
	for (size_t i = 0; i < sass->n; i++) {
		must(!i || sass->rows[i - 1].offset < sass->rows[i].offset);
		for (const char *p = sass->rows[i].text; *p; p++)
			must(*p >= ' ' && *p <= '~');
	}
}

static void as_text(const uint8_t *data, size_t len)
{
	static const struct cubin_function f = {
		.name = "k", .section_name = ".text.k", .offset = 0x20, .size = 0x100};
	struct sass sass;

	must(sass_parse((const char *)data, len, &f, &sass) == 0);
	for (size_t i = 0; i < sass.n; i++)
		must(sass.rows[i].offset < f.size);
	must_be_text(&sass);
	sass_done(&sass);
	must(sass_kept((const char *)data, len, f.name, &sass) == 0);
	must_be_text(&sass);
	sass_done(&sass);
}

/* What was added once is there. */
static void as_added(const uint8_t *data, size_t len)
{
	struct buf all = {0};
	size_t added;

	must(sass_kept_add((const char *)data, len, &all) == 0);
	added = all.len;
	must(sass_kept_add((const char *)data, len, &all) == 0 && all.len == added);
	buf_done(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	as_cubin(data, len);
	as_text(data, len);
	as_added(data, len);
	return 0;
}
