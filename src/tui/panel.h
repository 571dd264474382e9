/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PANEL_H
#define PROTON_TUI_PANEL_H
/* A panel is a list of rows: scroll, cursor, search and columns are the same for all of them
 * and live here; what the rows are is the matter of its panel_ops.
 *
 *     column header     ops->draw_head
 *     row               ops->draw_row  (top … top + height - 1; the cursor is one of them)
 *     …
 *     last line         ops->draw_foot (only when there is room)
 *
 * The cursor belongs to a row's key (a node id, a name), not to its place: rows that come, go and
 * change places never move it to another thing. Until somebody uses the panel, it is on the first
 * row, whatever comes there. A panel is made anew from the snapshot when it is
 * next drawn after panel_spoil(). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/human.h"
#include "core/column.h"
#include "core/numbers.h"
#include "core/snapshot.h"
#include "tui/columns.h"
#include "tui/keys.h"
#include "tui/tui.h"

struct panel;
struct row_ask;
struct row_columns;
struct section;
struct tui;

/* What a key is for in one panel, where that is more or less than keys.h says. */
struct panel_key {
	enum request request; /* REQ_NONE ends a list */
	const char
		*label; /* beside the function key; "": nothing stands there; NULL: as everywhere */
	const char *help; /* for the help screen; "": no line there; NULL: as everywhere */
};

/* What a panel draws that is no column of a table, for the help screen. */
struct panel_sign {
	const char *sign, *help; /* NULL ends a list */
	const char *ascii;       /* the sign without Unicode; NULL: the same */
};

struct panel_ops {
	const char *title;                     /* on the tab line */
	const char *tab;                       /* the same, shorter; NULL: the title is short */
	const char *name;                      /* title of the last column */
	bool (*is_there)(const struct tui *t); /* has the profile anything for it? NULL: always */
	bool is_of_devices;                    /* it has something to show without a program, too */
	size_t size;            /* of the panel's own struct, which begins with struct panel */
	struct columns columns; /* to sort by; none: the panel has one order */
	struct {
		const struct section *v;
		unsigned n;
	} sections;                   /* its tables (tui/sections.h); none: it is one list */
	int (*init)(struct panel *p); /* memory is zeroed before; may be NULL */
	void (*done)(struct panel *p);
	/* Make the rows anew and set n_rows. */
	void (*update)(struct panel *p);
	uint64_t (*row_key)(struct panel *p, size_t row);
	/* The row of a key, or SIZE_MAX; NULL: all rows are looked at. */
	size_t (*find_row)(struct panel *p, uint64_t key);
	/* What a search looks at. Valid until the next call; "" for a row without a name. */
	const char *(*row_name)(struct panel *p, size_t row);
	/* What tui/row_columns.h is made of: a metric of row i, as the panel counts; NaN = absent. */
	double (*value)(struct panel *p, uint32_t i, const struct row_ask *ask);
	/* What limits of these are shares of; NULL: of row 0. */
	double (*limit_whole)(struct panel *p, bool before);
	/* A calling context that has the name of row i, as the panel counts; NULL: rows are not sorted
	 * by their names. */
	uint32_t (*example)(struct panel *p, uint32_t i);
	/* What a column without a value() of its own has in row i; NaN = absent. */
	double (*number)(struct panel *p, const struct column *c, uint32_t i);
	/* What the numbers of rows are made of. own_numbers: where a metric does not say, it is
	 * without what lies below a row. */
	struct numbers *(*numbers)(struct panel *p);
	bool own_numbers;
	/* Is it kept what rows were in the last windows? past_key(): a key of row i, as the panel counts,
	 * that stays while ids do; NULL: i itself is one. */
	bool has_past;
	uint64_t (*past_key)(struct panel *p, uint32_t i);
	/* NULL: what it draws needs no words. */
	const struct panel_sign *signs;
	const struct panel_key *keys; /* those that matter most first; NULL: as everywhere */
	bool is_filtered, is_grouped; /* what it shows depends on the filter, on the grouping */
	bool is_of_run;               /* what it shows is of the whole run, whatever is filtered */
	bool compares; /* it shows both sides of a comparison without columns for them */
	/* Calling context of a row, or SNAP_NONE; may be NULL. */
	uint32_t (*row_node)(struct panel *p, size_t row);
	bool (*is_heading)(struct panel *p,
			   size_t row); /* the cursor passes over it; may be NULL */
	/* The heading that tells what a row's columns are, which stays in sight; SIZE_MAX: none does. NULL:
	 * the header line does. */
	size_t (*head_of)(struct panel *p, size_t row);
	void (*draw_head)(struct panel *p, struct pen *pen); /* NULL: no header line */
	void (*draw_row)(struct panel *p, struct pen *pen, size_t row);
	void (*draw_foot)(struct panel *p, struct pen *pen); /* may be NULL */
	/* How many lines its foot has where it has `rows` in all, at least 1 and less than that; the pen is at the first of
	 * them. NULL: one. */
	int (*foot_rows)(struct panel *p, int rows);
	/* Into the lines from y on that its rows leave empty, `rows` > 0 of them. May be NULL. */
	void (*draw_below)(struct panel *p, const struct canvas *canvas, int y, int rows);
	/* It was shown: is there something that was left out, to be shown sooner? Then it is drawn anew. May be NULL. */
	bool (*later)(struct panel *p);
	/* Sentences for a panel without rows. */
	void (*explain)(struct panel *p, struct buf *out);
	/* A key before it becomes a request; true: done with. May be NULL. */
	bool (*key)(struct panel *p, int key);
	/* A part that was drawn with HIT_PART was pressed. NULL: the panel draws none. */
	void (*pick)(struct panel *p, int part);
	/* The rows are made. True: done with. May be NULL. */
	bool (*request)(struct panel *p, enum request request);
	/* A key, a button or a search has moved the cursor or the window of rows that are made. May be
	 * NULL. */
	void (*moved)(struct panel *p);
	/* The panel comes to the front, to be about the calling context of the row that the cursor was
	 * on in the panel before (SNAP_NONE: it had none). NULL: it is about no single one. */
	void (*show)(struct panel *p, uint32_t node);
	/* Put the cursor on a calling context. False: it has no place here. NULL: on the row whose
	 * row_node() it is, or that of another context of the same function. The rows are made. */
	bool (*go_to)(struct panel *p, uint32_t node);
	void (*forget)(struct panel *p); /* ids start anew; may be NULL */
	/* Next row whose name matches, forward or back, where there are rows; false: none. NULL:
	 * looks at row_name. */
	bool (*find)(struct panel *p, bool forward, bool *ret_wrapped);
};

struct panel {
	const struct panel_ops *ops;
	struct tui *tui;
	struct columns columns;   /* of the ops, unless the panel has made its own */
	struct row_columns *rows; /* whose columns these are; NULL: the panel has none of metrics */
	struct column_choice choice;
	struct column_fit shown; /* of those columns, when last laid out */
	size_t n_rows, cursor, top;
	uint64_t cursor_key;
	uint64_t carried_key; /* of the row that the cursor came along to (tui/follow.h) */
	bool has_carried;
	bool is_touched; /* a key or a button was used since it came to the front */
	bool is_placed; /* the cursor belongs to its row; else to the first one, whichever that is */
	int height, width; /* rows and columns for the list when last drawn */
	int y;             /* line of its first row on the screen */
	int scroll;        /* columns of the name hidden at the left */
	unsigned sort;     /* index into columns */
	bool ascending;
	bool stale;     /* the rows have to be made anew */
	bool no_cursor; /* scrolls as a text does */
};

#define _(view, ops) extern const struct panel_ops panel_##ops##_ops;
TUI_PANELS(_)
#undef _
extern const struct panel_ops panel_help_ops, panel_detail_ops, panel_columns_ops; /* overlays */

struct panel *panel_new(const struct panel_ops *ops, struct tui *t); /* NULL: out of memory */
struct panel *panel_free(struct panel *p);                           /* always NULL */
/* The word beside the function key of a request in this panel; "": it is of no use here. */
const char *panel_label(struct panel *p, enum request request);
void panel_spoil(struct panel *p);   /* what it shows has changed */
void panel_refresh(struct panel *p); /* make the rows anew when spoiled */
/* Into `rows` lines of the canvas from y on; the rows are made first where they have to be. */
void panel_draw(struct panel *p, const struct canvas *canvas, int y, int rows);
/* By ops->request, else what all lists understand: moving, scrolling, sorting. True: done with. */
bool panel_request(struct panel *p, enum request request);
/* Lay out the panel's own columns, into p->shown; sorted: the one that is never left out, or -1. */
void panel_fit(struct panel *p, int sorted);
/* Their titles: for ops->draw_head. */
void panel_draw_head(struct panel *p, struct pen *pen);
/* The first key of a request, and what it does; as long as there is room. */
void panel_draw_key(struct panel *p, struct pen *pen, enum request request, const char *word);
bool panel_is_compared(const struct panel *p); /* does it have the columns of a comparison? */
/* The rest of a row: its name, scrolled sideways, with what is searched for marked. */
void panel_draw_name(struct panel *p, struct pen *pen, enum role role, const char *text,
		     enum text_cut cut);
void panel_sort(struct panel *p, unsigned column); /* the largest first */
/* The column of a title or, where rows have metrics, of any name of one; -1: there is none. */
int panel_column(struct panel *p, const char *word);
/* The column that the panel is to be sorted by. While that has no values, another stands in for it. */
unsigned panel_wished_sort(const struct panel *p, bool *ret_ascending);
/* Sort by the column of this name; false: there is none. */
bool panel_sort_title(struct panel *p, const char *title);
/* The next match of the search: by ops->find, or in the names of rows. False: there is none.
 * *ret_wrapped: it lies beyond the end, or before the beginning. */
bool panel_find(struct panel *p, bool forward, bool *ret_wrapped);
bool panel_find_row(struct panel *p, bool forward, bool *ret_wrapped);
/* The place behind `at`, or before it, of n > 0 in a ring; *wrapped is set at its seam. */
size_t panel_step(size_t at, size_t n, bool forward, bool *wrapped);
void panel_moved(struct panel *p); /* after panel_goto() on behalf of the user */
/* Move the cursor to a row, or to the nearest one that is no heading; without a cursor, the window. */
void panel_goto(struct panel *p, size_t row);
/* For a panel that zooms into what it draws: calls the handler of the request. False: it has none, or no rows. Esc goes
 * back one of n_zoom steps; with none left it is not the panel's. */
bool panel_request_zoomed(struct panel *p, enum request request,
			  void (*const handlers[REQ_N])(struct panel *p), size_t n_zoom);
/* For ops->numbers: those that the filter leaves, or all of them (tui/kept.h). */
struct numbers *panel_numbers(struct panel *p);
struct numbers *panel_all(struct panel *p);
/* For ops->explain: that the profile is empty, or that no path has the text of the filter. */
void panel_explain(struct panel *p, struct buf *out);
void panel_explain_empty(struct panel *p, struct buf *out); /* the first of these only */
void panel_scroll(struct panel *p, int n); /* the window, by n rows; the cursor stays inside */
uint32_t panel_node(struct panel *p);      /* of the cursor's row, or SNAP_NONE */
/* Tell the chooser of columns which panel it chooses for. */
void panel_columns_show(struct panel *p, struct panel *of);
void panel_forget(struct panel *p); /* node ids start anew */
/* Give the detail overlay its subject. */
void panel_detail_show(struct panel *p, uint32_t node);
/* Let the tree show a calling context. */
void panel_tree_reveal(struct panel *p, uint32_t node);
void panel_tree_unfold(struct panel *p); /* open what the screen has room for, at the next update */
/* Short description of the tree's view for the tab line. */
void panel_tree_state(struct panel *p, struct buf *out);

/* Role of a name by its frame kind. */
enum role kind_role(unsigned kind);

#endif
