/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_PIECES_H
#define PROTON_NAMING_PIECES_H
/* The template arguments of a function, each with its own ones, without memory of their own:
 *
 *   <512, 1, sum_functor<Half, float>(float)>
 *
 *   0  512          number
 *   1  1            number
 *   2  sum_functor  functor, behind it "(float)", its own: 3 and 4
 *   3  Half         element
 *   4  float        element
 *
 * They stand level by level: the function's own come first.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIECES_MAX 64 /* what is beyond is as if it were not there */

/* What an argument is for people. */
enum piece_kind {
	PIECE_FUNCTOR, /* says what is done */
	PIECE_ELEMENT, /* the type of an element, with all that belongs to it: "complex<float>*" */
	PIECE_NUMBER,  /* and whatever else is no name */
	PIECE_TRUTH,
	PIECE_NOISE, /* naming/rules.h says so */
	PIECE_N,
};

struct piece {
	const char *text;   /* without namespaces and arguments */
	const char *behind; /* what stands behind the arguments */
	size_t len, behind_len;
	size_t columns;         /* of the text */
	size_t room;            /* columns that the text gets */
	size_t first, n;        /* its own arguments */
	const struct piece *of; /* the one that it is an argument of; NULL: the function */
	uint8_t kind;           /* enum piece_kind */
	bool repeats;           /* an element like one before it */
	bool shown, behind_shown;
	bool wished, behind_wished; /* to be shown before others; `wished` also on the way to one */
};

struct pieces {
	struct piece v[PIECES_MAX];
	size_t n, n_top; /* all, and those of the function */
};

/* Take apart what begins with '<'. Nothing is shown, all have the room that they need. */
void pieces_of(struct pieces *pieces, const char *arguments);

#endif
