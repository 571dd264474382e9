/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/loaded.h"
#include <stdint.h>
#include <string.h>

struct search {
	const char *begins;
	loaded_fn *see;
	void *arg;
};

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct search *s = arg;
	const char *path = info->dlpi_name ? info->dlpi_name : "", *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	(void)size;
	return strncmp(base, s->begins, strlen(s->begins)) ? 0 : s->see(info, base, s->arg);
}

int loaded_each(const char *begins, loaded_fn *see, void *arg)
{
	struct search s = {begins, see, arg};

	return dl_iterate_phdr(look, &s);
}

static int take_path(const struct dl_phdr_info *info, const char *base, void *ret_path)
{
	(void)base;
	*(const char **)ret_path = info->dlpi_name;
	return 1;
}

const char *loaded_path(const char *begins)
{
	const char *path = NULL;

	loaded_each(begins, take_path, &path);
	return path;
}

bool loaded_has(const struct dl_phdr_info *info, const void *address)
{
	uintptr_t at = (uintptr_t)address - info->dlpi_addr;

	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && at >= info->dlpi_phdr[i].p_vaddr &&
		    at - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

/* ---- symbols ---- */

struct symbols {
	const ElfW(Sym) * table;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH */
};

static const void *in(const struct dl_phdr_info *info, ElfW(Addr) at)
{
	return (const void *)(info->dlpi_addr + at);
}

/* Some loaders make addresses of what dynamic entries point to, some leave them as they are in the file. */
static const void *pointed_to(const struct dl_phdr_info *info, const ElfW(Dyn) * d)
{
	return d->d_un.d_ptr < info->dlpi_addr ? in(info, d->d_un.d_ptr)
					       : (const void *)d->d_un.d_ptr;
}

static bool find_symbols(const struct dl_phdr_info *info, struct symbols *s)
{
	const ElfW(Dyn) *d = NULL;

	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = in(info, info->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			s->table = pointed_to(info, d);
		else if (d->d_tag == DT_STRTAB)
			s->names = pointed_to(info, d);
		else if (d->d_tag == DT_GNU_HASH)
			s->hash = pointed_to(info, d);
	}
	return s->table && s->names && s->hash;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

/* buckets, first symbol, words of the filter, its shift; the filter; buckets: the first of each; a hash a symbol, whose
 * lowest bit is that it is the last one of its bucket. */
static const ElfW(Sym) * find_symbol(const struct symbols *s, const char *name)
{
	const uint32_t *head = s->hash, n = head[0], first = head[1];
	const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)(head + 4) + head[2]);
	const uint32_t *chain = bucket + n, hash = hash_of(name);

	for (uint32_t i = n ? bucket[hash % n] : 0; i >= first && i; i++) {
		const ElfW(Sym) *symbol = &s->table[i];

		if ((chain[i - first] | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    !strcmp(s->names + symbol->st_name, name))
			return symbol;
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

void *loaded_symbol(const struct dl_phdr_info *info, const char *name)
{
	struct symbols s = {0};
	const ElfW(Sym) *symbol = find_symbols(info, &s) ? find_symbol(&s, name) : NULL;

	return symbol ? (void *)(info->dlpi_addr + symbol->st_value) : NULL;
}
