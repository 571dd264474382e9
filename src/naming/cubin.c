/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/cubin.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/elf_bytes.h"
#include "base/named_file.h"
#include "base/util.h"
#include "naming/line_program.h"

/* The largest of NVIDIA's own libraries have 100 MiB of code for a chip. */
#define FILE_MAX (UINT64_C(512) << 20)

enum { FUNCTIONS_MAX = 1 << 20 };

struct relocation {
	uint64_t place; /* in the section of the table */
	uint64_t address;
	uint32_t section;
};

/* What is at which address. */
struct line_table {
	struct relocation *relocations; /* by place */
	size_t n, cap;
	struct line_program *lines; /* NULL: it has none */
};

struct cubin {
	char *owned; /* NULL: the bytes are somebody else's */
	struct elf_part all;
	struct elf_bytes elf;
	struct cubin_function *functions;
	size_t n, cap;
	struct line_table source, ptx;
};

/* ---- sections ---- */

/* The relocations of a section, or 0. */
static uint32_t find_relocations(const struct cubin *c, uint32_t section)
{
	Elf64_Shdr h;

	for (uint32_t i = 1; i < c->elf.n_sections; i++) {
		h = elf_header(&c->elf, i);
		if ((h.sh_type == SHT_RELA || h.sh_type == SHT_REL) && h.sh_info == section)
			return i;
	}
	return 0;
}

/* ---- functions ---- */

static int take_symbols(struct cubin *c, uint32_t section)
{
	struct elf_part table = elf_section(&c->elf, section);
	uint32_t strings = elf_header(&c->elf, section).sh_link;
	const char *name;
	Elf64_Sym s;

	for (uint32_t i = 0; elf_entry(table, i, &s, sizeof(s)); i++) {
		if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF ||
		    s.st_shndx >= c->elf.n_sections)
			continue;
		name = elf_text(&c->elf, strings, s.st_name);
		if (!*name)
			continue;
		if (c->n >= FUNCTIONS_MAX)
			return -EFBIG;
		if (ARRAY_ROOM(c->functions, c->cap, c->n + 1) < 0)
			return -ENOMEM;
		c->functions[c->n++] = (struct cubin_function){
			name,     elf_section_name(&c->elf, s.st_shndx), i, s.st_shndx, s.st_value,
			s.st_size};
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct cubin_function *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : COMPARE(x->symbol, y->symbol);
}

/* ---- lines ---- */

/* Where in which section an entry of a relocation table points. */
static bool take_relocation(const struct cubin *c, struct elf_part symbols, const Elf64_Rela *r,
			    struct relocation *ret)
{
	Elf64_Sym s;

	if (!elf_entry(symbols, ELF64_R_SYM(r->r_info), &s, sizeof(s)) || s.st_shndx == SHN_UNDEF ||
	    s.st_shndx >= c->elf.n_sections)
		return false;
	*ret = (struct relocation){r->r_offset, s.st_value + (uint64_t)r->r_addend, s.st_shndx};
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct relocation *x = a, *y = b;

	return COMPARE(x->place, y->place);
}

/* A table without addends has them where they point to; NVIDIA's compilers leave 0 there. */
static int take_relocations(const struct cubin *c, uint32_t section, struct line_table *t)
{
	Elf64_Shdr h = elf_header(&c->elf, section);
	size_t size = h.sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	struct elf_part table = elf_section(&c->elf, section),
			symbols = elf_section(&c->elf, h.sh_link);
	Elf64_Rela r = {0};

	for (uint64_t i = 0; elf_entry(table, i, &r, size); i++) {
		if (ARRAY_ROOM(t->relocations, t->cap, t->n + 1) < 0)
			return -ENOMEM;
		if (take_relocation(c, symbols, &r, &t->relocations[t->n]))
			t->n++;
	}
	return 0;
}

static uint32_t section_at(const void *ctx, uint64_t place, uint64_t *address)
{
	const struct line_table *t = ctx;
	size_t low = 0;

	BISECT(low, t->n, i, t->relocations[i].place < place);
	if (low == t->n || t->relocations[low].place != place)
		return 0;
	*address = t->relocations[low].address;
	return t->relocations[low].section;
}

static int take_lines(const struct cubin *c, const char *name, struct line_table *t)
{
	uint32_t section = elf_find_section(&c->elf, name);
	struct elf_part lines = elf_section(&c->elf, section);
	struct elf_part strings = elf_section(&c->elf, elf_find_section(&c->elf, ".debug_str"));
	const struct line_input in = {lines.at,     strings.at, lines.size,
				      strings.size, section_at, t};
	int r;

	if (!lines.size)
		return 0;
	r = take_relocations(c, find_relocations(c, section), t);
	if (r < 0)
		return r;
	if (t->n)
		qsort(t->relocations, t->n, sizeof(*t->relocations), by_place);
	t->lines = line_program_new(&in);
	return t->lines ? 0 : -ENOMEM;
}

static void line_table_done(struct line_table *t)
{
	line_program_free(t->lines);
	free(t->relocations);
}

/* ---- a file ---- */

static int take_all(struct cubin *c)
{
	int r;

	if (!elf_bytes_open(&c->elf, c->all.at, c->all.size, EM_CUDA))
		return -EBADMSG;
	r = take_symbols(c, elf_find_type(&c->elf, SHT_SYMTAB));
	if (r < 0)
		return r;
	if (c->n)
		qsort(c->functions, c->n, sizeof(*c->functions), by_name);
	return take_lines(c, ".debug_line", &c->source);
}

static int parse(struct cubin *c, struct cubin **ret)
{
	int r = take_all(c);

	if (r < 0) {
		cubin_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

int cubin_read(const void *bytes, size_t n, struct cubin **ret)
{
	struct cubin *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->all = (struct elf_part){bytes, n};
	return parse(c, ret);
}

/* Read, not mapped: a file that is cut short while we look must be an error. */
static int read_whole(int fd, size_t size, struct cubin *c)
{
	ssize_t n;

	if (size > FILE_MAX)
		return -EFBIG;
	c->owned = malloc(size + 1);
	if (!c->owned)
		return -ENOMEM;
	while (c->all.size < size) {
		n = read(fd, c->owned + c->all.size, size - c->all.size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		c->all.size += (size_t)n;
	}
	c->all.at = (const uint8_t *)c->owned;
	return 0;
}

int cubin_open(const char *path, struct cubin **ret)
{
	struct stat st;
	_cleanup_(closep) int fd = regular_open(path, O_RDONLY, &st);
	struct cubin *c;
	int r;

	if (fd < 0)
		return fd;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	r = read_whole(fd, (size_t)st.st_size, c);
	if (r < 0) {
		cubin_free(c);
		return r;
	}
	return parse(c, ret);
}

struct cubin *cubin_free(struct cubin *c)
{
	if (!c)
		return NULL;
	line_table_done(&c->source);
	line_table_done(&c->ptx);
	free(c->functions);
	free(c->owned);
	free(c);
	return NULL;
}

/* ---- looking ---- */

const struct cubin_function *cubin_functions(const struct cubin *c, size_t *ret_n)
{
	*ret_n = c->n;
	return c->functions;
}

const struct cubin_function *cubin_find(const struct cubin *c, const char *name)
{
	size_t low = 0;

	BISECT(low, c->n, i, strcmp(c->functions[i].name, name) < 0);
	return low < c->n && !strcmp(c->functions[low].name, name) ? &c->functions[low] : NULL;
}

unsigned cubin_lines(const struct cubin *c, const struct cubin_function *f, uint64_t offset,
		     struct object_function ret[NATIVE_INLINED_MAX])
{
	unsigned n;

	if (!c->source.lines || offset >= f->size)
		return 0;
	n = line_program_look(c->source.lines, f->section, f->offset + offset, ret);
	if (n && !ret[0].name)
		ret[0].name = f->name;
	return n;
}

int cubin_read_rows(struct cubin *c, size_t *ret_n)
{
	int r = c->ptx.lines ? 0 : take_lines(c, ".nv_debug_line_sass", &c->ptx);

	*ret_n = c->ptx.lines ? line_program_count(c->ptx.lines) : 0;
	return r;
}

unsigned cubin_row(const struct cubin *c, size_t n, uint32_t *ret_row,
		   struct object_function ret[NATIVE_INLINED_MAX])
{
	uint32_t section;
	uint64_t address;

	if (!c->source.lines || !line_program_place(c->ptx.lines, n, &section, &address) ||
	    !line_program_look(c->ptx.lines, section, address, ret))
		return 0;
	*ret_row = ret[0].line;
	return line_program_look(c->source.lines, section, address, ret);
}
