/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_SECTIONS_H
#define PROTON_TUI_SECTIONS_H
/* A panel of several small tables, one below the other. The panel says which tables it has and lists
 * the rows of each; all else is the same for all such panels and lives here.
 *
 *     Devices               title
 *       TIME    OPS  DEVICE    columns, name
 *      6.17s   7488  GPU0 …    a row: its numbers, its name
 *
 *     Notes
 *     the collectors have nothing to say    empty
 *
 * A panel's own struct begins with struct sections. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "tui/panel.h"

struct section {
	const char *title; /* NULL: none */
	const char *name;  /* title of the last column; NULL: no line of column titles */
	struct columns columns;
	void (*list)(struct panel *p); /* adds the rows, with each update of the panel */
	/* 0: rows stay as they are added. Else no more than these: those whose first numbers are the
	 * largest, in that order. */
	unsigned most;
	unsigned least; /* fewer rows than this say nothing: there are none then */
	/* Its title says so: of a comparison it shows B alone; it is of the whole run, whatever a filter leaves. */
	bool of_b, of_all;
	bool of_program;                    /* left out where none was started (TUI_OF_DEVICES) */
	bool (*is_of_all)(struct panel *p); /* the same, where that depends; or NULL */
	/* 1 + the column that a limit (core/least.h) is about, where that is a share or has no unit; one in
	 * a unit is about the first column in it. 0: rows have no limit. */
	unsigned limited;
	double (*whole)(struct panel *p); /* what shares are of; NULL: of the sum of all rows */
	const char *empty;                /* sentence; NULL: a section without rows is left out */
	/* Says which sentence it is, where it depends; NULL from it as above. */
	const char *(*say_empty)(struct panel *p);
};

#define SECTION_NUMBERS 12          /* in a row */
#define SECTION_SHARE   (-INFINITY) /* in place of a number: its share, see below */

struct section_row {
	/* Of the columns, in their order. NaN: absent. SECTION_SHARE: the first number's share of
	 * the sum of all first numbers, of rows beyond `most` as well. */
	double v[SECTION_NUMBERS];
	enum role role; /* of the name */
	bool is_remark; /* on the row before: it has no numbers, and its name begins further right */
};

/* For section.list(). The row's name is put into what is returned, before the next row is added. */
struct buf *sections_add(struct panel *p, const struct section_row *row);
/* The same of a row that stands for contexts of which this one is to be shown elsewhere. */
struct buf *sections_add_of(struct panel *p, uint32_t node, const struct section_row *row);
/* How much of a text goes into a row of `room` columns, in bytes. */
size_t sections_row_of_text(const char *text, int room);
/* Columns that a row of nothing but text has. */
int sections_room(const struct panel *p);
/* Text in as many rows as it needs where each has room for so many columns: it parts between two blanks,
 * else at one. */
void sections_add_text(struct panel *p, const char *text, int room, const struct section_row *row);
/* A row about a calling context, named by its path, and one named by its own name. Neither keeps a
 * text: there may be a million of them. */
void sections_add_path(struct panel *p, uint32_t node, const struct section_row *row);
void sections_add_node(struct panel *p, uint32_t node, const struct section_row *row);

/* For column.is_absent, as columns are laid out: no row of the section has a number. */
bool sections_lack(struct panel *p, const struct column *c);
/* The same for numbers of the last window: a saved profile has none. */
bool sections_lack_window(struct panel *p, const struct column *c);

/* Columns of a time in what is compared with, and of the change with its sign: rows have NaN where nothing
 * is compared, and the columns are left out. */
void sections_print_change(struct panel *p, double v, char out[COLUMN_TEXT]);
#define SECTION_COMPARED(rank)                                                                     \
	{"A TIME",      "the same in what is compared with", 7, rank,                              \
	 human_time_ns, .is_absent = sections_lack},                                               \
	{                                                                                          \
		"CHANGE", "B less A", 8, rank, .print = sections_print_change,                     \
					       .is_absent = sections_lack, .is_change = true       \
	}

#define MAX_SECTIONS 12

struct sections {
	struct panel base;
	struct section_line *lines; /* rows of the panel */
	size_t cap_lines;
	struct section_entry *rows; /* section by section */
	size_t n_rows, cap_rows;
	struct section_state {
		size_t first, n; /* of rows */
		double sum;      /* of first numbers */
		double limited;  /* of numbers of the column that a limit is about */
		bool is_limited; /* rows are left out, */
		bool is_out;     /* and so was the last one that was added */
		struct column_fit fit;
		struct buf paths;  /* of its rows, as tui/path_rows.h makes them, */
		int paths_columns; /* for so many columns; -1: not made */
	} v[MAX_SECTIONS];
	unsigned listed;        /* the section that is being listed */
	struct buf names, path; /* a byte 0 behind each name; the path asked for last */
};

/* For panel_ops. */
int sections_init(struct panel *p);
void sections_done(struct panel *p);
void sections_update(struct panel *p);
uint64_t sections_key(struct panel *p, size_t row);
const char *sections_name(struct panel *p, size_t row); /* valid until the next call */
uint32_t sections_node(struct panel *p, size_t row);
double sections_number(struct panel *p, const struct column *c, uint32_t i);
bool sections_is_heading(struct panel *p, size_t row);
size_t sections_head(struct panel *p, size_t row);
void sections_draw_row(struct panel *p, struct pen *pen, size_t row);

/* A panel of sections adds its size, init, done and update to these: those from here, or functions
 * of its own that call them. */
/* Keys of panels whose rows have names alone, and of those that have calling contexts. */
extern const struct panel_key sections_keys[], sections_context_keys[];

/* More than there is room for do not compile. */
#define SECTIONS_N(list)                                                                           \
	(ARRAY_SIZE(list) + 0 * sizeof(char[ARRAY_SIZE(list) <= MAX_SECTIONS ? 1 : -1]))

#define SECTIONS_OPS(list)                                                                         \
	.sections = {list, SECTIONS_N(list)}, .row_key = sections_key, .row_name = sections_name,  \
	.row_node = sections_node, .number = sections_number, .is_heading = sections_is_heading,   \
	.head_of = sections_head, .draw_row = sections_draw_row

#endif
