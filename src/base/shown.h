/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_SHOWN_H
#define PROTON_BASE_SHOWN_H
/* Text that came from a file or a program, made safe to show. Whatever prints such text, on a
 * terminal, into a report or in a message, takes it from here: a name must not steer the terminal,
 * rewrite the line it is in, or be wider than the table believes.
 *
 *   ^[ ^J ^?         C0 controls and DEL
 *   U+009B U+202E    C1 controls, marks that reorder or break lines, what cannot be seen
 *   U+FFFD           a byte that is no UTF-8 (the replacement character itself)
 *
 * All else stays as it is, letters with accents and emoji that are joined to one included. Text
 * that went through once is not changed by a second time.
 *   thread  any */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* One character, as it is shown. All zero before the first one of a text. */
struct shown {
	const char *text; /* `len` bytes of UTF-8, of the text itself or in `escape` */
	uint32_t c;       /* the character; 0: it is escaped, and shown as `escape` */
	uint8_t len;
	uint8_t columns; /* 0: a mark on the one before it; no width in this locale: 1 */
	uint8_t marks;   /* number of marks in a row up to here */
	char escape[12];
};

/* The character at p < end; the place after it. */
const char *shown_next(const char *p, const char *end, struct shown *s);

/* Is this a character that is never shown as itself: a control, a mark that reorders or breaks lines, what
 * cannot be seen? */
bool shown_is_escaped(uint32_t c);

/* Is the text safe to show without a change? */
bool shown_is_same(const char *text, size_t len);

/* The number of columns that the text takes. */
size_t shown_columns(const char *text, size_t len);

/* How many bytes of the text fit into this many columns. */
size_t shown_fit(const char *text, size_t len, size_t columns);

/* Append the text, made safe. Line ends are escaped, so a format must not have any. */
void shown_put(struct buf *out, const char *text, size_t len);
/* The same, but line ends and tabs stay; CR LF counts as a line end. */
void shown_put_lines(struct buf *out, const char *text, size_t len);
void shown_vprintf(struct buf *out, const char *format, va_list ap);

#endif
