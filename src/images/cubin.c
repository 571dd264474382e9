/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "images/cubin.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

#define ARCH_OPTION "-arch "
#define RESERVED_NAME                                                                              \
	".nv.reservedSmem.offset0" /* what code of the driver's shared memory refers to */

enum {
	NOTE_HEAD = 12,         /* bytes: sizes of name and content, type */
	ST_OTHER_KERNEL = 0x10, /* STO_CUDA_ENTRY */
	RESERVED_SHARED_BYTES = 1024,
	FLAG_ONLY_CHIP = 0x8,
	FLAG_ONLY_CHIP_OLD = 0x800,
	/* of .nv.info: what is told, in which form */
	INFO_REGISTERS = 0x2f,
	INFO_FRAME_SIZE = 0x11,
	INFO_MAX_THREADS = 0x05,
	INFO_THREADS = 0x10,
	INFO_HEAD = 4, /* bytes: form, attribute, size */
	FORM_SIZED = 4,
};

static bool open_cubin(struct elf_part cubin, struct elf_bytes *ret)
{
	return elf_bytes_open(ret, cubin.at, cubin.size, EM_CUDA);
}

static struct elf_part section_named(const struct elf_bytes *e, const char *name)
{
	return elf_section(e, elf_find_section(e, name));
}

/* ---- kernels ---- */

/* While kernels are added, which of them a symbol and a section are of: its number from 1 on, or 0. */
struct scan {
	struct elf_bytes elf;
	struct elf_part symbols;
	uint32_t strings;
	size_t n_symbols;
	bool is_reserved; /* the driver has a part of shared memory */
	uint32_t *of_symbol, *of_section;
	struct image_kernels *kernels;
};

static struct image_kernel *kernel_of(const struct scan *s, const uint32_t *of, size_t n,
				      uint32_t i)
{
	return i < n && of[i] ? &s->kernels->v[of[i] - 1] : NULL;
}

static bool is_kernel(const struct elf_bytes *e, const Elf64_Sym *s)
{
	return ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_other & ST_OTHER_KERNEL &&
	       s->st_shndx != SHN_UNDEF && s->st_shndx < e->n_sections;
}

/* Where .nv.info does not say it, the number of registers stands in the section's header. */
static int take_kernel(struct scan *s, size_t i, const Elf64_Sym *symbol)
{
	const char *name = elf_text(&s->elf, s->strings, symbol->st_name);
	int r;

	if (!*name)
		return 0;
	r = image_kernels_add(
		s->kernels,
		&(struct image_kernel){.name = name,
				       .name_len = strlen(name),
				       .is_assembled = true,
				       .registers =
					       elf_header(&s->elf, symbol->st_shndx).sh_info >> 24,
				       .code_bytes = symbol->st_size});
	if (r == 0)
		s->of_symbol[i] = s->of_section[symbol->st_shndx] = (uint32_t)s->kernels->n;
	return r;
}

static int take_symbols(struct scan *s)
{
	Elf64_Sym symbol;
	int r = 0;

	for (size_t i = 0; r == 0 && elf_entry(s->symbols, i, &symbol, sizeof(symbol)); i++)
		if (is_kernel(&s->elf, &symbol))
			r = take_kernel(s, i, &symbol);
		else if (symbol.st_shndx == SHN_UNDEF && symbol.st_name)
			s->is_reserved |= !strcmp(elf_text(&s->elf, s->strings, symbol.st_name),
						  RESERVED_NAME);
	return r;
}

/* .nv.info: entries of form, attribute and size, of which those that have a size of their own begin with the number of the
 * symbol that they are of. */
static void take_info(struct scan *s)
{
	struct elf_part info = section_named(&s->elf, ".nv.info");
	struct {
		uint8_t form, attribute;
		uint16_t size;
		uint32_t symbol, value;
	} entry;
	struct image_kernel *k;
	size_t skip;

	for (; elf_entry(info, 0, &entry, sizeof(entry)); info.at += skip, info.size -= skip) {
		skip = INFO_HEAD + (entry.form == FORM_SIZED ? entry.size : 0u);
		if (skip > info.size)
			return;
		if (skip < sizeof(entry))
			continue;
		k = kernel_of(s, s->of_symbol, s->n_symbols, entry.symbol);
		if (k && entry.attribute == INFO_REGISTERS)
			k->registers = entry.value;
		else if (k && entry.attribute == INFO_FRAME_SIZE)
			k->local_bytes = entry.value;
	}
}

/* Of nothing but a size. */
static void take_shared(const struct scan *s, uint32_t section, struct image_kernel *k)
{
	uint64_t size = elf_header(&s->elf, section).sh_size;

	k->shared_bytes = size - MIN(size, s->is_reserved ? (uint64_t)RESERVED_SHARED_BYTES : 0);
}

/* Entries as in .nv.info, but of one kernel: three sizes, if it says how large its blocks are. */
static void take_block(const struct scan *s, uint32_t section, struct image_kernel *k)
{
	struct elf_part info = elf_section(&s->elf, section);
	struct {
		uint8_t form, attribute;
		uint16_t size;
		uint32_t block[3];
	} entry;
	size_t skip;

	for (; elf_entry(info, 0, &entry, INFO_HEAD); info.at += skip, info.size -= skip) {
		skip = INFO_HEAD + (entry.form == FORM_SIZED ? entry.size : 0u);
		if (skip > info.size)
			return;
		if (skip >= sizeof(entry) &&
		    (entry.attribute == INFO_MAX_THREADS || entry.attribute == INFO_THREADS)) {
			memcpy(&entry, info.at, sizeof(entry));
			k->threads_max = entry.block[0] * entry.block[1] * entry.block[2];
		}
	}
}

/* Sections of a kernel each, which say which section's code they are of. */
static void take_sections(struct scan *s)
{
	static const struct {
		const char *prefix;
		void (*take)(const struct scan *s, uint32_t section, struct image_kernel *k);
	} kinds[] = {{".nv.shared.", take_shared}, {".nv.info.", take_block}};
	struct image_kernel *k;

	for (uint32_t i = 1; i < s->elf.n_sections; i++) {
		k = kernel_of(s, s->of_section, s->elf.n_sections, elf_header(&s->elf, i).sh_info);
		for (size_t j = 0; k && j < ARRAY_SIZE(kinds); j++)
			if (!strncmp(elf_section_name(&s->elf, i), kinds[j].prefix,
				     strlen(kinds[j].prefix)))
				kinds[j].take(s, i, k);
	}
}

static int scan(struct scan *s)
{
	uint32_t section = elf_find_type(&s->elf, SHT_SYMTAB);
	int r;

	s->symbols = elf_section(&s->elf, section);
	s->strings = elf_header(&s->elf, section).sh_link;
	s->n_symbols = s->symbols.size / sizeof(Elf64_Sym);
	s->of_symbol = calloc(s->n_symbols + 1, sizeof(*s->of_symbol));
	s->of_section = calloc(s->elf.n_sections + 1, sizeof(*s->of_section));
	r = s->of_symbol && s->of_section ? take_symbols(s) : -ENOMEM;
	if (r < 0)
		return r;
	take_info(s);
	take_sections(s);
	return 0;
}

int cubin_kernels(struct elf_part cubin, struct image_kernels *ret)
{
	struct scan s = {.kernels = ret};
	int r;

	if (!open_cubin(cubin, &s.elf))
		return -EBADMSG;
	r = scan(&s);
	free(s.of_symbol);
	free(s.of_section);
	return r;
}

/* ---- how it was made ---- */

/* A note of .note.nv.tkinfo: numbers and offsets of texts, from where the first text begins, in the order object, tool, version, build,
 * options. */
struct tool_note {
	uint32_t name_size, size, type;
	char name[12];
	uint32_t version, texts[5];
};

/* The options of the note at the begin of notes; "": it has none. Texts end within notes, which end by a zero. */
static const char *options_of(struct elf_part notes, struct tool_note *ret)
{
	uint64_t at;

	if (!elf_entry(notes, 0, ret, sizeof(*ret)) || ret->name_size != sizeof(ret->name))
		return "";
	at = sizeof(*ret) + (uint64_t)ret->texts[4];
	return at < notes.size ? (const char *)notes.at + at : "";
}

/* Of a cubin that was linked there is a note for each tool: the assembler's names the chip. */
const char *cubin_options(struct elf_part cubin)
{
	const char *options = "", *its;
	struct tool_note note;
	struct elf_part notes;
	struct elf_bytes e;
	size_t skip;

	if (!open_cubin(cubin, &e))
		return "";
	notes = section_named(&e, ".note.nv.tkinfo");
	if (!notes.size || notes.at[notes.size - 1])
		return "";
	for (; *(its = options_of(notes, &note)); notes.at += skip, notes.size -= skip) {
		options = its;
		skip = NOTE_HEAD + sizeof(note.name) + (size_t)((note.size + 3ull) & ~3ull);
		if (strstr(its, ARCH_OPTION) || skip >= notes.size)
			break;
	}
	return options;
}

/* As the flags of its header say, which know no sm_100f. In files of the newer form they are elsewhere. */
static void arch_of_flags(const Elf64_Ehdr *h, char ret[IMAGE_ARCH_MAX])
{
	bool is_new = h->e_ident[EI_ABIVERSION] >= 8;
	unsigned sm = (is_new ? h->e_flags >> 8 : h->e_flags) & 0xff;

	snprintf(ret, IMAGE_ARCH_MAX, "sm_%u%s", sm,
		 h->e_flags & (is_new ? FLAG_ONLY_CHIP : FLAG_ONLY_CHIP_OLD) ? "a" : "");
}

void cubin_arch(struct elf_part cubin, char ret[IMAGE_ARCH_MAX])
{
	const char *arch = strstr(cubin_options(cubin), ARCH_OPTION);
	struct elf_bytes e;
	Elf64_Ehdr h;

	ret[0] = '\0';
	if (!open_cubin(cubin, &e) || !elf_entry(cubin, 0, &h, sizeof(h)))
		return;
	if (arch) {
		arch += strlen(ARCH_OPTION);
		snprintf(ret, IMAGE_ARCH_MAX, "%.*s", (int)strcspn(arch, " "), arch);
	} else {
		arch_of_flags(&h, ret);
	}
}

/* ---- its PTX ---- */

int cubin_ptx(struct elf_part cubin, struct buf *ret)
{
	struct elf_part text;
	struct elf_bytes e;

	if (!open_cubin(cubin, &e))
		return -ENOENT;
	text = section_named(&e, ".nv_debug_ptx_txt");
	if (!text.size)
		return -ENOENT;
	buf_put(ret, text.at, text.size);
	for (size_t i = 0; !ret->error && i < text.size; i++)
		if (!ret->data[ret->len - text.size + i])
			ret->data[ret->len - text.size + i] = '\n';
	return ret->error;
}
