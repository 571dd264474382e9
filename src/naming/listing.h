/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_LISTING_H
#define PROTON_NAMING_LISTING_H
/* The source of a function of a device as it is read, for the report and the screen: files, lines with samples
 * and those around them, and the instructions of a line.
 *
 *               k.cu
 *            5  {
 *     953    6      return table[at] * 2.0f;
 *      23 +0xd0         LDG.E R2, desc[UR4][R2.64]
 *            7  }
 *
 *   thread  one */
#include "base/buf.h"
#include "core/naming.h"
#include "core/source.h"
#include "naming/code.h"

/* A file, a line, or an instruction below its line. */
struct listing_row {
	const struct source_mix *mix;                 /* NULL: no samples */
	const struct source_instruction *instruction; /* NULL: a line */
	const struct source_line *of;                 /* the line, or one of the same file */
	uint32_t line;                                /* 0: the file */
};

struct listing {
	const struct source *source;
	const struct source_function *function;
	const struct code_reader *code; /* NULL: there are no texts */
	const struct naming *naming;
	struct listing_row *v;
	size_t n, cap;
};

/* Adds the rows of the function. 0 or -ENOMEM. */
int listing_make(struct listing *l);
void listing_done(struct listing *l);
/* "6", "+0x00d0", or nothing. */
#define LISTING_PLACE_MAX 24
const char *listing_place(const struct listing_row *row, char out[LISTING_PLACE_MAX]);
/* The text of a row: of source, any bytes but tabs. */
void listing_text(const struct listing *l, const struct listing_row *row, struct buf *out);

#endif
