/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_ELF_BYTES_H
#define PROTON_BASE_ELF_BYTES_H
/* Sections of an ELF file of 64 bits that lies in memory, of which no number is believed: what is not in it is
 * empty. Nothing is allocated; the bytes stay the caller's.
 *   thread  any */
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_part {
	const uint8_t *at;
	size_t size;
};

struct elf_bytes {
	struct elf_part all;
	const uint8_t *headers; /* of sections */
	uint32_t n_sections, names;
};

/* False: it is no such file of this machine (EM_*). */
bool elf_bytes_open(struct elf_bytes *e, const void *bytes, size_t n, uint16_t machine);
Elf64_Shdr elf_header(const struct elf_bytes *e, uint32_t section);
struct elf_part elf_section(const struct elf_bytes *e, uint32_t section);
/* A text in a section of such, whose last one ends; "": it is none. */
const char *elf_text(const struct elf_bytes *e, uint32_t section, uint64_t offset);
const char *elf_section_name(const struct elf_bytes *e, uint32_t section);
/* The first section with this name, or 0. */
uint32_t elf_find_section(const struct elf_bytes *e, const char *name);
/* The first one of such a type, or 0. */
uint32_t elf_find_type(const struct elf_bytes *e, uint32_t type);
/* The n-th entry of a table of such a size; false: it has none. */
bool elf_entry(struct elf_part table, uint64_t n, void *ret, size_t size);

#endif
