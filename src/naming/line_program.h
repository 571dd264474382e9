/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_LINE_PROGRAM_H
#define PROTON_NAMING_LINE_PROGRAM_H
/* The line tables of GPU code: .debug_line of DWARF 2 to 4, with what NVIDIA's compilers add for functions
 * that were inlined.
 *
 *     row   address  line
 *       1     0x00     12
 *       2     0x80     17
 *       3     0x80      9   inlined at row 2: scaled()
 *       4     0x80      4   inlined at row 3: weight()      the last row of an address is its innermost
 *
 * libdw has these as well, but sorts a table by address: every function of a cubin begins at address 0 of a
 * section of its own, which only relocations tell.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "naming/object.h"

struct line_program;

/* Which section an address is in: asked with the place in .debug_line of the address, which it may change. */
typedef uint32_t line_section_fn(const void *ctx, uint64_t place, uint64_t *address);

struct line_input {
	const void *lines, *strings; /* .debug_line, .debug_str */
	size_t n_lines, n_strings;
	line_section_fn *section;
	const void *ctx;
};

/* What is broken ends its table; what stands before it is kept. NULL: no memory. `strings` must live as long, ctx need not. */
struct line_program *line_program_new(const struct line_input *in);
struct line_program *line_program_free(struct line_program *p);
/* The lines at an address, outermost first, each inlined into the one before; 0 where nothing is said. The outermost
 * may have no name. Valid as long as the program. */
unsigned line_program_look(const struct line_program *p, uint32_t section, uint64_t address,
			   struct object_function ret[NATIVE_INLINED_MAX]);
/* How many places there are from which on something else holds; they are in their order. */
size_t line_program_count(const struct line_program *p);
/* … the n-th. False: it is an end, or what holds from there on is another one. */
bool line_program_place(const struct line_program *p, size_t n, uint32_t *ret_section,
			uint64_t *ret_address);

#endif
