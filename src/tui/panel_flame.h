/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PANEL_FLAME_H
#define PROTON_TUI_PANEL_FLAME_H
/* The flame graph's state, which its two files share: panel_flame.c lays it out and answers keys,
 * panel_flame_draw.c draws it. Each level has as many rows of the panel as its boxes have lines. */
#include "base/buf.h"
#include "tui/flame.h"
#include "tui/panel.h"
#include "tui/row_columns.h"

#define MAX_ZOOM 64

/* What stands where, and what colours tell. The last one is for comparisons alone: in the others
 * their colours are those of differences. */
enum flame_form {
	FLAME_FROM_TOP,
	FLAME_FROM_BELOW,
	FLAME_BY_CALLERS,
	FLAME_BY_KIND,
	FLAME_N_FORMS
};

struct panel_flame {
	struct panel base;
	struct flame flame;
	struct bottom_up *callers;
	uint64_t generation; /* of the numbers that callers was made of */
	enum flame_form form;
	int lines;              /* of a box */
	struct flame_view view; /* its root lies below the tree's when zoomed */
	struct {
		uint32_t depth; /* of the root */
		bool rest;
		uint32_t skip;
	} zoom[MAX_ZOOM]; /* the views before it */
	unsigned n_zoom;
	uint32_t selected; /* box */
	uint64_t selected_key;
	uint64_t *path; /* scratch: keys from the top to the root of the view */
	size_t n_path, cap_path;
	struct row_columns columns; /* what may make a box wide */
	struct buf name;
};

static inline struct panel_flame *as_flame(struct panel *p)
{
	return (struct panel_flame *)p;
}

static inline const struct flame_box *box_at(struct panel *p, uint32_t box)
{
	return &as_flame(p)->flame.boxes[box];
}

static inline uint32_t level_of_row(struct panel *p, size_t row)
{
	size_t level = row / (size_t)as_flame(p)->lines;

	if (as_flame(p)->form == FLAME_FROM_BELOW)
		level = as_flame(p)->flame.n_levels - 1 - level;
	return (uint32_t)level;
}

/* Valid until the next call. */
const char *flame_box_name(struct panel *p, uint32_t box);
const char *flame_form_word(enum flame_form form);

/* For the panel's ops. */
void flame_draw_row(struct panel *p, struct pen *pen, size_t row);
void flame_draw_head(struct panel *p, struct pen *pen);
void flame_draw_foot(struct panel *p, struct pen *pen);
void flame_draw_below(struct panel *p, const struct canvas *canvas, int y, int rows);

#endif
