/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/elf_bytes.h"
#include <string.h>
#include "base/util.h"

/* None, where they are not all in it. */
static struct elf_part part_of(const struct elf_bytes *e, uint64_t offset, uint64_t size)
{
	if (offset > e->all.size || size > e->all.size - offset)
		return (struct elf_part){NULL, 0};
	return (struct elf_part){e->all.at + offset, (size_t)size};
}

Elf64_Shdr elf_header(const struct elf_bytes *e, uint32_t section)
{
	Elf64_Shdr h = {0};

	if (section < e->n_sections)
		memcpy(&h, e->headers + section * sizeof(h), sizeof(h));
	return h;
}

struct elf_part elf_section(const struct elf_bytes *e, uint32_t section)
{
	Elf64_Shdr h = elf_header(e, section);

	if (h.sh_type == SHT_NOBITS)
		return (struct elf_part){NULL, 0};
	return part_of(e, h.sh_offset, h.sh_size);
}

const char *elf_text(const struct elf_bytes *e, uint32_t section, uint64_t offset)
{
	struct elf_part p = elf_section(e, section);

	if (offset >= p.size || p.at[p.size - 1])
		return "";
	return (const char *)p.at + offset;
}

const char *elf_section_name(const struct elf_bytes *e, uint32_t section)
{
	return elf_text(e, e->names, elf_header(e, section).sh_name);
}

uint32_t elf_find_section(const struct elf_bytes *e, const char *name)
{
	for (uint32_t i = 1; i < e->n_sections; i++)
		if (!strcmp(elf_section_name(e, i), name))
			return i;
	return 0;
}

uint32_t elf_find_type(const struct elf_bytes *e, uint32_t type)
{
	for (uint32_t i = 1; i < e->n_sections; i++)
		if (elf_header(e, i).sh_type == type)
			return i;
	return 0;
}

bool elf_entry(struct elf_part table, uint64_t n, void *ret, size_t size)
{
	if (n >= table.size / size)
		return false;
	memcpy(ret, table.at + n * size, size);
	return true;
}

bool elf_bytes_open(struct elf_bytes *e, const void *bytes, size_t n, uint16_t machine)
{
	struct elf_part sections;
	Elf64_Ehdr h;

	*e = (struct elf_bytes){.all = {bytes, n}};
	if (!elf_entry(e->all, 0, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
	    h.e_machine != machine || h.e_shentsize != sizeof(Elf64_Shdr))
		return false;
	/* More than 65,279 sections are counted in the first of them. */
	e->n_sections = h.e_shnum;
	if (!h.e_shnum) {
		sections = part_of(e, h.e_shoff, sizeof(Elf64_Shdr));
		e->headers = sections.at;
		e->n_sections = sections.at ? 1 : 0;
		e->n_sections = (uint32_t)MIN(elf_header(e, 0).sh_size, (uint64_t)UINT32_MAX);
	}
	sections = part_of(e, h.e_shoff, (uint64_t)e->n_sections * sizeof(Elf64_Shdr));
	if (!sections.size)
		return false;
	e->headers = sections.at;
	e->names = h.e_shstrndx == SHN_XINDEX ? elf_header(e, 0).sh_link : h.e_shstrndx;
	return true;
}
