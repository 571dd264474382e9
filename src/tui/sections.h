/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_SECTIONS_H
#define PROTON_TUI_SECTIONS_H
/* A panel of several small tables, one below the other: each with a heading, columns of its own
 * and a sentence for when it is empty. */
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

/* For ops->init: the tables of a panel, kept in its struct. */
void sections_init(struct sections *s, struct panel *p, const struct section *v, unsigned n);
/* Empty, for row_name() to make a name in. */
struct buf *sections_text(struct panel *p);
/* Those of panel_ops; update lays the rows out. */
void sections_done(struct panel *p);
void sections_update(struct panel *p);
uint64_t sections_key(struct panel *p, size_t row);
const char *sections_name(struct panel *p, size_t row);
uint32_t sections_node(struct panel *p, size_t row);
bool sections_is_heading(struct panel *p, size_t row);
void sections_draw_row(struct panel *p, struct pen *pen, size_t row);

#define SECTIONS_OPS                                                                               \
	.row_key = sections_key, .row_name = sections_name, .row_node = sections_node,             \
	.is_heading = sections_is_heading, .draw_row = sections_draw_row

#endif
