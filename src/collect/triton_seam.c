/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/triton_seam.h"
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "collect/internal.h"
#include "collect/triton_seam_boot_py.h" // triton_seam_boot.py, by the build

/* Modules of Triton's in whose place the text is executed. */
static const char *const modules[] = {"triton._C.libproton", "triton.runtime.jit",
				      "triton.compiler.compiler"};

/* ---- code of Python that executes a text ---- */

/* What exec(text) is compiled to, of the constants (text, None) and the name exec, by version. Before 3.11
 * frozen code may be the text itself. */
static const struct program {
	uint8_t minor, size;
	uint8_t code[30];
} programs[] = {
	{11, 28, {151, 0, 2, 0, 101, 0, 100, 0, 166, 1, 0,   0, 171, 1,
		  0,   0, 0, 0, 0,   0, 0,   0, 1,   0, 100, 1, 83,  0}},
	{12, 20, {151, 0, 2, 0, 101, 0, 100, 0, 171, 1, 0, 0, 0, 0, 0, 0, 1, 0, 121, 1}},
	{13, 20, {149, 0, 92, 0, 34, 0, 83, 0, 53, 1, 0, 0, 0, 0, 0, 0, 32, 0, 103, 1}},
	{14, 22, {128, 0, 93, 0, 33, 0, 82, 0, 52, 1, 0, 0, 0, 0, 0, 0, 31, 0, 82, 1, 35, 0}},
	{15, 24, {128, 0, 0, 0, 92, 0, 31, 0, 81, 0, 50, 1, 0, 0, 0, 0, 0, 0, 29, 0, 80, 7, 33, 0}},
};
enum { FIRST_WITH_CODE = 11 }; /* 3.11 */

/* As marshal writes it, of what all versions since 3.11 read. */
static void put_u32(struct buf *b, uint32_t v)
{
	const uint8_t bytes[] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
				 (uint8_t)(v >> 24)};

	buf_put(b, bytes, sizeof(bytes));
}

static void put_bytes(struct buf *b, char type, const void *data, size_t len)
{
	buf_putc(b, type);
	put_u32(b, (uint32_t)len);
	buf_put(b, data, len);
}

static void put_text(struct buf *b, const char *text)
{
	put_bytes(b, 'u', text, strlen(text));
}

static void put_tuple(struct buf *b, uint32_t n)
{
	buf_putc(b, '(');
	put_u32(b, n);
}

/* Which line instructions are of: all of the first, for 8 units of 2 bytes at most each entry. */
static void put_lines(struct buf *b, size_t size)
{
	uint8_t lines[16];
	size_t n = 0;

	for (size_t units = size / 2, some; units; units -= some) {
		some = MIN(units, (size_t)8);
		lines[n++] = (uint8_t)(0x80 | 13 << 3 | (some - 1)); /* without columns */
		lines[n++] = 0;
	}
	put_bytes(b, 's', lines, n);
}

static void put_code(struct buf *b, const struct program *p, const char *text)
{
	buf_putc(b, 'c');
	put_u32(b, 0); /* arguments */
	put_u32(b, 0);
	put_u32(b, 0);
	put_u32(b, 4); /* of the stack */
	put_u32(b, 0); /* flags */
	put_bytes(b, 's', p->code, p->size);
	put_tuple(b, 2); /* constants */
	put_text(b, text);
	buf_putc(b, 'N');
	put_tuple(b, 1); /* names */
	put_text(b, "exec");
	put_tuple(b, 0); /* locals, their kinds */
	put_bytes(b, 's', "", 0);
	put_text(b, "<proton>"); /* file, name, qualified name, first line */
	put_text(b, "<module>");
	put_text(b, "<module>");
	put_u32(b, 1);
	put_lines(b, p->size);
	put_bytes(b, 's', "", 0); /* exceptions */
}

/* ---- the module's text ---- */

/* NAME = the path, whatever is in it. */
static void put_path(struct buf *b, const char *name, const char *path)
{
	buf_printf(b, "%s = __import__('os').fsdecode(b'", name);
	for (; *path; path++)
		buf_printf(b, "\\x%02x", (unsigned char)*path);
	buf_puts(b, "')\n");
}

static const char *own_path(void)
{
	Dl_info info;

	return dladdr((void *)own_path, &info) && info.dli_fname ? info.dli_fname : "";
}

/* What the interpreter reads; false: this version is not known, or there is no memory. */
static bool make_frozen(unsigned minor, struct buf *b)
{
	_cleanup_(buf_done) struct buf text = {0};
	size_t i = 0;

	put_path(&text, "LIBRARY", own_path());
	put_path(&text, "DATA", PROTON_DATADIR);
	buf_puts(&text, boot_text);
	if (minor < FIRST_WITH_CODE) {
		put_text(b, buf_str(&text));
	} else {
		while (i < ARRAY_SIZE(programs) && programs[i].minor != minor)
			i++;
		if (i == ARRAY_SIZE(programs))
			return false;
		put_code(b, &programs[i], buf_str(&text));
	}
	return !text.error && !b->error;
}

/* ---- the interpreter's table ---- */

/* An entry, of which 3.11 and 3.12 have more. */
struct frozen {
	const char *name;
	const char *code;
	int size, is_package;
};
enum { FROZEN_SIZE = 24, FROZEN_SIZE_WITH_FUNCTION = 32 };
_Static_assert(sizeof(struct frozen) == FROZEN_SIZE, "struct frozen");

static size_t count_entries(const char *table, size_t size)
{
	const char *name;
	size_t n = 0;

	while (table && (memcpy(&name, table + n * size, sizeof(name)), name))
		n++;
	return n;
}

/* Ours, and what was there. */
static bool add_entries(const char **table, unsigned minor, const struct buf *code)
{
	size_t size = minor == 11 || minor == 12 ? FROZEN_SIZE_WITH_FUNCTION : FROZEN_SIZE;
	size_t n = count_entries(*table, size);
	char *all = calloc(n + ARRAY_SIZE(modules) + 1, size);

	if (!all)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		struct frozen entry = {modules[i], code->data, (int)code->len, 0};

		memcpy(all + i * size, &entry, sizeof(entry));
	}
	if (n)
		memcpy(all + ARRAY_SIZE(modules) * size, *table, n * size);
	*table = all;
	return true;
}

/* ---- for the collector ---- */

static enum { SEAM_LATE, SEAM_UNKNOWN, SEAM_READY } seam = SEAM_LATE;

static void *find(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static unsigned minor_version(void)
{
	void *v = find("Py_GetVersion");
	const char *(*get)(void);
	unsigned minor;

	memcpy(&get, &v, sizeof(v));
	return v && sscanf(get(), "3.%u", &minor) == 1 ? minor : 0;
}

static bool is_running(void)
{
	void *v = find("Py_IsInitialized");
	int (*get)(void);

	memcpy(&get, &v, sizeof(v));
	return !v || get();
}

void triton_seam_prepare(void)
{
	static struct buf code; /* the interpreter's, for good */
	const char **table = find("PyImport_FrozenModules");
	unsigned minor;

	if (!table || is_running())
		return;
	minor = minor_version();
	if (minor < 7 || !make_frozen(minor, &code)) {
		seam = SEAM_UNKNOWN;
		return;
	}
	if (add_entries(table, minor, &code))
		seam = SEAM_READY;
}

static int is_tritons(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	return strstr(info->dlpi_name, "/triton/_C/libproton.") != NULL;
}

void triton_seam_end(void)
{
	if (seam != SEAM_READY && dl_iterate_phdr(is_tritons, NULL))
		collect_note(NOTE_WARNING,
			     seam == SEAM_LATE
				     ? "Triton's Proton is its own in this program, not ours: "
				       "the collector was not there before the interpreter"
				     : "Triton's Proton is its own in this program, not ours: this "
				       "version of Python is not known");
}
