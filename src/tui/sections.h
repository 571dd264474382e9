/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_SECTIONS_H
#define PROTON_TUI_SECTIONS_H
/* A panel of several small tables, one below the other: each with a heading, columns of its own
 * and a sentence for when it is empty. Panels embed struct sections behind their struct panel. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "tui/panel.h"

struct section {
	const char *title; /* NULL: none */
	const char *name;  /* title of the last column; NULL: no column header */
	struct columns columns;
	size_t (*n)(struct panel *p);
	const char *(*row_name)(struct panel *p, uint32_t i); /* valid until the next call */
	uint32_t (*row_node)(struct panel *p, uint32_t i);    /* may be NULL */
	enum role (*row_role)(struct panel *p, uint32_t i);   /* may be NULL */
	const char *empty; /* sentence; NULL: an empty section is left out */
};

enum section_line { LINE_BLANK, LINE_TITLE, LINE_HEAD, LINE_ROW, LINE_EMPTY };

struct section_row {
	uint8_t line; /* enum section_line */
	uint8_t section;
	uint32_t i;
};

#define MAX_SECTIONS 8

struct sections {
	const struct section *v;
	unsigned n;
	struct section_row *rows;
	size_t n_rows, cap_rows;
	struct column_fit layouts[MAX_SECTIONS];
	struct buf text; /* of sections_text() */
};

void sections_init(struct sections *s, const struct section *v, unsigned n);
/* Empty, for row_name() to make a name in. */
struct buf *sections_text(struct sections *s);
void sections_done(struct sections *s);
/* Lay the rows out; sets p->n_rows. */
void sections_update(struct sections *s, struct panel *p);
uint64_t sections_key(const struct sections *s, size_t row);
const char *sections_name(const struct sections *s, struct panel *p, size_t row);
uint32_t sections_node(const struct sections *s, struct panel *p, size_t row);
bool sections_is_heading(const struct sections *s, size_t row);
void sections_draw_row(const struct sections *s, struct panel *p, struct pen *pen, size_t row);

/* The panel_ops functions of a panel whose struct sections is found by get(panel). */
#define SECTIONS_OPS(get)                                                                          \
	static uint64_t row_key(struct panel *p, size_t row)                                       \
	{                                                                                          \
		return sections_key(get(p), row);                                                  \
	}                                                                                          \
	static const char *row_name(struct panel *p, size_t row)                                   \
	{                                                                                          \
		return sections_name(get(p), p, row);                                              \
	}                                                                                          \
	static uint32_t row_node(struct panel *p, size_t row)                                      \
	{                                                                                          \
		return sections_node(get(p), p, row);                                              \
	}                                                                                          \
	static bool is_heading(struct panel *p, size_t row)                                        \
	{                                                                                          \
		return sections_is_heading(get(p), row);                                           \
	}                                                                                          \
	static void draw_row(struct panel *p, struct pen *pen, size_t row)                         \
	{                                                                                          \
		sections_draw_row(get(p), p, pen, row);                                            \
	}

/* These functions in a panel_ops. */
#define SECTIONS_FIELDS                                                                            \
	.row_key = row_key, .row_name = row_name, .row_node = row_node, .is_heading = is_heading,  \
	.draw_row = draw_row

#endif
