/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/table.h"
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/shown.h"
#include "base/strtab.h"
#include "base/util.h"
#include "naming/code_place.h"
#include "naming/fit.h"
#include "naming/pieces.h"

#define GROUP_MAX 256 /* names that are alike and told apart: more than a screen has */
#define HEAD_MAX                                                                                   \
	12 /* characters of a name's beginning before the dots, where it is cut around others */
#define WORD_MAX 8 /* characters of a word before the first one that differs */

struct entry {
	const char *name;
	size_t columns;
	char *cut;         /* NULL: the name, as it is */
	bool is_leveled;   /* without namespaces for which there is room */
	uint32_t n_spaces; /* bytes of these */
};

struct name_table {
	const char *dots;
	struct strtab *keys; /* columns and name; ids are indices of entries */
	struct entry *v;
	size_t n, cap;
};

struct name_table *name_table_new(const char *dots)
{
	struct name_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->dots = dots;
	t->keys = strtab_new();
	return t->keys ? t : name_table_free(t);
}

struct name_table *name_table_free(struct name_table *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].cut);
	free(t->v);
	strtab_free(t->keys);
	free(t);
	return NULL;
}

static const char *shown(const struct entry *e)
{
	return e->cut ? e->cut : e->name;
}

static void set_cut(struct entry *e, const char *text)
{
	char *cut = text != e->name ? strdup(text) : NULL;

	free(e->cut);
	e->cut = cut;
}

static bool fits(const struct entry *e)
{
	return shown_columns(e->name, strlen(e->name)) <= e->columns;
}

/* The entry of a name; added, and cut by itself, when new. NULL: out of memory. */
static struct entry *entry_of(struct name_table *t, const char *name, size_t columns)
{
	_cleanup_(buf_done) struct buf key = {0}, scratch = {0};
	uint32_t id;
	struct entry *e;

	buf_put(&key, &columns, sizeof(columns));
	buf_puts(&key, name);
	id = key.error ? STRTAB_NONE : strtab_add(t->keys, key.data, key.len);
	if (id == STRTAB_NONE || ARRAY_ROOM(t->v, t->cap, id + 1u) < 0)
		return NULL;
	for (; t->n <= id; t->n++)
		t->v[t->n] = (struct entry){.name = ""};
	e = &t->v[id];
	if (e->columns)
		return e;
	e->name = strtab_str(t->keys, id) + sizeof(columns);
	e->columns = columns;
	set_cut(e, columns > FIT_LETTERS || fits(e)
			   ? fit_name(e->name, columns, t->dots, &scratch)
			   : fit_letters(e->name, columns, t->dots, &scratch));
	return e;
}

const char *name_table_get(struct name_table *t, const char *name, size_t columns)
{
	struct entry *e = columns ? entry_of(t, name, columns) : NULL;

	return e ? shown(e) : name;
}

/* ---- by the arguments in which they differ ---- */

struct argument {
	uint64_t place;   /* the same in all names; and another one for what stands behind */
	uint64_t text;    /* what is there */
	uint32_t columns; /* of that */
	uint8_t index;    /* of the piece */
	bool behind;
};

struct member {
	struct entry *entry;
	struct buf text;
	const char *whole; /* the name without what goes first */
	struct pieces pieces;
	struct argument *arguments; /* by place */
	size_t n;
	struct fit_wish wish;
	size_t differs; /* first character in which it is unlike all others */
};

static int by_place(const void *a, const void *b)
{
	const struct argument *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

static void add_argument(struct member *m, uint64_t place, const struct piece *p, bool behind)
{
	const char *text = behind ? p->behind : p->text;
	size_t len = behind ? p->behind_len : p->len;

	m->arguments[m->n++] = (struct argument){
		.place = hash_u64(place + behind),
		.text = hash_bytes(text, len),
		.columns = (uint32_t)shown_columns(text, len) + 2,
		.index = (uint8_t)(p - m->pieces.v),
		.behind = behind,
	};
}

static bool member_init(struct member *m, struct entry *e)
{
	uint64_t place[PIECES_MAX];

	*m = (struct member){.entry = e};
	fit_pieces(e->name, &m->text, &m->pieces);
	m->whole = buf_str(&m->text);
	m->arguments = malloc((2 * m->pieces.n + 1) * sizeof(*m->arguments));
	if (!m->arguments)
		return false;
	for (size_t i = 0; i < m->pieces.n; i++) {
		const struct piece *p = &m->pieces.v[i];
		size_t of = p->of ? (size_t)(p->of - m->pieces.v) : 0;
		size_t first = p->of ? p->of->first : 0;

		place[i] = hash_u64((p->of ? place[of] : 1) ^ hash_u64(i - first));
		add_argument(m, place[i], p, false);
		if (p->behind_len)
			add_argument(m, place[i], p, true);
	}
	qsort(m->arguments, m->n, sizeof(*m->arguments), by_place);
	return true;
}

static void member_done(struct member *m)
{
	buf_done(&m->text);
	free(m->arguments);
}

static const struct argument *argument_at(const struct member *m, uint64_t place)
{
	const struct argument wanted = {.place = place};

	return bsearch(&wanted, m->arguments, m->n, sizeof(wanted), by_place);
}

static uint64_t text_at(const struct member *m, uint64_t place)
{
	const struct argument *a = argument_at(m, place);

	return a ? a->text : 0;
}

static int by_text(const void *a, const void *b, void *place)
{
	uint64_t x = text_at(a, *(const uint64_t *)place), y = text_at(b, *(const uint64_t *)place);

	return (x > y) - (x < y);
}

/* How many different texts there are at a place, for the columns that they take. */
static double worth_of(const struct member *m, size_t n, uint64_t place)
{
	uint64_t texts[GROUP_MAX];
	size_t different = 0, columns = 0, has = 0;

	for (size_t i = 0; i < n; i++) {
		const struct argument *a = argument_at(&m[i], place);
		uint64_t text = a ? a->text : 0;
		size_t k = 0;

		columns += a ? a->columns : 0;
		has += a != NULL;
		while (k < different && texts[k] != text)
			k++;
		texts[k] = text;
		different += k == different;
	}
	return different < 2 ? 0 : (double)(different - 1) * (double)has / (double)(columns + 1);
}

static void wish(struct member *m, uint64_t place)
{
	const struct argument *a = argument_at(m, place);

	if (!a)
		return;
	if (a->behind)
		m->wish.behinds |= UINT64_C(1) << a->index;
	else
		m->wish.texts |= UINT64_C(1) << a->index;
}

/* The place that tells most of these names apart, of those that the first or the last of them has. 0: none
 * does. */
static uint64_t best_place(const struct member *m, size_t n)
{
	const struct member *of[] = {&m[0], &m[n - 1]};
	uint64_t best = 0;
	double best_worth = 0;

	for (size_t k = 0; k < ARRAY_SIZE(of); k++)
		for (size_t i = 0; i < of[k]->n; i++) {
			double worth = worth_of(m, n, of[k]->arguments[i].place);

			if (worth > best_worth) {
				best_worth = worth;
				best = of[k]->arguments[i].place;
			}
		}
	return best;
}

/* Each is to show what no other one has. Every call tells some apart. */
static void choose_wishes(struct member *m, size_t n)
{
	uint64_t place = n > 1 ? best_place(m, n) : 0;

	if (!place)
		return;
	for (size_t i = 0; i < n; i++)
		wish(&m[i], place);
	qsort_r(m, n, sizeof(*m), by_text, &place);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && !by_text(&m[from], &m[to], &place); to++)
			;
		choose_wishes(m + from, to - from);
	}
}

/* What is wished may be too wide, too. */
static void cut_for_wish(const struct name_table *t, struct member *m, struct buf *scratch)
{
	struct entry *e = m->entry;
	const char *text;

	if ((!m->wish.texts && !m->wish.behinds) || e->columns <= FIT_LETTERS)
		return;
	text = fit_name_with(e->name, e->columns, t->dots, &m->wish, scratch);
	if (shown_columns(text, strlen(text)) <= e->columns)
		set_cut(e, text);
}

/* ---- around the first character in which they differ ---- */

static int by_whole(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return strcmp(x->whole, y->whole);
}

static size_t common(const struct member *a, const struct member *b)
{
	size_t n = 0;

	while (a->whole[n] && a->whole[n] == b->whole[n])
		n++;
	return n;
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

/* The beginning of the name, and what is at and behind the character. */
static void cut_text_around(const struct name_table *t, struct member *m, struct buf *out)
{
	const char *shape = fit_shape(m->entry->name, m->entry->columns);
	size_t width = shown_columns(t->dots, strlen(t->dots));
	size_t columns = m->entry->columns - strlen(shape);
	size_t head = MIN(columns / 3, (size_t)HEAD_MAX), len = strlen(m->whole);
	size_t from = m->differs, room = columns - head - width, least;

	if (columns <= 3 * width + 2 || len <= columns)
		return;
	least = from > WORD_MAX ? from - WORD_MAX : 0;
	while (from > least && isalnum((unsigned char)m->whole[from - 1]))
		from--;
	from = MIN(from, len - room);
	buf_clear(out);
	if (from <= head + width) {
		buf_put(out, m->whole, columns - width);
		buf_puts(out, t->dots);
	} else {
		buf_put(out, m->whole, head);
		buf_puts(out, t->dots);
		buf_put(out, m->whole + from, len - from > room ? room - width : room);
		if (len - from > room)
			buf_puts(out, t->dots);
	}
	buf_puts(out, shape);
	if (!out->error)
		set_cut(m->entry, buf_str(out));
}

/* Of few letters the last one. */
static void cut_letters(struct member *m, struct buf *out)
{
	const char *text = shown(m->entry);

	if (m->entry->columns < 2 || !isalnum((unsigned char)m->whole[m->differs]))
		return;
	buf_clear(out);
	buf_put(out, text, shown_fit(text, strlen(text), m->entry->columns - 1));
	buf_putc(out, m->whole[m->differs]);
	if (!out->error)
		set_cut(m->entry, buf_str(out));
}

/* Of a place in a source file, the folder. */
static void cut_around(const struct name_table *t, struct member *m, struct buf *out)
{
	struct code_place place;

	if (m->entry->columns <= FIT_LETTERS)
		cut_letters(m, out);
	else if (code_place_parse(&place, m->whole))
		set_cut(m->entry,
			code_place_fit_with(&place, m->entry->columns, t->dots, m->differs, out));
	else
		cut_text_around(t, m, out);
}

/* From which character on one name, which may be there for several columns, is unlike the next ones. */
static void differ(struct member *m, size_t n, size_t from, size_t to)
{
	size_t before = from > 0 ? common(&m[from], &m[from - 1]) : 0;
	size_t behind = to < n ? common(&m[from], &m[to]) : 0;

	for (size_t i = from; i < to; i++)
		m[i].differs = MAX(before, behind);
}

static void cut_all_around(const struct name_table *t, struct member *m, size_t n)
{
	_cleanup_(buf_done) struct buf out = {0};

	for (size_t i = 0; i < n; i++)
		if (!is_plain(m[i].whole))
			return;
	qsort(m, n, sizeof(*m), by_whole);
	if (!by_whole(&m[0], &m[n - 1]))
		return;
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && !by_whole(&m[from], &m[to]); to++)
			;
		differ(m, n, from, to);
	}
	for (size_t i = 0; i < n; i++)
		cut_around(t, &m[i], &out);
}

/* ---- those that read alike ---- */

static int by_shown(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return strcmp(shown(x->entry), shown(y->entry));
}

static void cut_group_around(const struct name_table *t, struct member *m, size_t n)
{
	qsort(m, n, sizeof(*m), by_shown);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && !by_shown(&m[from], &m[to]); to++)
			;
		if (to - from > 1)
			cut_all_around(t, m + from, to - from);
	}
}

static void tell_group_apart(const struct name_table *t, struct entry *const *entries, size_t n)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	struct member *m = calloc(n, sizeof(*m));
	size_t made = 0;

	while (m && made < n && member_init(&m[made], entries[made]))
		made++;
	if (made == n) {
		choose_wishes(m, n);
		for (size_t i = 0; i < n; i++)
			cut_for_wish(t, &m[i], &scratch);
		cut_group_around(t, m, n);
	}
	for (size_t i = 0; m && i < n; i++)
		member_done(&m[i]);
	free(m);
}

static int by_text_shown(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;

	return strcmp(shown(*x), shown(*y));
}

/* One name for several columns is not another name. */
static int by_shown_and_name(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;
	int r = by_text_shown(a, b);

	return r ? r : strcmp((*x)->name, (*y)->name);
}

/* Those from one on that read like it; sorted as above. */
static size_t n_alike(struct entry *const *all, size_t n)
{
	size_t i = 1;

	while (i < n && !by_text_shown(&all[0], &all[i]))
		i++;
	return i;
}

static bool are_several(struct entry *const *alike, size_t n)
{
	return strcmp(alike[0]->name, alike[n - 1]->name) != 0;
}

/* ---- namespaces that are left out somewhere ---- */

/* "at::" of "at::native::add". */
static size_t outer_len(const struct entry *e)
{
	return (size_t)(strstr(e->name, "::") + 2 - e->name);
}

static bool has_dropped(const struct entry *e)
{
	return e->n_spaces && strncmp(shown(e), e->name, outer_len(e)) != 0;
}

static int by_outer(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;
	size_t m = outer_len(*x), n = outer_len(*y);

	return m != n ? (m > n) - (m < n) : memcmp((*x)->name, (*y)->name, n);
}

/* Does it show all of its name behind some of its namespaces, or none of them? */
static bool shows_end(const struct entry *e)
{
	size_t len = strlen(e->name), have = strlen(shown(e));

	return have <= len && have > len - e->n_spaces && !strcmp(e->name + len - have, shown(e));
}

static bool level(struct entry **of_one, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++)
		any |= has_dropped(of_one[i]);
	for (size_t i = 0; i < n && any; i++)
		if (shows_end(of_one[i])) {
			set_cut(of_one[i], of_one[i]->name + of_one[i]->n_spaces);
			of_one[i]->is_leveled = true;
		}
	return any;
}

/* What would read like another name keeps them. */
static void undo_level(struct name_table *t, struct entry **all)
{
	_cleanup_(buf_done) struct buf scratch = {0};

	qsort(all, t->n, sizeof(*all), by_shown_and_name);
	for (size_t from = 0, n; from < t->n; from += n) {
		n = n_alike(all + from, t->n - from);
		for (size_t i = from; are_several(all + from, n) && i < from + n; i++)
			if (all[i]->is_leveled)
				set_cut(all[i],
					fit_name(all[i]->name, all[i]->columns, t->dots, &scratch));
	}
}

/* The same namespaces are shown in all names or in none. Returns whether any name has changed. */
static bool level_namespaces(struct name_table *t, struct entry **all)
{
	bool any = false;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		t->v[i].n_spaces = (uint32_t)fit_namespaces(t->v[i].name);
		if (t->v[i].n_spaces)
			all[n++] = &t->v[i];
	}
	qsort(all, n, sizeof(*all), by_outer);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && !by_outer(&all[from], &all[to]); to++)
			;
		any |= level(all + from, to - from);
	}
	for (size_t i = 0; i < t->n; i++)
		all[i] = &t->v[i];
	if (any)
		undo_level(t, all);
	return any;
}

/* ---- what is left ---- */

#define NUMBERED_MAX 11 /* columns: in more of them, names differ in what can be read */

/* "sum#2", and "su2" where there is no room for a sign. */
static void number(const struct name_table *t, struct entry *e, unsigned number)
{
	_cleanup_(buf_done) struct buf out = {0};
	size_t width = strlen(t->dots), len;
	char text[16];

	snprintf(text, sizeof(text), e->columns > FIT_LETTERS ? "#%u" : "%u", number);
	if (e->columns <= strlen(text) || e->columns > NUMBERED_MAX || !e->cut)
		return;
	len = shown_fit(e->cut, strcspn(e->cut, "#"), e->columns - strlen(text));
	while (len > width && !memcmp(e->cut + len - width, t->dots, width))
		len -= width;
	buf_put(&out, e->cut, len);
	buf_puts(&out, text);
	if (!out.error)
		set_cut(e, buf_str(&out));
}

static int by_place_in_table(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

/* In the order in which they were asked for, behind number k. Returns the last number. */
static unsigned number_alike(const struct name_table *t, struct entry **alike, size_t n, unsigned k)
{
	unsigned numbers[GROUP_MAX];

	qsort(alike, n, sizeof(struct entry *), by_place_in_table);
	for (size_t i = 0; i < n; i++) {
		size_t known = 0;

		while (strcmp(alike[known]->name, alike[i]->name) != 0)
			known++;
		numbers[i] = known < i ? numbers[known] : ++k;
		number(t, alike[i], numbers[i]);
	}
	return k;
}

/* ---- all ---- */

enum pass {
	PASS_CUT, /* elsewhere */
	PASS_NUMBER,
	PASS_NUMBER_ON, /* what is left of "sum#10" and "sub#10" may be alike, too */
	PASS_N,
};

bool name_table_tell_apart(struct name_table *t)
{
	struct entry **all = malloc((t->n + 1) * sizeof(struct entry *));
	bool any = all && level_namespaces(t, all);
	unsigned last = 0;

	for (enum pass pass = 0; all && pass < PASS_N; pass++) {
		qsort(all, t->n, sizeof(*all), by_shown_and_name);
		for (size_t from = 0, n; from < t->n; from += n) {
			unsigned k = pass == PASS_NUMBER_ON ? last : 0;

			n = n_alike(all + from, t->n - from);
			if (!are_several(all + from, n) || n > GROUP_MAX)
				continue;
			any = true;
			if (pass == PASS_CUT)
				tell_group_apart(t, all + from, n);
			else
				k = number_alike(t, all + from, n, k);
			last = MAX(last, k);
		}
	}
	free(all);
	return any;
}
