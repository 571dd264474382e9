/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_ESCAPE_H
#define PROTON_TUI_ESCAPE_H
/* Keys as terminals send them, for those that the terminfo entry does not know: TERM is often that of
 * another terminal, and hardly any entry has the keys with Shift, Ctrl and Alt. Whatever follows the
 * introducer up to the final byte is one key, which may mean nothing.
 *
 *     ESC [ 1 ; 2 P        CSI: numbers, the second one says which modifiers
 *     ESC O P              SS3
 *     ESC [ [ A            the console of Linux
 *     ESC [ 2 0 0 ~ … ESC [ 2 0 1 ~        text that was pasted
 *
 * What a terminal answers to somebody, perhaps to a program before us, is no key at all:
 *
 *     ESC ] … BEL          OSC; as all of them, it also ends with ESC \
 *     ESC P … ESC \        DCS; so do SOS (X), PM (^) and APC (_) */
#include <stdbool.h>

/* A key that means nothing. */
#define KEY_NOTHING KEY_FUNCTION
/* Around pasted text. */
#define KEY_PASTE_BEGIN (KEY_FUNCTION | 0x10000)
#define KEY_PASTE_END   (KEY_FUNCTION | 0x10001)

struct escape {
	int intro;
	unsigned n, field, numbers[2]; /* 0: none stood there */
	bool is_odd;                   /* more, or other, than our keys have */
	bool is_console;
};

/* Is what follows Esc the beginning of such a key? Then escape_add() takes the characters after it. */
bool escape_begin(struct escape *e, int intro);
/* 0: there is more to come; the key as in keys.h, or KEY_NOTHING; -EINVAL: c is no part of it. */
int escape_add(struct escape *e, int c);

/* An answer that is being read. */
struct answer {
	int intro;    /* 0: none is */
	bool has_esc; /* the last character was one */
};
enum answer_step {
	ANSWER_GOES_ON,
	ANSWER_ENDED,     /* the character was the last one of it */
	ANSWER_BROKE_OFF, /* the character is no part of it; nor is the Esc before it, if has_esc */
};

/* Is what follows Esc the beginning of an answer? Then answer_add() takes the characters after it. */
bool answer_begins(int intro);
enum answer_step answer_add(struct answer *a, int c);

#endif
