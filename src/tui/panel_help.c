/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <string.h>
#include "tui/refusals.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

#define NARROW 60 /* columns below which keys have fewer */

/* The list of requests (keys.h) and of the tree's columns, under headings. */
struct help_line {
	const char *left, *text; /* left NULL: a heading; both NULL: blank */
	int len;                 /* of a text that goes on in the next line */
};

struct panel_help {
	struct panel base;
	struct help_line lines[4 * (2 * REQ_N + EDIT_N + USUAL_N + 32)];
	char title[64], columns[64], signs[64], text[128];
};

static struct panel_help *as_help(struct panel *p)
{
	return (struct panel_help *)p;
}

static int keys_width(const struct panel *p)
{
	return p->width < NARROW ? 11 : 13;
}

static void add_line(struct panel *p, const char *left, const char *text, size_t len)
{
	if (p->n_rows < ARRAY_SIZE(as_help(p)->lines))
		as_help(p)->lines[p->n_rows++] = (struct help_line){left, text, (int)len};
}

/* As many words of a text as there are columns for, at least one. */
static size_t words_that_fit(const char *text, size_t columns)
{
	size_t len = strcspn(text, " ");

	while (text[len] && len + 1 + strcspn(text + len + 1, " ") <= columns)
		len += 1 + strcspn(text + len + 1, " ");
	return len;
}

/* A sentence that is too long goes on below. */
static void add(struct panel *p, const char *left, const char *text)
{
	int room = (p->width ? p->width : 80) - keys_width(p) - 3;

	while (left && text && (int)strlen(text) > room) {
		size_t len = words_that_fit(text, (size_t)MAX(room, 1));

		add_line(p, left, text, len);
		text += len + strspn(text + len, " ");
		left = "";
		if (!*text)
			return;
	}
	add_line(p, left, text, text ? strlen(text) : 0);
}

static void heading(struct panel *p, const char *text)
{
	if (p->n_rows > 0)
		add(p, NULL, NULL);
	add(p, NULL, text);
}

/* Where no program would notice, the key that stops it leaves. */
static const char *help_of(const struct tui *t, const struct key_row *row)
{
	return row->request == REQ_INTERRUPT && !tui_has_program(t) ? "leave" : row->help;
}

static void add_keys(struct panel *p)
{
	const char *group = NULL;
	struct key_row row;

	for (unsigned i = 0; keymap_row(&p->tui->keys, i, &row); i++) {
		if (row.request && request_is_useless(p->tui, row.request))
			continue;
		if (row.group != group)
			heading(p, row.group);
		group = row.group;
		add(p, *row.keys ? row.keys : "-", help_of(p->tui, &row));
	}
}

static bool is_told(struct panel *p, size_t first, const struct column *c)
{
	for (size_t i = first; i < p->n_rows; i++) {
		const struct help_line *line = &as_help(p)->lines[i];

		if (line->left && !strcmp(line->left, c->title) &&
		    !strncmp(line->text, c->help, (size_t)line->len))
			return true;
	}
	return false;
}

/* What the keys do in the panel behind, where that is special. */
static void add_panel_keys(struct panel *p)
{
	const struct panel_ops *ops = p->tui->panels[p->tui->current]->ops;

	if (!ops->keys)
		return;
	snprintf(as_help(p)->title, sizeof(as_help(p)->title), "In this panel (%s)", ops->title);
	heading(p, as_help(p)->title);
	for (const struct panel_key *k = ops->keys; k->request; k++) {
		const char *keys = keymap_words(&p->tui->keys, k->request);
		const char *help = k->help ? k->help : request_info(k->request)->help;

		if (*help && !request_is_useless(p->tui, k->request))
			add(p, *keys ? keys : "-", help);
	}
}

/* What tables of the panel behind have; a title with one meaning once. */
static void add_panel_columns(struct panel *p)
{
	const struct panel_ops *ops = p->tui->panels[p->tui->current]->ops;
	size_t first;

	if (!ops->sections.n)
		return;
	snprintf(as_help(p)->columns, sizeof(as_help(p)->columns), "Columns of this panel (%s)",
		 ops->title);
	heading(p, as_help(p)->columns);
	first = p->n_rows;
	for (unsigned i = 0; i < ops->sections.n; i++) {
		const struct columns *columns = &ops->sections.v[i].columns;

		for (unsigned k = 0; k < columns->n; k++)
			if (!is_told(p, first, &columns->v[k]))
				add(p, columns->v[k].title, columns->v[k].help);
	}
}

static void add_panel_signs(struct panel *p)
{
	const struct panel_ops *ops = p->tui->panels[p->tui->current]->ops;

	if (!ops->signs)
		return;
	snprintf(as_help(p)->signs, sizeof(as_help(p)->signs), "Signs of this panel (%s)",
		 ops->title);
	heading(p, as_help(p)->signs);
	for (const struct panel_sign *s = ops->signs; s->sign; s++)
		add(p, s->ascii && p->tui->look.ascii ? s->ascii : s->sign, s->help);
}

static void add_columns(struct panel *p)
{
	heading(p, "Columns");
	for (unsigned i = 0; i < USUAL_N; i++)
		add(p, usual_columns[i].title, usual_columns[i].help);
	add(p, "BUSY%", "share of the last window in which a device had work");
	add(p, "-", "not known, which is not zero");
	add(p, "~",
	    "before a name: not measured, but a share of a whole CUDA graph (--graph-shares), "
	    "or of launches whose context was guessed");
}

static int init(struct panel *p)
{
	p->no_cursor = true;
	return 0;
}

static void update(struct panel *p)
{
	p->n_rows = 0;
	add(p, "C- M- S-", "with Ctrl, Alt, Shift held"); /* what follows is full of them */
	add_panel_keys(p);
	add_panel_columns(p);
	add_panel_signs(p);
	add_keys(p);
	add_columns(p);
}

static uint64_t row_key(struct panel *p, size_t row)
{
	return row;
}

static const char *row_name(struct panel *p, size_t row)
{
	const struct help_line *line = &as_help(p)->lines[row];

	snprintf(as_help(p)->text, sizeof(as_help(p)->text), "%.*s", line->len,
		 line->text ? line->text : "");
	return as_help(p)->text;
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	const struct help_line *line = &as_help(p)->lines[row];

	if (line->left) {
		pen_skip(pen, ROLE_NORMAL, 1);
		pen_field(pen, ROLE_TITLE, keys_width(p), line->left);
		pen_skip(pen, ROLE_NORMAL, 1);
	}
	panel_draw_name(p, pen, line->left ? ROLE_NORMAL : ROLE_GROUP, row_name(p, row),
			TEXT_CUT_END);
}

static const struct panel_key keys[] = {
	{REQ_HELP, "Close", ""},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_help_ops = {
	.title = "Help",
	.size = sizeof(struct panel_help),
	.init = init,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.keys = keys,
	.draw_row = draw_row,
};
