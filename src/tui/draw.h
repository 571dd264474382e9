/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_DRAW_H
#define PROTON_TUI_DRAW_H
/* A pen writes from left to right on one row of a canvas and stops at its end: what is drawn is
 * always clipped and always clean, whatever the text. */
#include <stdbool.h>
#include <stddef.h>
#include "base/util.h"
#include "tui/hits.h"
#include "tui/text.h"
#include "tui/theme.h"

struct canvas {
	WINDOW *win;
	const struct look *look;
	int rows, cols;
	struct hits *hits;        /* notes what can be clicked on, and where; may be NULL */
	struct name_table *names; /* cuts the names that are drawn; NULL: each is cut by itself */
};

/* What stands for what is left out of a name. */
const char *canvas_dots(const struct canvas *canvas);
const char *draw_dots(bool ascii);

struct pen {
	const struct canvas *canvas;
	int y, x, end;   /* next column, and the one behind the last */
	bool selected;   /* every role is drawn as the selected row */
	bool underlined; /* as the last line of a box is */
};

/* From column x of a line on, `width` columns or what the canvas has of them. */
struct pen pen_at(const struct canvas *canvas, int y, int x, int width);
int pen_left(const struct pen *pen); /* columns that remain */
void pen_put(struct pen *pen, enum role role, const char *text);
void pen_printf(struct pen *pen, enum role role, const char *format, ...) _printf_(3, 4);
/* In a field of `width` columns, at its right or left side. */
void pen_right(struct pen *pen, enum role role, int width, const char *text);
void pen_field(struct pen *pen, enum role role, int width, const char *text);
void pen_skip(struct pen *pen, enum role role, int n); /* n blanks */
void pen_fill(struct pen *pen, enum role role);        /* blanks to the end */
/* A glyph repeated n times. */
void pen_repeat(struct pen *pen, enum role role, const char *glyph, int n);
/* A bar of `width` columns, `share` (0..1) of it full. */
void pen_bar(struct pen *pen, int width, double share);

/* The same without a ground, as fine as the terminal's characters are: what is little is seen. */
void pen_fine_bar(struct pen *pen, int width, double share);

/* What was drawn from column x on can be clicked on. */
void pen_hit(const struct pen *pen, int x, enum hit_kind kind, int value);

/* The lines before a row of a tree. last[0]: is the row the last of its siblings; last[1]: its
 * parent … as many as levels are drawn. A deeper row has its depth instead. */
void pen_lines(struct pen *pen, const bool *last, uint32_t levels, uint32_t depth);

struct pen_name {
	const char *text;
	int scroll;         /* columns hidden at the left */
	const char *needle; /* drawn as a match; NULL or "" = nothing */
	enum text_cut cut;
};
/* A name, up to the end of the pen. */
void pen_name(struct pen *pen, enum role role, const struct pen_name *name);

#endif
