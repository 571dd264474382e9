/* SPDX-License-Identifier: MIT */
#ifndef TESTS_MOCKS_NOTE_LOOK_H
#define TESTS_MOCKS_NOTE_LOOK_H
/* What libraries of sensors are asked, for tests that wait for it. */
#include <stdio.h>

/* A look begins: a byte more in FILE.looks. The one before is over, then. */
static inline void note_look(const char *file)
{
	char name[4096];
	FILE *f = NULL;

	if (file && snprintf(name, sizeof(name), "%s.looks", file) < (int)sizeof(name))
		f = fopen(name, "ae");
	if (f) {
		fputc('.', f);
		fclose(f);
	}
}

#endif
