/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/symbols.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/named_file.h"
#include "base/util.h"

/* ---- what is loaded where ---- */

/* struct dl_find_object of glibc 2.35: the headers that we are built with may be older. */
struct loaded {
	unsigned long long flags;
	void *start, *end;
	struct link_map *map;
	void *eh_frame; /* in its place on all processors but the 32-bit x86 */
	void *rest[15]; /* more than it has on any processor */
};

/* _dl_find_object(), which takes no lock. NULL: there is none, and no address has a name. */
static int (*find_loaded)(void *address, struct loaded *ret);

void symbols_init(void)
{
	*(void **)&find_loaded = dlsym(RTLD_DEFAULT, "_dl_find_object");
}

static bool find(const void *address, struct loaded *ret)
{
	return find_loaded && find_loaded((void *)(uintptr_t)address, ret) == 0;
}

struct module module_of(const void *address)
{
	struct loaded l;

	return find(address, &l) ? (struct module){l.start, l.end, l.map, l.eh_frame}
				 : (struct module){0};
}

/* ---- the file ---- */

struct file {
	const unsigned char *bytes;
	size_t size;
};

static struct file file_map(const char *path)
{
	struct file f = {0};
	struct stat st;
	int fd = regular_open(path, O_RDONLY, &st);
	void *p;

	if (fd < 0)
		return f;
	if (st.st_size > 0) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p != MAP_FAILED)
			f = (struct file){p, (size_t)st.st_size};
	}
	close(fd);
	return f;
}

/* n things of this size; NULL: they are not in the file. */
static const void *file_at(const struct file *f, uint64_t offset, uint64_t n, size_t size)
{
	bool fits = offset % sizeof(uint64_t) == 0 && offset <= f->size &&
		    n <= (f->size - offset) / size;

	return fits ? f->bytes + offset : NULL;
}

struct sections {
	const Elf64_Shdr *header;
	size_t n;
};

static struct sections file_sections(const struct file *f)
{
	const Elf64_Ehdr *e = file_at(f, 0, 1, sizeof(*e));
	struct sections s = {0};

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_shentsize != sizeof(*s.header))
		return s;
	s.n = e->e_shnum;
	s.header = file_at(f, e->e_shoff, s.n, sizeof(*s.header));
	return s;
}

static bool symbol_holds(const Elf64_Sym *s, uint64_t value)
{
	return ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
	       s->st_value <= value && value - s->st_value < s->st_size;
}

/* The name of the function in one table of symbols. */
static size_t table_find(const struct file *f, const struct sections *all, const Elf64_Shdr *table,
			 uint64_t value, char *out, size_t size)
{
	size_t n = (size_t)(table->sh_size / sizeof(Elf64_Sym)), i, len;
	const Elf64_Sym *s = file_at(f, table->sh_offset, n, sizeof(*s));
	const Elf64_Shdr *text = table->sh_link < all->n ? &all->header[table->sh_link] : NULL;

	for (i = 0; s && text && i < n && !symbol_holds(&s[i], value); i++)
		;
	if (!s || !text || i == n || text->sh_offset > f->size ||
	    s[i].st_name >= f->size - text->sh_offset)
		return 0;
	f = &(struct file){f->bytes + text->sh_offset + s[i].st_name,
			   f->size - text->sh_offset - s[i].st_name};
	len = strnlen((const char *)f->bytes, MIN(f->size, size));
	if (len == f->size || len >= size)
		return 0;
	memcpy(out, f->bytes, len + 1);
	return len;
}

/* .symtab has every function, .dynsym those of a stripped file that others may call. */
static size_t file_find(const struct file *f, uint64_t value, char *out, size_t size)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	struct sections s = file_sections(f);
	size_t len = 0;

	for (size_t k = 0; s.header && k < ARRAY_SIZE(types); k++)
		for (size_t i = 0; i < s.n && !len; i++)
			if (s.header[i].sh_type == types[k])
				len = table_find(f, &s, &s.header[i], value, out, size);
	return len;
}

size_t symbol_at(const void *address, char *out, size_t size)
{
	struct loaded module;
	const char *path;
	struct file f;
	size_t len;

	if (!find(address, &module))
		return 0;
	path = *module.map->l_name ? module.map->l_name : "/proc/self/exe";
	f = file_map(path);
	if (!f.bytes)
		return 0;
	len = file_find(&f, (uintptr_t)address - module.map->l_addr, out, size);
	munmap((void *)(uintptr_t)f.bytes, f.size);
	return len;
}
