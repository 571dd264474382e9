/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "base/buf.h"
#include "tui/panel.h"
#include "tui/tui_impl.h"

#define MAX_LINE 4096

/* The tail of the program's output. Stands at its end and follows it until scrolled up. */
struct panel_log {
	struct panel base;
	const char *text; /* the host's, valid while the panel is not stale */
	size_t *lines;    /* where they begin, and the end of the text behind the last */
	size_t cap_lines;
	uint64_t n_gone; /* bytes before the text that are no longer kept */
	bool scrolled;   /* do not follow */
	char plain[MAX_LINE];
};

static struct panel_log *as_log(struct panel *p)
{
	return (struct panel_log *)p;
}

static int init(struct panel *p)
{
	p->no_cursor = true;
	return 0;
}

static void done(struct panel *p)
{
	free(as_log(p)->lines);
}

/* Note where each line begins; the number of lines. */
static size_t split(struct panel_log *pl, size_t len)
{
	size_t n = 0, at = 0;

	while (at < len) {
		const char *end = memchr(pl->text + at, '\n', len - at);

		if (ARRAY_ROOM(pl->lines, pl->cap_lines, n + 2) < 0)
			break;
		pl->lines[n++] = at;
		at = end ? (size_t)(end - pl->text) + 1 : len;
		pl->lines[n] = at;
	}
	return n;
}

static void update(struct panel *p)
{
	struct panel_log *pl = as_log(p);
	size_t len = 0;

	pl->text = NULL;
	pl->n_gone = 0;
	if (p->tui->host.log)
		pl->text = p->tui->host.log(p->tui->host.data, &len, &pl->n_gone);
	p->n_rows = pl->text ? split(pl, len) : 0;
	if (!pl->scrolled)
		p->top = p->n_rows;
}

static uint64_t row_key(struct panel *p, size_t row)
{
	return as_log(p)->n_gone + as_log(p)->lines[row];
}

static const char *row_name(struct panel *p, size_t row)
{
	struct panel_log *pl = as_log(p);
	size_t start = pl->lines[row], len = pl->lines[row + 1] - start;

	if (len && pl->text[start + len - 1] == '\n')
		len--;
	text_plain(pl->plain, sizeof(pl->plain), pl->text + start, len);
	return pl->plain;
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	pen->x = 0; /* no cursor, so no mark */
	panel_draw_name(p, pen, ROLE_NORMAL, row_name(p, row), TEXT_CUT_END);
}

/* What can be done here that cannot be elsewhere. */
static void draw_foot(struct panel *p, struct pen *pen)
{
	const struct tui *t = p->tui;
	bool types = t->host.input && !t->options.readonly && t->status.run == TUI_RUN_RUNNING;

	if (types)
		pen_put(pen, ROLE_DIM, "i types to the program");
	if (as_log(p)->scrolled)
		pen_printf(pen, ROLE_DIM, "%sEnd follows its output again", types ? ", " : "");
	pen_fill(pen, ROLE_NORMAL);
}

static void explain(struct panel *p, struct buf *out)
{
	if (p->tui->options.source == TUI_OF_STREAMS)
		buf_puts(out, "the program runs elsewhere, and prints there");
	else if (!p->tui->host.log)
		buf_puts(out, "there is no program whose output could be here");
	else if (p->tui->status.run == TUI_RUN_ENDED)
		buf_puts(out, "the program wrote nothing");
	else
		buf_puts(out, "the program has written nothing yet (i types to it)");
}

/* Moving away from the end stops following, coming back starts it again. */
static void moved(struct panel *p)
{
	as_log(p)->scrolled = p->top + (size_t)p->height < p->n_rows;
}

/* What was found stays where it is, at the end too. */
static bool find(struct panel *p, bool forward, bool *ret_wrapped)
{
	bool found = panel_find_row(p, forward, ret_wrapped);

	as_log(p)->scrolled |= found;
	return found;
}

/* A file has no program that prints. */
static bool is_there(const struct tui *t)
{
	return t->host.log;
}

static const struct panel_key keys[] = {
	{REQ_TYPE, NULL, NULL},
	{REQ_LAST, NULL, "the end, which is followed"},
	{REQ_SEARCH, NULL, NULL},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_log_ops = {
	.title = "Log",
	.is_there = is_there,
	.size = sizeof(struct panel_log),
	.init = init,
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.draw_row = draw_row,
	.draw_foot = draw_foot,
	.explain = explain,
	.moved = moved,
	.find = find,
	.keys = keys,
};
