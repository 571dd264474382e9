/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_CUBIN_H
#define PROTON_NAMING_CUBIN_H
/* A cubin: code for a chip, as NVIDIA's compilers write it and drivers load it. An ELF file with a section for
 * each kernel, in which the functions that it calls stand behind it; with -lineinfo, lines (line_program.h).
 *
 * It is read without elfutils, so that source is shown where proton was built without it. All numbers in it are doubted.
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "naming/object.h"

struct cubin;

struct cubin_function {
	const char *name; /* raw; as long as the cubin */
	const char *section_name;
	uint32_t symbol; /* its number, by which nvdisasm is asked for it */
	uint32_t section;
	uint64_t offset, size; /* bytes within the section. A kernel's hold what it calls, too */
};

/* 0 or -errno; -EBADMSG: it is no cubin. */
int cubin_open(const char *path, struct cubin **ret);
/* The same of bytes, which stay the caller's and must live as long as the cubin. */
int cubin_read(const void *bytes, size_t n, struct cubin **ret);
struct cubin *cubin_free(struct cubin *c);

/* By name. */
const struct cubin_function *cubin_functions(const struct cubin *c, size_t *ret_n);
/* NULL: it has no such function. */
const struct cubin_function *cubin_find(const struct cubin *c, const char *name);
/* The lines at an offset in a function, outermost first, each inlined into the one before: 0 where nothing is known.
 * The outermost has the name of the function that stands there. */
unsigned cubin_lines(const struct cubin *c, const struct cubin_function *f, uint64_t offset,
		     struct object_function ret[NATIVE_INLINED_MAX]);
/* Where code of other rows of its PTX begins (-lineinfo), in how many places: 0 or -ENOMEM. Few ask for it. */
int cubin_read_rows(struct cubin *c, size_t *ret_n);
/* … the n-th place: the row, from 1 on, of the text that it was made of (images/cubin.h), and its lines as above, without the
 * outermost name. */
unsigned cubin_row(const struct cubin *c, size_t n, uint32_t *ret_row,
		   struct object_function ret[NATIVE_INLINED_MAX]);

#endif
