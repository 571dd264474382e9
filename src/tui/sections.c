/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/sections.h"
#include "tui/tui_impl.h"

void sections_init(struct sections *s, struct panel *p, const struct section *v, unsigned n)
{
	p->sections = s;
	s->v = v;
	s->n = n;
	buf_init(&s->text, 1 << 16);
}

struct buf *sections_text(struct panel *p)
{
	buf_clear(&p->sections->text);
	return &p->sections->text;
}

void sections_done(struct panel *p)
{
	buf_done(&p->sections->text);
	free(p->sections->rows);
}

static void add(struct sections *s, enum section_line line, unsigned section, uint32_t i)
{
	if (ARRAY_ROOM(s->rows, s->cap_rows, s->n_rows + 1) < 0)
		return;
	s->rows[s->n_rows++] = (struct section_row){line, (uint8_t)section, i};
}

static void add_section(struct panel *p, unsigned k)
{
	struct sections *s = p->sections;
	const struct section *sec = &s->v[k];
	size_t n = sec->n(p);

	if (n == 0 && !sec->empty)
		return;
	if (s->n_rows > 0)
		add(s, LINE_BLANK, k, 0);
	if (sec->title)
		add(s, LINE_TITLE, k, 0);
	if (sec->name && n > 0)
		add(s, LINE_HEAD, k, 0);
	if (n == 0)
		add(s, LINE_EMPTY, k, 0);
	for (uint32_t i = 0; i < n; i++)
		add(s, LINE_ROW, k, i);
	fit_make(&s->layouts[k], p, &sec->columns, p->width, -1);
}

void sections_update(struct panel *p)
{
	struct sections *s = p->sections;

	s->n_rows = 0;
	for (unsigned k = 0; k < s->n; k++)
		add_section(p, k);
	p->n_rows = s->n_rows;
}

uint64_t sections_key(struct panel *p, size_t row)
{
	const struct section_row *r = &p->sections->rows[row];

	return (uint64_t)r->section << 40 | (uint64_t)r->line << 32 | r->i;
}

const char *sections_name(struct panel *p, size_t row)
{
	const struct section_row *r = &p->sections->rows[row];

	return r->line == LINE_ROW ? p->sections->v[r->section].row_name(p, r->i) : "";
}

uint32_t sections_node(struct panel *p, size_t row)
{
	const struct section_row *r = &p->sections->rows[row];

	if (r->line != LINE_ROW || !p->sections->v[r->section].row_node)
		return SNAP_NONE;
	return p->sections->v[r->section].row_node(p, r->i);
}

bool sections_is_heading(struct panel *p, size_t row)
{
	return p->sections->rows[row].line != LINE_ROW;
}

static void draw_entry(struct panel *p, struct pen *pen, const struct section_row *r)
{
	const struct section *sec = &p->sections->v[r->section];

	if (sec->columns.n)
		fit_cells(&p->sections->layouts[r->section], pen, p, &sec->columns, r->i);
	panel_draw_name(p, pen, sec->row_role ? sec->row_role(p, r->i) : ROLE_NORMAL,
			sec->row_name(p, r->i), TEXT_CUT_END);
}

void sections_draw_row(struct panel *p, struct pen *pen, size_t row)
{
	const struct section_row *r = &p->sections->rows[row];
	const struct section *sec = &p->sections->v[r->section];

	switch ((enum section_line)r->line) {
	case LINE_TITLE:
		pen_put(pen, ROLE_TITLE, sec->title);
		break;
	case LINE_HEAD:
		pen->x--; /* over the mark of the cursor, as in other panels */
		fit_head(&p->sections->layouts[r->section], pen, &sec->columns, sec->name, -1,
			 false);
		break;
	case LINE_ROW:
		draw_entry(p, pen, r);
		break;
	case LINE_EMPTY:
		pen_put(pen, ROLE_DIM, sec->empty);
		break;
	case LINE_BLANK:
		break;
	}
}
