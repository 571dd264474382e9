/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_LOADED_H
#define PROTON_BASE_LOADED_H
/* Libraries that are loaded into this process, by how the last part of their path begins: "libcuda.so" is
 * /usr/lib/libcuda.so.1, too.
 *   thread  any; takes that lock of the loader's which guards its list, also while the function is called. Unlike the one
 *           of dlopen() and dlsym() it is not held while constructors run, who may wait for anything */
#include <link.h>
#include <stdbool.h>

/* Calls it for each until it returns something else than 0, which is returned; base: the last part of its path. */
typedef int loaded_fn(const struct dl_phdr_info *info, const char *base, void *arg);
int loaded_each(const char *begins, loaded_fn *see, void *arg);
/* The path of the first one, as long as that stays loaded; NULL: there is none. */
const char *loaded_path(const char *begins);

/* Is the address within it? */
bool loaded_has(const struct dl_phdr_info *info, const void *address);
/* What it exports under a name, as it stands in its table of symbols; NULL: nothing. Takes no lock. */
void *loaded_symbol(const struct dl_phdr_info *info, const char *name);

#endif
