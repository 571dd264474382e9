/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_NATIVE_H
#define PROTON_CORE_NATIVE_H
/* What is asked for the names of compiled code. A collector tells of a file and an address in it; what
 * function that is says whoever has the file (naming/native.h). */
#include <stdbool.h>
#include <stdint.h>

/* Functions at one address that are told of; of more, the innermost. */
enum { NATIVE_INLINED_MAX = 32 };

struct native_place {
	const char *path, *build_id; /* "": it has none */
	uint64_t offset;             /* as in the file's own symbols */
};

struct native_function {
	const char
		*text; /* "file.c:42@function", "function", or "file+0x1f" where nothing is known */
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct native_namer {
	/* Functions at an address, outermost first: each is inlined into the one before. At least one; what
	 * they point to is valid until the next call. NULL: they keep the names that they have. */
	unsigned (*functions)(void *ctx, const struct native_place *place,
			      struct native_function ret[NATIVE_INLINED_MAX]);
	/* The lines of an instruction of a kernel: `path` is its cubin, "CRC.cubin", `build_id` its function. As
	 * functions(), but 0: not known. May be NULL. */
	unsigned (*lines)(void *lines_ctx, const struct native_place *place,
			  struct native_function ret[NATIVE_INLINED_MAX]);
	/* Is there time to ask for another one? If not, it is asked again later. NULL: there always is. */
	bool (*may_ask)(void *ctx);
	void *ctx, *lines_ctx;
};

#endif
