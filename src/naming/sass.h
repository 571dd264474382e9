/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_SASS_H
#define PROTON_NAMING_SASS_H
/* Instructions of a function of a cubin, out of what nvdisasm prints of it:
 *
 *     .section	.text._Z6gatherPfPKfi,"ax",@progbits
 *             [0070]               @P0 EXIT ;         but as a comment of C where brackets are here
 *
 * What is no instruction is passed over: the text is somebody else's, and may be anything.
 *
 * They are kept as text, too, for who has no nvdisasm: a function after the other, each with how many there are.
 *
 *     function 1d _Z6gatherPfPKfi
 *     70 @P0 EXIT
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "naming/cubin.h"

struct sass_instruction {
	uint64_t offset;  /* within the function */
	const char *text; /* "@P0 EXIT": printable, single blanks */
};

struct buf;

struct sass {
	struct sass_instruction *rows; /* by offset */
	size_t n, cap;
	struct strtab *texts;
};

/* 0 or -ENOMEM. Fills *ret, which sass_done() frees. */
int sass_parse(const char *text, size_t len, const struct cubin_function *f, struct sass *ret);
void sass_done(struct sass *s);
/* The instruction at an offset; NULL: none is known. */
const char *sass_at(const struct sass *s, uint64_t offset);

/* Adds them as they are kept. A name that is no line is not kept. */
void sass_keep(const struct sass *s, const char *function, struct buf *out);
/* Those of a function, out of what was kept: none where it is not there, or not all of it. 0 or -ENOMEM. Fills *ret, which
 * sass_done() frees. */
int sass_kept(const char *text, size_t len, const char *function, struct sass *ret);
/* Adds to `out`, a text that was kept, what another one has of functions that are not in it. -errno: `out` has no room for more, those
 * before are whole. */
int sass_kept_add(const char *text, size_t len, struct buf *out);

#endif
