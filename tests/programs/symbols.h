/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PROGRAMS_SYMBOLS_H
#define TESTS_PROGRAMS_SYMBOLS_H
/* Functions of libraries that a program opens itself, as mocks are. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* The program ends where there is none of that name. */
static inline void *find(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL), *symbol = NULL;

	if (library)
		symbol = dlsym(library, name);
	if (!symbol) {
		fprintf(stderr, "no %s in %s\n", name, path);
		exit(2);
	}
	return symbol;
}

#endif
