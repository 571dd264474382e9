/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/sections.h"
#include <math.h>
#include <string.h>
#include "tui/names.h"
#include "tui/path_rows.h"
#include "tui/tui_impl.h"

#define NAMES_MAX  (1 << 24) /* bytes of all names of a panel */
#define PATH_BYTES (1 << 16) /* of one of them */

#define NAME_PATH  0
#define NAME_OWN   SIZE_MAX

struct section_entry {
	struct section_row of;
	uint32_t node; /* or SNAP_NONE */
	size_t name;   /* where it begins, or NAME_PATH or NAME_OWN: what the node has */
	uint8_t section;
};

enum line_kind { LINE_BLANK, LINE_TITLE, LINE_HEAD, LINE_ROW, LINE_EMPTY };

struct section_line {
	uint8_t kind; /* enum line_kind */
	uint8_t section;
	uint32_t i; /* row of the section; of LINE_EMPTY where its part of the sentence begins */
};

static struct sections *as_sections(struct panel *p)
{
	return (struct sections *)p;
}

static const struct section *section_at(struct panel *p, unsigned k)
{
	return &p->ops->sections.v[k];
}

int sections_init(struct panel *p)
{
	buf_init(&as_sections(p)->names, NAMES_MAX);
	buf_init(&as_sections(p)->path, PATH_BYTES);
	return 0;
}

void sections_done(struct panel *p)
{
	struct sections *s = as_sections(p);

	buf_done(&s->names);
	buf_done(&s->path);
	for (unsigned k = 0; k < MAX_SECTIONS; k++)
		buf_done(&s->v[k].paths);
	free(s->rows);
	free(s->lines);
}

/* ---- the limit ---- */

/* The column that an amount is compared with, or n: none is in its unit. */
static size_t column_of_amount(struct panel *p, const struct section *sec)
{
	const struct least *least = &p->tui->least;
	size_t i = 0;

	if (least->at.unit == AMOUNT_PLAIN)
		return least->word ? sec->columns.n : sec->limited - 1;
	while (i < sec->columns.n &&
	       sec->columns.v[i].format !=
		       (least->at.unit == AMOUNT_TIME ? human_time_ns : human_bytes))
		i++;
	return i;
}

/* Is a row too small for an amount? A share is of what all rows have, see leave_out(). */
static bool is_small(struct panel *p, const struct section *sec, const struct section_row *row)
{
	size_t column;

	if (!sec->limited || p->tui->least.at.value == 0)
		return false;
	column = column_of_amount(p, sec);
	return column < sec->columns.n && !(row->v[column] >= p->tui->least.at.value);
}

/* Rows below a share, with the remarks on them. */
static void leave_out(struct panel *p, const struct section *sec)
{
	struct sections *s = as_sections(p);
	struct section_state *state = &s->v[s->listed];
	struct section_entry *rows = s->rows + state->first;
	double least = p->tui->least.share * (sec->whole ? sec->whole(p) : state->limited);
	size_t n = 0;
	bool is_out = false;

	for (size_t i = 0; i < state->n; i++) {
		if (!rows[i].of.is_remark)
			is_out = !(rows[i].of.v[sec->limited - 1] >= least);
		if (!is_out)
			rows[n++] = rows[i];
		state->is_limited |= is_out;
	}
	s->n_rows -= state->n - n;
	state->n = n;
}

/* What a row has counts among what all have; is it left out? */
static void take(struct panel *p, const struct section *sec, const struct section_row *row)
{
	struct section_state *state = &as_sections(p)->v[as_sections(p)->listed];

	add_present(&state->sum, row->v[0]);
	if (sec->limited)
		add_present(&state->limited, row->v[sec->limited - 1]);
	state->is_out = is_small(p, sec, row);
	state->is_limited |= state->is_out;
}

/* ---- rows ---- */

/* The place for a row whose first number is v: behind rows that have as much. */
static size_t place_for(const struct sections *s, double v)
{
	size_t at = s->n_rows;

	while (at > s->v[s->listed].first &&
	       (v > s->rows[at - 1].of.v[0] || (isnan(s->rows[at - 1].of.v[0]) && !isnan(v))))
		at--;
	return at;
}

static void add(struct panel *p, const struct section_entry *row)
{
	struct sections *s = as_sections(p);
	struct section_state *state = &s->v[s->listed];
	const struct section *sec = section_at(p, s->listed);
	unsigned most = sec->most;
	size_t at = most ? place_for(s, row->of.v[0]) : s->n_rows;

	if (!row->of.is_remark)
		take(p, sec, &row->of);
	if (state->is_out)
		return;
	if ((most && at - state->first == most) ||
	    ARRAY_ROOM(s->rows, s->cap_rows, s->n_rows + 1) < 0)
		return;
	if (most && state->n == most) /* the last one falls out */
		s->n_rows--;
	else
		state->n++;
	memmove(s->rows + at + 1, s->rows + at, (s->n_rows - at) * sizeof(*s->rows));
	s->rows[at] = *row;
	s->rows[at].section = (uint8_t)s->listed;
	s->n_rows++;
}

struct buf *sections_add_of(struct panel *p, uint32_t node, const struct section_row *row)
{
	struct buf *names = &as_sections(p)->names;

	buf_putc(names, '\0'); /* behind the one before; place 0 is none's */
	add(p, &(struct section_entry){.of = *row, .node = node, .name = names->len});
	return names;
}

struct buf *sections_add(struct panel *p, const struct section_row *row)
{
	return sections_add_of(p, SNAP_NONE, row);
}

size_t sections_row_of_text(const char *text, int room)
{
	size_t len = 0, blank = 0, blanks = 0;

	for (int columns = 0; text[len] && columns <= room; len++) {
		columns += ((unsigned char)text[len] & 0xc0) != 0x80;
		if (text[len] == ' ')
			blank = len;
		if (text[len] == ' ' && text[len + 1] == ' ')
			blanks = len;
		if (columns > room)
			return blanks ? blanks : blank ? blank : len;
	}
	return len;
}

int sections_room(const struct panel *p)
{
	return (p->width ? p->width : 80) - 1;
}

void sections_add_text(struct panel *p, const char *text, int room, const struct section_row *row)
{
	while (*text) {
		size_t len = sections_row_of_text(text, MAX(room, 1));

		buf_printf(sections_add(p, row), "%.*s", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
}

void sections_add_path(struct panel *p, uint32_t node, const struct section_row *row)
{
	add(p, &(struct section_entry){.of = *row, .node = node});
}

void sections_add_node(struct panel *p, uint32_t node, const struct section_row *row)
{
	add(p, &(struct section_entry){.of = *row, .node = node, .name = NAME_OWN});
}

static void add_line(struct panel *p, enum line_kind kind, unsigned section, uint32_t i)
{
	struct sections *s = as_sections(p);

	if (ARRAY_ROOM(s->lines, s->cap_lines, p->n_rows + 1) == 0)
		s->lines[p->n_rows++] = (struct section_line){kind, (uint8_t)section, i};
}

static bool is_wanted(const struct panel *p, const struct section *sec)
{
	return !sec->of_program || p->tui->options.source != TUI_OF_DEVICES;
}

static void list_rows(struct panel *p, unsigned k)
{
	struct sections *s = as_sections(p);

	s->listed = k;
	s->v[k].first = s->n_rows;
	s->v[k].n = 0;
	s->v[k].sum = s->v[k].limited = 0;
	s->v[k].is_limited = s->v[k].is_out = false;
	s->v[k].paths_columns = -1;
	section_at(p, k)->list(p);
	if (section_at(p, k)->limited && p->tui->least.share > 0)
		leave_out(p, section_at(p, k));
	if (s->v[k].n < section_at(p, k)->least || !is_wanted(p, section_at(p, k)))
		s->v[k].n = 0;
}

/* NULL: without rows it is left out. */
static const char *say_empty(struct panel *p, unsigned k)
{
	const struct section *sec = section_at(p, k);

	if (!is_wanted(p, sec))
		return NULL;
	return sec->say_empty ? sec->say_empty(p) : sec->empty;
}

static const char *empty_words(struct panel *p, unsigned k)
{
	return as_sections(p)->v[k].is_limited ? "nothing is large enough for the limit"
					       : say_empty(p, k);
}

/* The column of the cursor's mark is no place for it. */
static size_t empty_len(const struct panel *p, const char *text)
{
	return sections_row_of_text(text, MAX((p->width ? p->width : 80) - 1, 1));
}

/* As many lines as the sentence needs. */
static void add_empty(struct panel *p, unsigned k)
{
	const char *words = empty_words(p, k), *text = words;

	do {
		add_line(p, LINE_EMPTY, k, (uint32_t)(text - words));
		text += empty_len(p, text);
		text += strspn(text, " ");
	} while (*text);
}

static void draw_empty(struct panel *p, struct pen *pen, const struct section_line *line)
{
	const char *words = empty_words(p, line->section);
	const char *text =
		words + MIN(line->i, strlen(words)); /* who says it may say less by now */

	pen_printf(pen, ROLE_DIM, "%.*s", (int)empty_len(p, text), text);
}

static void add_section(struct panel *p, unsigned k)
{
	const struct section *sec = section_at(p, k);
	struct section_state *state = &as_sections(p)->v[k];

	list_rows(p, k);
	if (state->n == 0 && !say_empty(p, k))
		return;
	if (p->n_rows > 0)
		add_line(p, LINE_BLANK, k, 0);
	if (sec->title)
		add_line(p, LINE_TITLE, k, 0);
	if (sec->name && state->n > 0)
		add_line(p, LINE_HEAD, k, 0);
	if (state->n == 0)
		add_empty(p, k);
	for (uint32_t i = 0; i < state->n; i++)
		add_line(p, LINE_ROW, k, i);
	fit_make(&state->fit, p, &sec->columns, p->width, -1);
}

void sections_update(struct panel *p)
{
	struct sections *s = as_sections(p);

	p->n_rows = s->n_rows = 0;
	buf_clear(&s->names);
	for (unsigned k = 0; k < p->ops->sections.n; k++)
		add_section(p, k);
	buf_putc(&s->names, '\0');
}

static uint32_t row_of(const struct sections *s, const struct section_line *line)
{
	return (uint32_t)s->v[line->section].first + line->i;
}

/* NULL: the line is no row. */
static const struct section_entry *entry_at(struct panel *p, size_t row)
{
	const struct sections *s = as_sections(p);
	const struct section_line *line = &s->lines[row];

	return line->kind == LINE_ROW ? &s->rows[row_of(s, line)] : NULL;
}

uint64_t sections_key(struct panel *p, size_t row)
{
	const struct section_line *line = &as_sections(p)->lines[row];

	return (uint64_t)line->section << 40 | (uint64_t)line->kind << 32 | line->i;
}

const char *sections_name(struct panel *p, size_t row)
{
	const struct section_entry *e = entry_at(p, row);
	struct sections *s = as_sections(p);

	if (!e)
		return "";
	if (e->name == NAME_OWN)
		return tui_node_name(p->tui, e->node);
	if (e->name != NAME_PATH)
		return s->names.error ? "" : s->names.data + e->name;
	buf_clear(&s->path);
	tui_put_path(p->tui, e->node, &s->path);
	return buf_str(&s->path);
}

uint32_t sections_node(struct panel *p, size_t row)
{
	const struct section_entry *e = entry_at(p, row);

	return e ? e->node : SNAP_NONE;
}

/* The sentence of a table without rows is none: what is first on a small screen stays in sight. */
bool sections_is_heading(struct panel *p, size_t row)
{
	return as_sections(p)->lines[row].kind < LINE_ROW;
}

size_t sections_head(struct panel *p, size_t row)
{
	const struct section_line *lines = as_sections(p)->lines;
	size_t i = row;

	if (lines[row].kind != LINE_ROW)
		return SIZE_MAX;
	while (i > 0 && lines[i].kind == LINE_ROW)
		i--;
	return lines[i].kind == LINE_HEAD ? i : SIZE_MAX;
}

/* ---- numbers ---- */

double sections_number(struct panel *p, const struct column *c, uint32_t i)
{
	const struct sections *s = as_sections(p);
	const struct section_entry *e = &s->rows[i];
	double v = e->of.v[c - section_at(p, e->section)->columns.v];

	return v == SECTION_SHARE ? e->of.v[0] / s->v[e->section].sum : v;
}

/* Columns are laid out right after the rows of their section were listed. */
bool sections_lack(struct panel *p, const struct column *c)
{
	const struct section_state *state = &as_sections(p)->v[as_sections(p)->listed];

	for (size_t i = 0; i < state->n; i++)
		if (!as_sections(p)->rows[state->first + i].of.is_remark &&
		    !isnan(sections_number(p, c, (uint32_t)(state->first + i))))
			return false;
	return true;
}

bool sections_lack_window(struct panel *p, const struct column *c)
{
	return !p->tui->options.live;
}

void sections_print_change(struct panel *p, double v, char out[COLUMN_TEXT])
{
	char text[HUMAN_MAX];

	(void)p;
	human_time_ns(text, v);
	snprintf(out, COLUMN_TEXT, "%s%s", v > 0 ? "+" : "", text);
}

/* ---- keys ---- */

const struct panel_key sections_keys[] = {
	{REQ_OPEN, NULL, "copy this row, or its name"},
	{REQ_SCROLL_RIGHT, NULL, NULL},
	{REQ_SCROLL_LEFT, NULL, NULL},
	{REQ_NONE, NULL, NULL},
};

const struct panel_key sections_context_keys[] = {
	{REQ_OPEN, NULL, "what can be done with this row"},
	{REQ_TOGGLE, NULL, "show this row in the tree"},
	{REQ_DETAIL, NULL, NULL},
	{REQ_PANEL_8, NULL, "its callers and callees"},
	{REQ_PANEL_11, NULL, "how long its executions took"},
	{REQ_ONLY_THIS, NULL, NULL},
	{REQ_SCROLL_RIGHT, NULL, NULL},
	{REQ_SCROLL_LEFT, NULL, NULL},
	{REQ_NONE, NULL, NULL},
};

/* ---- drawing ---- */

/* The end of a path says where it is: frames go from its beginning, as whole ones. */
static const char *path_end(const struct pen *pen, const char *path)
{
	bool ascii = pen->canvas->look->ascii;
	const char *separator = ascii ? " > " : " › ", *next;

	while (text_columns(path, strlen(path), ascii) > pen_left(pen) &&
	       (next = strstr(path, separator)))
		path = next + strlen(separator);
	return path;
}

/* More rows than this are not told apart. */
#define PATHS_MAX 128

static void make_paths(struct panel *p, struct section_state *state, int columns)
{
	uint32_t nodes[PATHS_MAX] = {0};
	size_t n = state->n <= PATHS_MAX ? state->n : 0;

	for (size_t i = 0; i < n; i++) {
		const struct section_entry *e = &as_sections(p)->rows[state->first + i];

		nodes[i] = e->name == NAME_PATH ? e->node : 0;
	}
	state->paths_columns = columns;
	buf_clear(&state->paths);
	if (path_rows_make(p->tui, nodes, n, columns, &state->paths) < 0)
		buf_clear(&state->paths);
}

/* A path that would read like one of another row; "": it does not. */
static const char *path_apart(struct panel *p, const struct pen *pen, size_t row)
{
	const struct section_line *line = &as_sections(p)->lines[row];
	struct section_state *state = &as_sections(p)->v[line->section];
	const char *text, *end;

	if (state->paths_columns != pen_left(pen))
		make_paths(p, state, pen_left(pen));
	text = state->paths.data;
	end = text + state->paths.len;
	for (uint32_t i = 0; text < end && i < line->i; i++)
		text += strlen(text) + 1;
	return text < end ? text : "";
}

static void draw_path(struct panel *p, struct pen *pen, size_t row)
{
	enum role role = entry_at(p, row)->of.role;
	const char *apart = path_apart(p, pen, row), *name = sections_name(p, row), *end;

	if (*apart) {
		panel_draw_name(p, pen, role, apart, TEXT_CUT_END);
		return;
	}
	end = path_end(pen, name);
	if (end != name && pen_left(pen) > text_columns(end, strlen(end), pen->canvas->look->ascii))
		pen_put(pen, role, canvas_dots(pen->canvas));
	panel_draw_name(p, pen, role, end, TEXT_CUT_END);
}

/* A path that was scrolled is as it is. */
static void draw_name(struct panel *p, struct pen *pen, size_t row)
{
	const struct section_entry *e = entry_at(p, row);

	if (e->name == NAME_PATH && !p->scroll)
		draw_path(p, pen, row);
	else
		panel_draw_name(p, pen, e->of.role, sections_name(p, row), TEXT_CUT_END);
}

static const char *title_remark(struct panel *p, const struct section *sec)
{
	const struct tui *t = p->tui;

	if (sec->of_b && t->options.before)
		return " (B alone)";
	if (sec->is_of_all ? sec->is_of_all(p)
			   : sec->of_all && (tui_is_filtered(t) || snapshot_is_reset(t->snap)))
		return " (of the whole run)";
	return "";
}

void sections_draw_row(struct panel *p, struct pen *pen, size_t row)
{
	const struct sections *s = as_sections(p);
	const struct section_line *line = &s->lines[row];
	const struct section *sec = section_at(p, line->section);
	const struct column_fit *fit = &s->v[line->section].fit;

	switch ((enum line_kind)line->kind) {
	case LINE_TITLE:
		pen_put(pen, ROLE_TITLE, sec->title);
		pen_put(pen, ROLE_TITLE, title_remark(p, sec));
		break;
	case LINE_HEAD:
		pen->x--; /* over the mark of the cursor, as in other panels */
		fit_head(fit, pen, &sec->columns, sec->name, -1, false);
		break;
	case LINE_ROW:
		if (entry_at(p, row)->of.is_remark) {
			fit_blank(fit, pen, &sec->columns);
			pen_skip(pen, ROLE_NORMAL, 2);
		}
		if (sec->columns.n && !entry_at(p, row)->of.is_remark)
			fit_cells(fit, pen, p, &sec->columns, row_of(s, line));
		draw_name(p, pen, row);
		break;
	case LINE_EMPTY:
		draw_empty(p, pen, line);
		break;
	case LINE_BLANK:
		break;
	}
}
