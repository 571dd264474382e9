/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_CODE_H
#define PROTON_NAMING_CODE_H
/* What views ask of the code that samples are of: texts of lines, instructions, what was inlined. The program answers
 * (cmd/code.h), for reports and the screen open no files and start nothing.
 *   thread  one */
#include "core/pc_samples.h"
#include "naming/object.h"
#include "naming/source_files.h"

/* Texts are valid until the next call. */
struct code_reader {
	struct source_text (*line)(void *ctx, const char *file, size_t file_len, uint32_t line);
	/* Was the file changed since the profile was made? */
	bool (*is_newer)(void *ctx, const char *file, size_t file_len);
	/* As nvdisasm prints it; NULL: not known. */
	const char *(*instruction)(void *ctx, const struct pc_instruction *is);
	/* The functions at it, outermost first; 0: not known. */
	unsigned (*functions)(void *ctx, const struct pc_instruction *is,
			      struct object_function ret[NATIVE_INLINED_MAX]);
	/* Why instructions have no text; NULL: all that were asked for have one. */
	const char *(*why)(void *ctx);
	void *ctx;
};

#endif
