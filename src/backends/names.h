/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_NAMES_H
#define PROTON_BACKENDS_NAMES_H
/* A set of strings that only grows, up to a bound: kernel names, registered NVTX strings.
 *
 *   slots[hash…] ──> struct name { hash, len, text… } in one mapped arena
 *
 * Equal texts give the same pointer, which stays valid for ever. Lock-free: a string is written
 * first and published by one compare-and-swap, so a signal handler or a fork child finds the set
 * whole. Memory is reserved at the first call and used page by page.
 *   thread  any */
#include <stddef.h>
#include <stdint.h>

#define NAMES_SLOTS       8192 /* power of two */
#define NAMES_MAX         (NAMES_SLOTS * 3 / 4)
#define NAMES_ARENA_BYTES (4u << 20)
#define NAMES_LEN_MAX     (64u << 10) /* longer texts keep this prefix */

struct name {
	uint32_t hash, len;
	char text[]; /* a NUL follows */
};

struct names {
	const struct name **slots; /* NULL until the first call; the arena follows them */
	uint64_t arena_used;
	uint32_t n;
};

/* The one copy of a text. NULL: the bound is reached, or there is no memory. */
const struct name *names_add(struct names *names, const char *text, size_t len);

#endif
