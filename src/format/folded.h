/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_FOLDED_H
#define PROTON_FORMAT_FOLDED_H
/* Folded stacks, "a;b;c 12", as flame graph tools take them. docs/formats.md has the rules. */
#include "format/export.h"

/* The path of a node as text, appended: names with ";" between them, and in them %3B for ";", %0A
 * and %0D for line breaks, %25 for a "%" that would be taken for one of these. Of a path of more names
 * than `most` these many, the innermost, behind "…". */
int folded_path(struct export_names *names, uint32_t node, uint32_t most, struct export_path *path,
		struct buf *text);

/* These, and what stands for each. */
extern const char folded_special[5], *const folded_escapes[4];
/* Which escape begins at p: its index, or -1. */
int folded_escape_at(const char *p, const char *end);

bool folded_detect(const char *head, size_t n);
int folded_read(struct reader_input *in, struct session *s, struct format_error *error);

#endif
