/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_TEXT_H
#define PROTON_TUI_TEXT_H
/* Names come from programs and files: they may hold control characters, broken UTF-8 and marks that
 * reorder a line. Here they become wide characters of known widths that are safe to draw
 * (base/shown.h says what is safe). In ASCII mode everything beyond ASCII is '?'. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* What to draw for the bytes of one character. */
struct text_glyph {
	wchar_t wc[8];
	uint8_t n;       /* characters in wc */
	uint8_t columns; /* 0 for a combining mark */
};

/* Decode the character at p < end; returns the place after it. */
const char *text_next(const char *p, const char *end, bool ascii, struct text_glyph *ret);
/* How many columns a text takes. */
int text_columns(const char *s, size_t len, bool ascii);

enum text_cut { TEXT_CUT_END, TEXT_CUT_MIDDLE };

/* The columns skip … skip + width - 1 of a string as wide characters, NUL-terminated. An ellipsis
 * stands for what does not fit, at the end or (only when skip is 0) in the middle. Returns the
 * columns used, at most width. */
int text_fit(wchar_t *out, size_t cap, const char *s, size_t len, int skip, int width,
	     enum text_cut cut, bool ascii);

/* A needle for search and filter: capitals count only when it has some. */
bool text_is_smart_case(const char *needle);
/* Where the needle begins in a text, or NULL. */
const char *text_find(const char *haystack, const char *needle, bool match_case);

/* A line of a program's output without escape sequences and with tabs as blanks; what stands before
 * the last carriage return is gone, as on a terminal. Returns the length written. */
size_t text_plain(char *out, size_t cap, const char *s, size_t len);

#endif
