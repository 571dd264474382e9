/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_TABLE_H
#define PROTON_REPORT_TABLE_H
/* Columns of the report's tables: numbers first, as wide as their content, the name last. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/column.h"
#include "report/report.h"

#define COLUMN_WIDTH 8  /* the least width, with the blank before it */
#define NAME_ROOM    32 /* columns that are kept free for names where a line is long enough */
#define NAME_LEAST   8  /* columns that a name has on any terminal */

struct report_column {
	struct column_spec spec;
	char *title;
	size_t width; /* with the blank before it */
};

struct report_columns {
	struct report_column *v;
	size_t n, cap;
};

/* Add a column. Its title is the word, or the title of spec when word is NULL. 0 or -ENOMEM. */
int report_columns_add(struct report_columns *c, const struct column_spec *spec, const char *word,
		       size_t len);
int report_columns_add_usual(struct report_columns *c, enum usual_column usual);
/* 0, -EINVAL (there is no such column) or -ENOMEM. */
int report_columns_add_word(struct report_columns *c, const struct session *s, const char *word,
			    size_t len);
/* Every word of a list separated by commas. 0, -EINVAL (column_unknown() says which) or -ENOMEM. */
int report_columns_add_words(struct report_columns *c, const struct session *s, const char *words);
void report_columns_done(struct report_columns *c);
/* Leave out columns, those of the highest priority number first, until names have room in lines of
 * this width (0 = no limit). The first one stays. Returns how many went. */
unsigned report_columns_narrow(struct report_columns *c, unsigned width);
/* A line that says how many columns went; 0: none. */
void put_omitted(struct out *out, unsigned n);
/* Make a column wide enough for a text and a blank before it; words get no more than a third of a
 * line that has a width. */
void column_make_room(struct report_column *c, const char *text, const struct report_options *o);
/* Print a text at the right of its column; a word that is too long is cut. */
void column_put(struct out *out, const struct report_column *c, const char *text,
		const struct report_options *o);
/* Columns that are left for a name behind what takes so many, never less than NAME_LEAST. 0: no limit. */
size_t name_room(const struct report_options *o, size_t used);
size_t
report_columns_width(const struct report_columns *c); /* of all, with the blanks before the name */

struct buf;
struct name_table;
/* Append a path of names, which are given from its end to its beginning. */
void put_path(struct buf *out, const char *const *names, size_t n, bool ascii);
/* The same of a node of a session, without the root; of a deep one the last frames. */
void put_node_path(struct buf *out, const struct session *s, struct frame_names *names,
		   uint32_t node, enum name_mode mode, bool ascii);
/* Print text of files and programs, made safe to show (base/shown.h). put_name() cuts it to `room`
 * columns (0 = no limit); put_right() and put_left() fill up to `width`. name_width() counts. */
void put_shown(struct out *out, const char *text, size_t len);
void put_name(struct out *out, const char *name, size_t room, bool ascii);
/* The same in lines of up to `width` columns, as many as it needs: the first begins at column `indent`,
 * where the line is now, and others are indented so far. A word that is longer than a line is broken. */
void put_wrapped(struct out *out, const char *text, size_t indent, size_t width);
/* put_name() of a name in a column with others (naming/table.h); names: NULL: by itself. */
void put_name_of(struct out *out, struct name_table *names, const char *name, size_t room,
		 bool ascii);
const char *dots_of(bool ascii);
size_t name_width(const char *name);
/* A code span of Markdown, in a table, too, of at most so many columns (0: any). Characters that would
 * end the span or the cell are replaced. */
void put_code(struct out *out, const char *name, size_t most);
void put_right(struct out *out, const char *text, size_t width);
void put_left(struct out *out, const char *text, size_t width);
/* The titles; `gap` columns are left for what stands between the numbers and the name. */
void put_header(struct out *out, const struct report_columns *columns, size_t gap,
		const struct report_options *o);

int report_tree(struct snapshot *snap, const uint8_t *mask, const struct report_options *o,
		struct out *out);

/* Before a name: what the row has is estimated (core/graph_shares.h); and what a table says of that below. */
#define ESTIMATED_MARK "~ "
#define ESTIMATED_LINE "(~ not measured: shares of whole CUDA graphs)\n"

#endif
