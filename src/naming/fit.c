/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/fit.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "base/util.h"
#include "core/activity.h"
#include "naming/code_place.h"
#include "naming/pieces.h"
#include "naming/plain.h"
#include "naming/signature.h"

#define HEAD_LEAST    3  /* characters of a function's name that always stand */
#define HEAD_ALONE    20 /* the same, of a function without functors */
#define HEAD_USUAL    12 /* as many go before the function's own types and numbers */
#define FUNCTOR_LEAST 6  /* columns of a functor's name that always stand */
#define FUNCTOR_READ  8  /* as many can be read beside a function of which less stands */

#define LETTERS_OF    8 /* columns in which a name says what it is, to take letters of */

#define UNNAMED       "(anonymous namespace)::"

static bool fits(const char *text, size_t columns)
{
	return shown_columns(text, strlen(text)) <= columns;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The end of "a::b::c" at the beginning, with *ret_last where its last name begins: the one before
 * it when that is only "kernel". NULL: the text is not a name of C++ with namespaces or arguments. */
static const char *end_of_path(const char *name, const char **ret_last)
{
	const char *at = name, *before = name;

	*ret_last = name;
	for (;;) {
		if (!strncmp(at, UNNAMED, strlen(UNNAMED)))
			*ret_last = at += strlen(UNNAMED);
		if (!is_word(*at))
			return NULL;
		while (is_word(*at))
			at++;
		if (at[0] != ':' || at[1] != ':')
			break;
		at += 2;
		before = *ret_last;
		*ret_last = at;
	}
	if (at - *ret_last == 6 && !memcmp(*ret_last, "kernel", 6))
		*ret_last = before;
	if (*at == '<') {
		const char *end = signature_behind_bracket(at);

		return end && !*end ? at : NULL;
	}
	return *at ? NULL : at;
}

/* ---- written, or only measured ---- */

struct fitted {
	const char *name, *dots;
	size_t dots_width;
	size_t head, head_room; /* columns of the function's name, and those that it gets */
	struct pieces pieces;
	bool any_functor, any_wish;
};

struct line {
	const struct fitted *f;
	struct buf *out; /* NULL: measure */
	size_t columns;
	bool dotted; /* ends in dots */
};

static void put_text(struct line *l, const char *text, size_t len, size_t columns)
{
	l->columns += columns;
	l->dotted = false;
	if (l->out)
		buf_put(l->out, text, len);
}

static void put_dots(struct line *l)
{
	if (l->dotted)
		return;
	put_text(l, l->f->dots, strlen(l->f->dots), l->f->dots_width);
	l->dotted = true;
}

/* Dots that were written twice, where the text from `at` on begins. */
static void merge_dots(struct line *l, size_t at)
{
	size_t len = strlen(l->f->dots);
	struct buf *out = l->out;

	if (!l->dotted || out->len < at + len || memcmp(out->data + at, l->f->dots, len) != 0)
		return;
	out->len -= len;
	memmove(out->data + at, out->data + at + len, out->len - at);
}

static bool ends_in_dots(const struct line *l)
{
	size_t len = strlen(l->f->dots);
	const struct buf *out = l->out;

	return out->len >= len && !memcmp(out->data + out->len - len, l->f->dots, len);
}

/* A name of so many columns in `room` ones. */
static void put_words(struct line *l, const char *text, size_t len, size_t columns, size_t room)
{
	size_t at = l->out ? l->out->len : 0;

	if (room >= columns) {
		put_text(l, text, len, columns);
		return;
	}
	l->columns += room;
	if (l->out) {
		plain_fit(l->out, text, len, room, l->f->dots);
		merge_dots(l, at);
	}
	l->dotted = l->out && ends_in_dots(l);
}

static void put_pieces(struct line *l, size_t first, size_t n);

static void put_piece(struct line *l, const struct piece *p)
{
	put_words(l, p->text, p->len, p->columns, p->room);
	put_pieces(l, p->first, p->n);
	if (p->behind_shown)
		put_text(l, p->behind, p->behind_len, shown_columns(p->behind, p->behind_len));
	else if (p->behind_len)
		put_dots(l);
}

/* In their brackets; dots alone when none is shown. */
static void put_pieces(struct line *l, size_t first, size_t n)
{
	bool any = false, left_out = false;

	for (const struct piece *p = l->f->pieces.v + first, *end = p + n; p < end; p++) {
		if (!p->shown) {
			left_out = true;
			continue;
		}
		if (!any)
			put_text(l, "<", 1, 1);
		if (left_out)
			put_dots(l);
		else if (any)
			put_text(l, ", ", 2, 2);
		put_piece(l, p);
		any = true;
		left_out = false;
	}
	if (left_out)
		put_dots(l);
	if (any)
		put_text(l, ">", 1, 1);
}

/* Functors say what the end of the function's name would; without any it says as much as the
 * beginning. */
static void put_head(struct line *l)
{
	const struct fitted *f = l->f;

	if (!f->any_functor) {
		put_words(l, f->name, f->head, f->head, f->head_room);
		return;
	}
	put_text(l, f->name, f->head_room, f->head_room);
	if (f->head_room < f->head)
		put_dots(l);
}

/* Returns the columns, at least those that are written. */
static size_t put_line(const struct fitted *f, struct buf *out)
{
	struct line l = {.f = f, .out = out};

	put_head(&l);
	put_pieces(&l, 0, f->pieces.n_top);
	return l.columns;
}

/* ---- what is shown ---- */

/* In the order in which it is put back. */
enum rank {
	RANK_INNER_FUNCTOR,
	RANK_BEHIND,
	RANK_INNER_ELEMENT,
	RANK_HEAD,
	RANK_ELEMENT,
	RANK_INNER_NUMBER,
	RANK_NUMBER,
	RANK_TRUTH,
	RANK_REST,
	RANK_N,
};

static enum rank rank_of(const struct piece *p)
{
	static const enum rank ranks[2][PIECE_N] = {
		{
			[PIECE_FUNCTOR] = RANK_INNER_FUNCTOR,
			[PIECE_ELEMENT] = RANK_ELEMENT,
			[PIECE_NUMBER] = RANK_NUMBER,
			[PIECE_TRUTH] = RANK_TRUTH,
			[PIECE_NOISE] = RANK_REST,
		},
		{
			[PIECE_FUNCTOR] = RANK_INNER_FUNCTOR,
			[PIECE_ELEMENT] = RANK_INNER_ELEMENT,
			[PIECE_NUMBER] = RANK_INNER_NUMBER,
			[PIECE_TRUTH] = RANK_TRUTH,
			[PIECE_NOISE] = RANK_REST,
		},
	};

	return p->repeats ? RANK_REST : ranks[p->of != NULL][p->kind];
}

/* What stands behind a functor tells less when that has arguments, too. */
static enum rank rank_behind(const struct piece *p)
{
	return p->n ? RANK_REST : RANK_BEHIND;
}

static void try_behind(const struct fitted *f, struct piece *p, size_t columns)
{
	if (p->behind_shown)
		return;
	p->behind_shown = p->shown && p->behind_len;
	if (p->behind_shown && put_line(f, NULL) > columns)
		p->behind_shown = false;
}

/* The first type says most: without it, those behind it can wait. */
static void put_off_elements(struct fitted *f, struct piece *first)
{
	for (struct piece *p = first + 1; p < f->pieces.v + f->pieces.n && p->of == first->of; p++)
		p->repeats |= p->kind == PIECE_ELEMENT;
}

/* A long name is cut if that is enough. */
static void try_piece(struct fitted *f, struct piece *p, size_t columns)
{
	size_t used;

	if (p->shown || (p->of && !p->of->shown))
		return;
	p->shown = true;
	used = put_line(f, NULL);
	if (used <= columns)
		return;
	if ((p->kind == PIECE_FUNCTOR || p->kind == PIECE_NOISE) &&
	    p->columns >= FUNCTOR_LEAST + used - columns)
		p->room = p->columns - (used - columns);
	else
		p->shown = false;
	if (p->kind == PIECE_ELEMENT)
		put_off_elements(f, p);
}

static void grow_head(struct fitted *f, size_t most, size_t columns)
{
	size_t least = f->head_room;

	f->head_room = MAX(MIN(most, columns), least);
	while (f->head_room > least && put_line(f, NULL) > columns)
		f->head_room--;
}

static void put_back(struct fitted *f, size_t columns)
{
	for (enum rank rank = 0; rank < RANK_N; rank++) {
		if (rank == RANK_HEAD)
			grow_head(f, MIN(f->head, HEAD_USUAL), columns);
		for (size_t i = 0; i < f->pieces.n; i++) {
			struct piece *p = &f->pieces.v[i];

			if (rank_behind(p) == rank)
				try_behind(f, p, columns);
			if (rank_of(p) == rank)
				try_piece(f, p, columns);
		}
	}
	grow_head(f, f->head, columns);
}

/* Cut the names of functors to one length, until all fits or they are as short as may be. */
static void cut_functors(struct fitted *f, size_t longest, bool wished, size_t columns)
{
	longest = MIN(longest,
		      MAX(columns, (size_t)FUNCTOR_LEAST) + 1); /* longer ones fit no better */
	while (longest > FUNCTOR_LEAST && put_line(f, NULL) > columns) {
		longest--;
		for (struct piece *p = f->pieces.v; p < f->pieces.v + f->pieces.n; p++)
			if (p->shown && p->kind == PIECE_FUNCTOR && (wished || !p->wished))
				p->room = MIN(p->room, longest);
	}
}

/* The function, its functors and what is wished. Who has no wish loses most. */
static void show_least(struct fitted *f, size_t columns)
{
	struct piece *v = f->pieces.v;
	size_t longest = 0;

	for (size_t i = 0; i < f->pieces.n; i++) {
		v[i].shown = v[i].wished || (i < f->pieces.n_top && v[i].kind == PIECE_FUNCTOR);
		v[i].behind_shown = v[i].behind_wished;
		f->any_functor |= i < f->pieces.n_top && v[i].kind == PIECE_FUNCTOR;
		if (v[i].shown && v[i].kind == PIECE_FUNCTOR)
			longest = MAX(longest, v[i].columns);
	}
	f->head_room = MIN(f->head, f->any_functor ? HEAD_LEAST : HEAD_ALONE);
	while (!f->any_functor && f->head_room > 1 && put_line(f, NULL) > columns)
		f->head_room--;
	cut_functors(f, longest, false, columns);
	for (size_t i = f->any_wish ? f->pieces.n_top : 0; i-- > 0 && put_line(f, NULL) > columns;)
		v[i].shown = v[i].wished;
	cut_functors(f, longest, true, columns);
}

static void set_wishes(struct fitted *f, const struct fit_wish *wish)
{
	for (size_t i = 0; i < f->pieces.n; i++) {
		struct piece *p = &f->pieces.v[i];

		p->behind_wished = wish->behinds >> i & 1;
		if (!(wish->texts >> i & 1) && !p->behind_wished)
			continue;
		f->any_wish = true;
		for (struct piece *at = p; at; at = (struct piece *)at->of)
			at->wished = true;
	}
}

/* A signature as it was demangled, without return type and parameters. Returns whether it is one: words
 * with others in brackets behind them are what people call their scopes. */
static bool put_bare(struct buf *out, const char *name)
{
	_cleanup_(signature_done) struct signature s = {0};
	const char *begin;
	size_t len;

	if (!strchr(name, '(') || signature_parse(&s, name) < 0 || *s.path_end != '(')
		return false;
	begin = s.parts[s.path].text;
	len = (size_t)(s.path_end - begin);
	if (strncmp(name, "void ", 5) != 0 && !memchr(begin, '<', len) && !memchr(begin, ':', len))
		return false;
	buf_put(out, begin, len);
	return true;
}

/* A name of C++ as it is fitted. */
struct parsed {
	struct buf bare; /* the text, if it is not the name itself */
	const char *text;
	const char *last;      /* the function's own name, behind its namespaces */
	const char *arguments; /* NULL: it is no such name */
};

static void parsed_done(struct parsed *p)
{
	buf_done(&p->bare);
}

static void parse(struct parsed *p, const char *name)
{
	*p = (struct parsed){.text = name};
	if (!strncmp(name, "_Z", 2)) /* of a symbol the beginning says most */
		return;
	p->arguments = end_of_path(name, &p->last);
	if (!p->arguments && put_bare(&p->bare, name)) {
		p->text = buf_str(&p->bare);
		p->arguments = end_of_path(p->text, &p->last);
	}
}

/* The first functor, where so little of it and of the function stands that neither can be read; else NULL. */
static const struct piece *unread_functor(const struct fitted *f, size_t columns)
{
	const struct piece *p = f->pieces.v, *end = p + f->pieces.n_top;

	while (p < end && p->kind != PIECE_FUNCTOR)
		p++;
	if (p == end || f->any_wish)
		return NULL;
	return put_line(f, NULL) > columns || p->room < MIN(p->columns, (size_t)FUNCTOR_READ)
		       ? p
		       : NULL;
}

static const char *fit_parsed(const struct parsed *p, size_t columns, const char *dots,
			      const struct fit_wish *wish, struct buf *scratch);

/* A functor in place of the function: of its own ones, too, the one that can be read. */
static void fit_functor(const struct piece *functor, size_t columns, const char *dots,
			struct buf *scratch)
{
	const char *end = functor->text + functor->len;
	_cleanup_(freep) char *name = NULL;
	_cleanup_(parsed_done) struct parsed p = {0};
	const char *text;

	if (*end == '<' && signature_behind_bracket(end))
		end = signature_behind_bracket(end);
	name = strndup(functor->text, (size_t)(end - functor->text));
	if (name)
		parse(&p, name);
	buf_clear(scratch);
	text = p.arguments ? fit_parsed(&p, columns, dots, NULL, scratch) : NULL;
	if (!text)
		plain_fit(scratch, functor->text, functor->len, columns, dots);
	else if (!scratch->data || text != scratch->data)
		buf_puts(scratch, text);
}

/* What stands in the column is the text, or a part of it; or else in `scratch`. */
static const char *fit_parsed(const struct parsed *p, size_t columns, const char *dots,
			      const struct fit_wish *wish, struct buf *scratch)
{
	struct fitted f = {.dots = dots, .dots_width = shown_columns(dots, strlen(dots))};
	const struct piece *functor;
	const char *name = p->text;

	while (name < p->last && !fits(name, columns))
		name = strstr(name, "::") + 2;
	if (fits(name, columns))
		return name;
	buf_clear(scratch);
	if (!*p->arguments) {
		plain_fit(scratch, name, strlen(name), columns, dots);
		return scratch->error ? name : buf_str(scratch);
	}
	f.name = name;
	f.head = (size_t)(p->arguments - name);
	pieces_of(&f.pieces, p->arguments);
	if (wish)
		set_wishes(&f, wish);
	show_least(&f, columns);
	put_back(&f, columns);
	functor = unread_functor(&f, columns);
	if (functor)
		fit_functor(functor, columns, dots, scratch);
	else
		put_line(&f, scratch);
	return scratch->error ? name : buf_str(scratch);
}

static const char *fit_bare(const char *name, size_t columns, const char *dots,
			    const struct fit_wish *wish, struct buf *scratch)
{
	_cleanup_(parsed_done) struct parsed p = {.text = name};
	struct code_place place;
	const char *text;

	if (fits(name, columns))
		return name;
	if (code_place_parse(&place, name))
		return code_place_fit(&place, columns, dots, scratch);
	parse(&p, name);
	if (!p.arguments)
		return name;
	text = fit_parsed(&p, columns, dots, wish, scratch);
	if (p.text == name || (scratch->data && text == scratch->data))
		return text;
	buf_clear(scratch);
	buf_puts(scratch, text);
	return scratch->error ? name : buf_str(scratch);
}

const char *fit_shape(const char *name, size_t columns)
{
	size_t len = strlen(name), bare = activity_bare_len(name, len);

	return name + (columns < len - bare + HEAD_USUAL ? len : bare);
}

const char *fit_name_with(const char *name, size_t columns, const char *dots,
			  const struct fit_wish *wish, struct buf *scratch)
{
	const char *shape = fit_shape(name, columns);
	_cleanup_(freep) char *function = NULL;
	_cleanup_(buf_done) struct buf text = {0};

	if (!*shape || fits(name, columns))
		return fit_bare(name, columns, dots, wish, scratch);
	function = strndup(name, (size_t)(shape - name));
	if (!function)
		return name;
	buf_puts(&text, fit_bare(function, columns - strlen(shape), dots, wish, scratch));
	buf_puts(&text, shape);
	buf_clear(scratch);
	buf_puts(scratch, buf_str(&text));
	return scratch->error || text.error ? name : buf_str(scratch);
}

const char *fit_name(const char *name, size_t columns, const char *dots, struct buf *scratch)
{
	return fit_name_with(name, columns, dots, NULL, scratch);
}

const char *fit_letters(const char *name, size_t columns, const char *dots, struct buf *scratch)
{
	_cleanup_(buf_done) struct buf fitted = {0};
	const char *text = fit_name(name, LETTERS_OF, dots, &fitted);

	if (!strncmp(text, dots, strlen(dots)))
		text += strlen(dots);
	buf_clear(scratch);
	buf_put(scratch, text, shown_fit(text, strlen(text), columns));
	return scratch->error ? name : buf_str(scratch);
}

size_t fit_namespaces(const char *name)
{
	_cleanup_(parsed_done) struct parsed p = {0};
	struct code_place place;

	if (code_place_parse(&place, name))
		return 0;
	parse(&p, name);
	return p.arguments && p.text == name ? (size_t)(p.last - name) : 0;
}

bool fit_pieces(const char *name, struct buf *text, struct pieces *ret)
{
	_cleanup_(parsed_done) struct parsed p = {.text = name};
	_cleanup_(freep) char *bare = strndup(name, activity_bare_len(name, strlen(name)));

	if (bare)
		parse(&p, bare);
	buf_puts(text, p.arguments ? p.last : p.text);
	ret->n = ret->n_top = 0;
	if (p.arguments && *p.arguments && !text->error)
		pieces_of(ret, buf_str(text) + (p.arguments - p.last));
	return p.arguments != NULL;
}
