/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_PAGES_H
#define PROTON_BACKENDS_PAGES_H
/* Memory in somebody else's process.
 *   thread  any */
#include <stddef.h>

/* Zeroed, and in memory page by page as it is touched; NULL: there is none. */
void *pages_reserve(size_t size);
/* The same for what is used a few bytes here and there: never in huge pages of 2 MiB. */
void *pages_reserve_sparse(size_t size);
/* … once: *where, made by whichever thread comes first. Nothing of it is given back. */
void *pages_once_sparse(_Atomic(void *) *where, size_t size);

#endif
