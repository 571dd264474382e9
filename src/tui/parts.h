/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_PARTS_H
#define PROTON_TUI_PARTS_H
/* A line of parts from left to right. Where there is no room for all, names are cut, then the least
 * important parts fall out, each as a whole: a number is never cut. */
#include "tui/draw.h"

#define PART_TEXT 256

struct line_part {
	const char *label; /* before the text, never cut */
	char text[PART_TEXT];
	enum role role;
	int priority;  /* 0 stays longest */
	int columns;   /* drawn with so many */
	bool is_name;  /* may be cut … */
	bool keep_end; /* … at its beginning: the end of a path says more */
};

struct line_parts {
	struct line_part v[16];
	unsigned n;
	int less_than_name; /* parts from this priority on are no reason to cut a name */
	enum role fill;     /* of the room between them */
};

void parts_add(struct line_parts *parts, enum role role, int priority, const char *format, ...)
	_printf_(4, 5);
/* label: borrowed. is_path: it is cut at its beginning. */
void parts_add_name(struct line_parts *parts, enum role role, int priority, const char *label,
		    const char *name, bool is_path);
/* Draw them, and blanks to the end of the line. */
void parts_draw(struct line_parts *parts, struct pen *pen);

#endif
