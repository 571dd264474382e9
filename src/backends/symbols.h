/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_SYMBOLS_H
#define PROTON_BACKENDS_SYMBOLS_H
/* Which function an address is in: by the symbols of the file that was loaded there, so that static
 * functions of a program are known too (dladdr() knows what is exported, and takes the loader's lock,
 * which a constructor may hold that waits for us).
 *
 * A look maps the file and goes over its symbols: once an address, never on the launch path. */
#include <stdbool.h>
#include <stddef.h>

/* Before the first look, where the loader may be asked. */
void symbols_init(void);

/* Where a module is loaded. */
struct module {
	const void *start, *end; /* both NULL: not known */
	struct link_map *map;
	const void *unwinding; /* its PT_GNU_EH_FRAME; NULL: it has none */
};

/* That of an address. No lock; cheap.
 *   thread  any */
struct module module_of(const void *address);
static inline bool module_has(const struct module *m, const void *address)
{
	return address >= m->start && address < m->end;
}

/* The raw name into out, with a NUL; its length. 0: not known, or longer than there is room for.
 *   thread  any */
size_t symbol_at(const void *address, char *out, size_t size);

#endif
