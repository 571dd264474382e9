/* SPDX-License-Identifier: MIT */
/* cubin_lines FILE: the places in the source that code of a cubin comes from, "FUNCTION FILE:LINE" each, for scripts that compare
 * cubins. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include "naming/cubin.h"

enum { STEP = 16 }; /* bytes of an instruction */

static void print_lines(const struct cubin *c, const struct cubin_function *f)
{
	struct object_function at[NATIVE_INLINED_MAX];

	for (uint64_t offset = 0; offset < f->size; offset += STEP) {
		unsigned n = cubin_lines(c, f, offset, at);

		for (unsigned i = 0; i < n; i++)
			printf("%s %s:%u\n", f->name, at[i].file ? at[i].file : "?", at[i].line);
	}
}

int main(int argc, char **argv)
{
	const struct cubin_function *f;
	struct cubin *c = NULL;
	size_t n;

	if (argc != 2 || cubin_open(argv[1], &c) < 0) {
		fputs("cubin_lines: no cubin\n", stderr);
		return 1;
	}
	f = cubin_functions(c, &n);
	for (size_t i = 0; i < n; i++)
		print_lines(c, &f[i]);
	cubin_free(c);
	return 0;
}
