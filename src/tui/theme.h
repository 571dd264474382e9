/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_THEME_H
#define PROTON_TUI_THEME_H
/* Roles of text, and how a terminal shows them. Panels name roles, never colours. */
#include <curses.h>
#include <stdbool.h>

/*       role        letter in attribute dumps */
/* clang-format off */
#define ROLES(_)                                                                                   \
	_(NORMAL,    '.')                                                                          \
	_(DIM,       'd') /* tree lines, absent values */                                          \
	_(HEADER,    'h')                                                                          \
	_(LIVE,      'L') /* banners */                                                            \
	_(FROZEN,    'F')                                                                          \
	_(PAUSED,    'P')                                                                          \
	_(ENDED,     'E')                                                                          \
	_(ALARM,     '!') /* losses and errors */                                                  \
	_(WARNING,   'w')                                                                          \
	_(TAB,       't')                                                                          \
	_(TAB_NOW,   'T')                                                                          \
	_(HEAD,      'c') /* column header */                                                      \
	_(HEAD_SORT, 'C') /* the column that sorts */                                              \
	_(SELECTED,  's')                                                                          \
	_(NUMBER,    'n')                                                                          \
	_(HOT,       'H') /* a large share */                                                      \
	_(SCOPE,     'S') /* names, by kind */                                                     \
	_(CODE,      'p')                                                                          \
	_(KERNEL,    'k')                                                                          \
	_(COPY,      'y')                                                                          \
	_(GROUP,     'g')                                                                          \
	_(MATCH,     'm')                                                                          \
	_(TITLE,     'b') /* headings inside a panel */                                            \
	_(KEY,       'K') /* the function-key line */                                              \
	_(LABEL,     'l')                                                                          \
	_(PROMPT,    'q')                                                                          \
	_(MESSAGE,   'M')                                                                          \
	_(POPUP,     'o')                                                                          \
	_(BAR,       '|')                                                                          \
	_(BAR_REST,  ':')                                                                          \
	_(WORSE,     '>') /* changes: a sign stands beside them */                                 \
	_(BETTER,    '<')                                                                          \
	_(BOX_KERNEL, '1') /* grounds of boxes, by kind */                                         \
	_(BOX_COPY,  '2')                                                                          \
	_(BOX_SET,   '3')                                                                          \
	_(BOX_SCOPE, '4')                                                                          \
	_(BOX_NVTX,  '5')                                                                          \
	_(BOX_CODE,  '6')                                                                          \
	_(BOX_GROUP, '7') /* what only holds others */                                             \
	_(BOX_MORE,  '+') /* in a comparison: it has grown */                                      \
	_(BOX_LESS,  '-')                                                                          \
	_(BOX_SAME,  '=')
/* clang-format on */

enum role {
#define _(role, letter) ROLE_##role,
	ROLES(_)
#undef _
		ROLE_N
};

/* What is not a letter. All are as wide as they have characters. */
struct glyphs {
	const char *tee, *corner, *pass, *gap; /* tree lines, two columns each */
	const char *open, *closed, *leaf;      /* fold markers */
	const char *descending, *ascending;
	const char *separator; /* between the names of a path */
	const char *bar, *bar_rest;
	const char *levels[8];  /* of a chart, the lowest first */
	const char *unknown;    /* … where nothing is known */
	const char *eighths[7]; /* of the column where a bar ends; NULL: bars have whole columns */
	bool has_braille;
	const char *cursor, *ellipsis, *rule, *edge;
	const char *frame[4], *frame_side; /* corners of a popup: top, bottom; left, right */
	const char *carried;               /* before the row that the cursor came along to */
	const char *side, *found,
		*fills[3];             /* of a filled box; without colours: dense, thin, none */
	const char *slope, *points[3]; /* of a plot: large, middling, small */
};

/* Colours of ECMA-48, 0 to 7; -1 = the terminal's own, so that dark and light grounds both work. */
struct style {
	signed char fg, bg;
	unsigned bold : 1, dim : 1, reverse : 1, underline : 1;
};

struct theme;

/* A theme as one terminal can show it. */
struct look {
	const struct theme *theme;
	const struct glyphs *glyphs;
	attr_t attr[ROLE_N]; /* with the colour pair */
	short pair[ROLE_N];
	bool ascii, mono;
	bool light; /* made for a light ground */
};

struct look_options {
	const char *theme; /* NULL = "default" */
	bool ascii, no_color;
};

/* Make a look for the current curses terminal. An unknown theme is the default one. */
void look_init(struct look *look, const struct look_options *options);
/* What a drawn cell looks like, by its colour pair and attributes. */
struct style look_style(const struct look *look, short pair, attr_t attr);
char role_letter(enum role role); /* in attribute dumps */

#endif
