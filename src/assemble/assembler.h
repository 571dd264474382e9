/* SPDX-License-Identifier: MIT */
#ifndef PROTON_ASSEMBLE_ASSEMBLER_H
#define PROTON_ASSEMBLE_ASSEMBLER_H
/* One who assembles. He works in a child, by probe.h: what he prints there are his messages, the cubin goes to a file.
 *   thread  one */
#include "assemble/assemble.h"
#include "images/image.h"

enum { ASSEMBLER_OPTIONS_MAX = 64, ASSEMBLER_PATH_MAX = 48 };
enum {
	ASSEMBLER_NOT_HERE = 127
}; /* what a child ends with whose tool cannot be started or loaded */

struct assembly {
	struct elf_part ptx;
	char *tool;                                 /* path of what is run or loaded */
	char in[ASSEMBLER_PATH_MAX];                /* names by which a child finds the PTX … */
	char out[ASSEMBLER_PATH_MAX];               /* … and where the cubin goes */
	const char *options[ASSEMBLER_OPTIONS_MAX]; /* those of ptxas, up to NULL */
};

struct assembler {
	const char *name;
	/* The n-th of his that may be here, from 0 on, malloc'd; NULL: there are no more. */
	char *(*find)(const struct assemble_options *options, size_t n);
	probe_fn *run; /* of a struct assembly */
};

extern const struct assembler assembler_ptxas, assembler_jitlink;

#endif
