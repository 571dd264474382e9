/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/object.h"
#include <stddef.h>

#ifdef HAVE_LIBDW
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/named_file.h"
#include "base/util.h"
#include "naming/object_debug.h"

/* Where distributions put debug information. */
#define DEBUG_FOLDER "/usr/lib/debug"

struct symbol {
	uint64_t low, high;
	const char *name;
	uint8_t rank; /* of those at the same place the first is shown */
};

/* A file, opened. */
struct image {
	int fd;
	Elf *elf;
};

struct object {
	struct image code, apart; /* apart: what was stripped off */
	struct symbol *symbols;   /* by low, then rank */
	size_t n, cap;
	struct object_debug *debug;
};

/* ---- files ---- */

static void image_close(struct image *i)
{
	if (!i->elf)
		return;
	elf_end(i->elf);
	close(i->fd);
	*i = (struct image){0};
}

/* Is it the file that was loaded? One without an id may be. */
static bool has_build_id(Elf *elf, const char *wanted)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &id);
	char text[3];

	if (!*wanted)
		return true;
	if (n <= 0 || strlen(wanted) != 2 * (size_t)n)
		return false;
	for (ssize_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%02x", ((const unsigned char *)id)[i]);
		if (memcmp(text, wanted + 2 * i, 2) != 0)
			return false;
	}
	return true;
}

/* Read, not mapped: a file that is cut short while we look must be an error. */
static bool image_open(const char *path, const char *build_id, struct image *ret)
{
	struct image i = {.fd = regular_open(path, O_RDONLY, NULL)};

	if (i.fd < 0)
		return false;
	if (elf_version(EV_CURRENT) != EV_NONE)
		i.elf = elf_begin(i.fd, ELF_C_READ, NULL);
	if (i.elf && elf_kind(i.elf) == ELF_K_ELF && has_build_id(i.elf, build_id)) {
		*ret = i;
		return true;
	}
	if (i.elf)
		elf_end(i.elf);
	close(i.fd);
	return false;
}

static bool try_apart(struct object *o, const char *build_id, const char *format, const char *a,
		      const char *b)
{
	_cleanup_(freep) char *path = NULL;

	if (asprintf(&path, format, a, b) < 0) {
		path = NULL;
		return false;
	}
	return image_open(path, build_id, &o->apart);
}

static void open_apart(struct object *o, const char *path, const char *build_id)
{
	_cleanup_(freep) char *folder = strdup(path);
	const char *name;
	char first[3];
	GElf_Word crc;

	snprintf(first, sizeof(first), "%s", build_id);
	if (strlen(build_id) > 2 &&
	    try_apart(o, build_id, DEBUG_FOLDER "/.build-id/%s/%s.debug", first, build_id + 2))
		return;
	name = dwelf_elf_gnu_debuglink(o->code.elf, &crc);
	if (!name || !folder || !strrchr(folder, '/'))
		return;
	*strrchr(folder, '/') = '\0';
	if (!try_apart(o, build_id, "%s/.debug/%s", folder, name) &&
	    !try_apart(o, build_id, DEBUG_FOLDER "%s/%s", folder, name))
		try_apart(o, build_id, "%s/%s", folder, name);
}

/* ---- symbols ---- */

/* What other files may call is better known than what they may not. */
static uint8_t rank_of(const GElf_Sym *s)
{
	switch (GELF_ST_BIND(s->st_info)) {
	case STB_GLOBAL:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

static int symbol_add(struct object *o, const GElf_Sym *s, const char *name)
{
	unsigned type = GELF_ST_TYPE(s->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s->st_shndx == SHN_UNDEF || !name ||
	    !*name)
		return 0;
	if (ARRAY_ROOM(o->symbols, o->cap, o->n + 1) < 0)
		return -1;
	o->symbols[o->n++] = (struct symbol){
		s->st_value, s->st_value + MAX(s->st_size, (GElf_Xword)1), name, rank_of(s)};
	return 0;
}

static int table_read(struct object *o, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	GElf_Sym s;

	for (size_t i = 0; i < n && i <= INT32_MAX; i++)
		if (gelf_getsym(data, (int)i, &s) &&
		    symbol_add(o, &s, elf_strptr(elf, header->sh_link, s.st_name)) < 0)
			return -1;
	return 0;
}

static int symbols_read(struct object *o, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
		    table_read(o, elf, section, &header) < 0)
			return -1;
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->rank != y->rank ? (int)x->rank - (int)y->rank : strcmp(x->name, y->name);
}

static const char *symbol_find(const struct object *o, uint64_t address)
{
	size_t low = 0, high = o->n, middle, i;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (o->symbols[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	for (i = low - 1; i && o->symbols[i - 1].low == o->symbols[low - 1].low; i--)
		;
	for (; i < low; i++)
		if (address < o->symbols[i].high)
			return o->symbols[i].name;
	return NULL;
}

/* ---- objects ---- */

struct object *object_open(const char *path, const char *build_id)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o || !image_open(path, build_id, &o->code))
		return object_free(o);
	open_apart(o, path, build_id);
	if (symbols_read(o, o->code.elf) < 0 || symbols_read(o, o->apart.elf) < 0)
		return object_free(o);
	if (o->n)
		qsort(o->symbols, o->n, sizeof(*o->symbols), by_place);
	o->debug = object_debug_new(o->code.elf);
	if (!o->debug && o->apart.elf)
		o->debug = object_debug_new(o->apart.elf);
	return o;
}

struct object *object_free(struct object *o)
{
	if (!o)
		return NULL;
	object_debug_free(o->debug);
	image_close(&o->code);
	image_close(&o->apart);
	free(o->symbols);
	free(o);
	return NULL;
}

/* Is it mangled? Then it says more than a name that debug information has without a symbol. */
static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

unsigned object_functions(struct object *o, uint64_t address,
			  struct object_function ret[NATIVE_INLINED_MAX])
{
	const char *symbol = symbol_find(o, address);
	unsigned n = o->debug ? object_debug_functions(o->debug, address, ret) : 0;

	if (!n && symbol)
		ret[n++] = (struct object_function){.name = symbol};
	else if (n && symbol && (!ret[0].name || (is_mangled(symbol) && !is_mangled(ret[0].name))))
		ret[0].name = symbol;
	return n;
}

/* ---- functions without symbols ---- */

/* What is before the table of .eh_frame_hdr, in its usual form: relative numbers of four bytes. */
struct eh_head {
	uint8_t version, pointer_form, count_form, table_form;
	int32_t pointer;
	uint32_t n;
};
#define EH_VERSION    1
#define EH_COUNT_FORM 0x03 /* DW_EH_PE_udata4 */
#define EH_TABLE_FORM 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */

/* Both behind the beginning of the section; sorted by function. */
struct eh_entry {
	int32_t function, description;
};

static bool eh_section(Elf *elf, GElf_Phdr *ret)
{
	size_t n;

	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n && i <= INT32_MAX; i++)
		if (gelf_getphdr(elf, (int)i, ret) && ret->p_type == PT_GNU_EH_FRAME)
			return true;
	return false;
}

uint64_t object_begin(const struct object *o, uint64_t address)
{
	struct eh_head head;
	struct eh_entry e;
	GElf_Phdr section;
	Elf_Data *data;
	size_t low = 0, high;
	uint64_t begin = address;

	if (!eh_section(o->code.elf, &section))
		return address;
	data = elf_getdata_rawchunk(o->code.elf, (int64_t)section.p_offset, section.p_filesz,
				    ELF_T_BYTE);
	if (!data || data->d_size < sizeof(head))
		return address;
	memcpy(&head, data->d_buf, sizeof(head));
	if (head.version != EH_VERSION || head.count_form != EH_COUNT_FORM ||
	    head.table_form != EH_TABLE_FORM)
		return address;
	high = MIN((size_t)head.n, (data->d_size - sizeof(head)) / sizeof(e));
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t function;

		memcpy(&e, (const char *)data->d_buf + sizeof(head) + middle * sizeof(e),
		       sizeof(e));
		function = section.p_vaddr + (uint64_t)(int64_t)e.function;
		if (function > address) {
			high = middle;
			continue;
		}
		begin = function;
		low = middle + 1;
	}
	return begin;
}

#else
struct object *object_open(const char *path, const char *build_id)
{
	return NULL;
}

struct object *object_free(struct object *o)
{
	return NULL;
}

unsigned object_functions(struct object *o, uint64_t address,
			  struct object_function ret[NATIVE_INLINED_MAX])
{
	return 0;
}

uint64_t object_begin(const struct object *o, uint64_t address)
{
	return address;
}
#endif
