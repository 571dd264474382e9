/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PANEL_FLAME_H
#define PROTON_TUI_PANEL_FLAME_H
/* The flame graph's state, which its two files share: panel_flame.c lays it out and answers keys,
 * panel_flame_draw.c draws it. Each level has as many rows of the panel as its boxes have lines;
 * the root, which has always the whole width, has one. */
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
	int lines;              /* of a box that is not the root */
	struct flame_view view; /* its root lies below the tree's when zoomed */
	struct {
		uint32_t depth; /* of the root */
		bool rest;
		uint32_t skip;
	} zoom[MAX_ZOOM]; /* the views before it */
	unsigned n_zoom;
	uint32_t selected; /* box */
	uint64_t selected_key;
	bool has_selected; /* anything: there has been more than the root */
	uint64_t *path;    /* scratch: keys from the top to the root of the view */
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

static inline int lines_of_level(struct panel *p, uint32_t level)
{
	return level == 0 ? 1 : as_flame(p)->lines;
}

/* Where the levels stand from below, rows are counted from there. */
static inline size_t row_from_root(struct panel *p, size_t row)
{
	return as_flame(p)->form == FLAME_FROM_BELOW ? p->n_rows - 1 - row : row;
}

static inline uint32_t level_of_row(struct panel *p, size_t row)
{
	size_t from_root = row_from_root(p, row);

	return from_root == 0 ? 0 : 1 + (uint32_t)((from_root - 1) / (size_t)as_flame(p)->lines);
}

/* The first one, with the first lines of the boxes. */
static inline size_t row_of_level(struct panel *p, uint32_t level)
{
	const struct panel_flame *pf = as_flame(p);

	if (pf->form == FLAME_FROM_BELOW)
		return p->n_rows - 1 - (size_t)level * (size_t)pf->lines;
	return level == 0 ? 0 : 1 + (size_t)(level - 1) * (size_t)pf->lines;
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
