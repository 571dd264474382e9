/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/source.h"
#include "naming/listing.h"
#include "naming/readable.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

enum {
	FUNCTIONS_MAX = 50, /* who looks further down than this has another question */
	MIX_WIDTH = 30,     /* two reasons, as most are */
	STALLS_WIDTH = 22,
	MIX_FROM = 110, /* of a screen that has room for so many */
	STALLS_FROM = 72,
	PLACE_WIDTH = 8,
	MEANING_LEAST = 60, /* of what is about as long as a line of a wide screen */
	HEAD_LINES = 1      /* above the first row: titles of columns */
};

/* The source of kernels, with the samples of each line; below one that was opened its instructions. */
struct panel_source {
	struct sections base;
	struct source source;
	struct listing lists[FUNCTIONS_MAX];
	size_t n_lists;
	struct shown_row {
		const struct listing *list;
		const struct listing_row *row; /* NULL: the function */
	} * rows;
	size_t n, cap;
	uint64_t generation; /* of the numbers that they are of */
	size_t hottest;      /* row of the line to begin with */
	bool has_open;       /* the instructions of a line are shown … */
	const char *open;    /* … the name of its frame; NULL: of what has no line */
	uint32_t open_in;    /* … its function's context */
};

static struct panel_source *as_source(struct panel *p)
{
	return (struct panel_source *)p;
}

static bool is_there(const struct tui *t)
{
	const struct session *s = snapshot_session(t->snap);

	return session_has_values(s, METRIC_PC_STALLED_SAMPLES);
}

/* ---- columns; words have the row's number ---- */

static const struct shown_row *row_at(struct panel *p, double number)
{
	return &as_source(p)->rows[(size_t)number];
}

static const struct source_mix *mix_of(const struct shown_row *row)
{
	return row->row ? row->row->mix : &row->list->function->mix;
}

/* As many of the largest reasons as a column has room for. */
static void put_stalls(const struct source_mix *mix, size_t width, char out[COLUMN_TEXT])
{
	char text[STALLS_TEXT_MAX];
	unsigned most = STALLS_TOP;

	*out = '\0';
	if (!mix)
		return;
	while (strlen(source_top_text(mix, most, text)) > width && most > 1)
		most--;
	snprintf(out, COLUMN_TEXT, "%s", text);
}

static void print_mix(struct panel *p, double number, char out[COLUMN_TEXT])
{
	put_stalls(mix_of(row_at(p, number)), MIX_WIDTH, out);
}

static void print_stalls(struct panel *p, double number, char out[COLUMN_TEXT])
{
	put_stalls(mix_of(row_at(p, number)), STALLS_WIDTH, out);
}

static void print_brief(struct panel *p, double number, char out[COLUMN_TEXT])
{
	const struct source_mix *mix = mix_of(row_at(p, number));
	enum pc_reason top[STALLS_TOP];

	*out = '\0';
	if (mix)
		snprintf(out, COLUMN_TEXT, "%s", source_top(mix, top) ? stall_brief(top[0]) : "-");
}

/* Of the columns that say why, the screen has the widest that it has room for. */
static bool lacks_mix(struct panel *p, const struct column *c)
{
	return p->width < MIX_FROM;
}

static bool lacks_stalls(struct panel *p, const struct column *c)
{
	return p->width < STALLS_FROM || p->width >= MIX_FROM;
}

static bool lacks_brief(struct panel *p, const struct column *c)
{
	return p->width >= STALLS_FROM;
}

static void print_place(struct panel *p, double number, char out[COLUMN_TEXT])
{
	const struct shown_row *row = row_at(p, number);
	char place[LISTING_PLACE_MAX];

	*out = '\0';
	if (row->row)
		snprintf(out, COLUMN_TEXT, "%s", listing_place(row->row, place));
}

#define STALLS_HELP "the largest reasons why others did not, in percent of those"

static const struct column columns[] = {
	{"SAMPLES", "how often a warp was here when the device was looked at", 7, 0, human_count},
	{"%", "of the samples of the function; of a function: of all", 5, 3, human_percent},
	{"ISSUED%", "of them: in which the warp issued an instruction", 7, 5, human_percent},
	{"STALLED BY %", STALLS_HELP, MIX_WIDTH, 2, .print = print_mix, .is_absent = lacks_mix},
	{"STALLED BY %", STALLS_HELP, STALLS_WIDTH, 2, .print = print_stalls,
	 .is_absent = lacks_stalls},
	{"STALLED", "the largest reason why others did not, in short", STALL_BRIEF, 0,
	 .print = print_brief, .is_absent = lacks_brief},
	{"LINE", "of the file, or the offset of the instruction", PLACE_WIDTH, 0,
	 .print = print_place},
};

/* ---- rows ---- */

static int add(struct panel_source *ps, const struct listing *list, const struct listing_row *row)
{
	if (ARRAY_ROOM(ps->rows, ps->cap, ps->n + 1) < 0)
		return -ENOMEM;
	ps->rows[ps->n++] = (struct shown_row){list, row};
	return 0;
}

static bool is_open(const struct panel_source *ps, const struct listing *list,
		    const struct listing_row *row)
{
	return ps->has_open && row->of->file == ps->open && list->function->node == ps->open_in;
}

/* What is shown of a function: itself, files, lines, and the instructions of the line that is open. */
static int add_function(struct panel_source *ps, const struct listing *list)
{
	const struct source_line *hottest = &ps->source.lines[list->function->hottest];
	int r = add(ps, list, NULL);

	for (size_t i = 0; i < list->n && r == 0; i++) {
		const struct listing_row *row = &list->v[i];

		if (row->instruction && !is_open(ps, list, row))
			continue;
		if (list == ps->lists && row->of == hottest && row->mix && !row->instruction)
			ps->hottest = ps->n;
		r = add(ps, list, row);
	}
	return r;
}

static void forget(struct panel_source *ps)
{
	for (size_t i = 0; i < ps->n_lists; i++)
		listing_done(&ps->lists[i]);
	ps->n_lists = ps->n = 0;
	ps->hottest = 0;
}

static void make(struct panel *p, struct numbers *numbers)
{
	struct panel_source *ps = as_source(p);
	int r = source_make(&ps->source, numbers);

	forget(ps);
	for (size_t i = 0; i < MIN(ps->source.n_functions, (size_t)FUNCTIONS_MAX) && r == 0; i++) {
		ps->lists[i] = (struct listing){.source = &ps->source,
						.function = &ps->source.functions[i],
						.code = p->tui->options.code,
						.naming = &readable_naming};
		r = listing_make(&ps->lists[i]);
		ps->n_lists = i + 1;
	}
}

static int by_lists(struct panel_source *ps)
{
	int r = 0;

	ps->n = 0;
	for (size_t i = 0; i < ps->n_lists && r == 0; i++)
		r = add_function(ps, &ps->lists[i]);
	return r;
}

/* "gather: k.cu:6 waits for global or local memory (long scoreboard)" */
static void put_function(struct panel *p, const struct source_function *f, struct buf *out)
{
	const struct source *s = &as_source(p)->source;
	const struct source_line *line = &s->lines[f->hottest];
	enum pc_reason top[STALLS_TOP];
	const char *slash;

	buf_puts(out, snapshot_name(p->tui->snap, f->node, p->tui->names));
	if (!source_top(&line->mix, top))
		return;
	buf_puts(out, ": ");
	if (line->file) {
		slash = memrchr(line->file, '/', line->file_len);
		slash = slash ? slash + 1 : line->file;
		buf_put(out, slash, line->file_len - (size_t)(slash - line->file));
		buf_printf(out, ":%u ", line->line);
	}
	buf_printf(out, "%s (%s)", stall_text(top[0]), stall_word(top[0]));
}

static enum role role_of(const struct panel_source *ps, size_t i)
{
	const struct shown_row *row = &ps->rows[i];

	if (!row->row || (row->row->of == &ps->source.lines[row->list->function->hottest] &&
			  row->row->mix && !row->row->instruction))
		return ROLE_WARNING;
	return row->row->mix ? ROLE_NORMAL : ROLE_DIM;
}

static void list_row(struct panel *p, size_t i)
{
	struct panel_source *ps = as_source(p);
	const struct shown_row *row = &ps->rows[i];
	const struct source_mix *mix = mix_of(row);
	double whole = row->row ? row->list->function->mix.samples : ps->source.samples;
	const struct section_row numbers = {.v = {mix ? mix->samples : NAN,
						  mix ? mix->samples / whole : NAN,
						  mix ? mix->by[PC_SELECTED] / mix->samples : NAN,
						  (double)i, (double)i, (double)i, (double)i},
					    .role = role_of(ps, i)};
	struct buf *name = sections_add_of(p, row->list->function->node, &numbers);

	if (row->row)
		listing_text(row->list, row->row, name);
	else
		put_function(p, row->list->function, name);
}

static void list(struct panel *p)
{
	for (size_t i = 0; i < as_source(p)->n; i++)
		list_row(p, i);
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{
		.name = "SOURCE",
		.columns = {columns, ARRAY_SIZE(columns), 40, 12},
		.list = list,
		.empty = SOURCE_NONE,
		.is_of_all = panel_is_since_reset,
	},
};

static void done(struct panel *p)
{
	struct panel_source *ps = as_source(p);

	forget(ps);
	source_done(&ps->source);
	free(ps->rows);
	sections_done(p);
}

static void update(struct panel *p)
{
	struct panel_source *ps = as_source(p);
	struct numbers *numbers = tui_numbers(p->tui);

	if (ps->generation != numbers_generation(numbers)) {
		make(p, numbers);
		ps->generation = numbers_generation(numbers);
	}
	by_lists(ps);
	sections_update(p);
	if (!p->is_placed && ps->n)
		panel_goto(p, HEAD_LINES + ps->hottest);
}

static const struct shown_row *cursor_row(struct panel *p)
{
	struct panel_source *ps = as_source(p);

	return p->cursor >= HEAD_LINES && p->cursor - HEAD_LINES < ps->n
		       ? &ps->rows[p->cursor - HEAD_LINES]
		       : NULL;
}

/* What the reason in the cursor's row means, which has room for CUPTI's word of it alone. */
static void draw_foot(struct panel *p, struct pen *pen)
{
	const struct shown_row *row = cursor_row(p);
	const struct source_mix *mix = row ? mix_of(row) : NULL;
	enum pc_reason top[STALLS_TOP];

	if (!mix || !source_top(mix, top))
		return;
	pen_printf(pen, ROLE_DIM, " %s: %s", stall_word(top[0]), stall_text(top[0]));
	if (pen_left(pen) >= MEANING_LEAST)
		pen_printf(pen, ROLE_DIM, ". %s", stall_meaning(top[0]));
}

/* Why the instructions of a line that was opened have no text. */
static void tell_why(struct panel *p, const struct source_line *line)
{
	const struct code_reader *code = p->tui->options.code;
	const char *name = line->n ? as_source(p)->source.instructions[line->first].name : NULL;
	struct pc_instruction is;

	if (code && name && pc_instruction_parse(name, &is) && !code->instruction(code->ctx, &is) &&
	    code->why(code->ctx))
		tui_message(p->tui, "instructions by their offset alone: %s", code->why(code->ctx));
}

/* The instructions of the line in the cursor's row, or no more. */
static bool toggle(struct panel *p)
{
	struct panel_source *ps = as_source(p);
	const struct shown_row *row = cursor_row(p);

	if (!row || !row->row || !row->row->mix)
		return false;
	ps->has_open = !is_open(ps, row->list, row->row);
	ps->open = row->row->of->file;
	ps->open_in = row->list->function->node;
	if (ps->has_open)
		tell_why(p, row->row->of);
	panel_spoil(p);
	return true;
}

static bool is_line(const struct shown_row *row)
{
	return row->row && row->row->mix && !row->row->instruction;
}

/* Does row a come before row b, of lines in the order of their samples that were stalled? */
static bool is_hotter(const struct panel_source *ps, size_t a, size_t b)
{
	int by = -COMPARE(source_stalled(mix_of(&ps->rows[a])),
			  source_stalled(mix_of(&ps->rows[b])));

	return by ? by < 0 : a < b;
}

/* To the line that is next hottest after that of the cursor, or to the one before; from no line, to the hottest. */
static void go_by_heat(struct panel *p, bool is_down)
{
	struct panel_source *ps = as_source(p);
	const struct shown_row *at = cursor_row(p);
	size_t from = at ? (size_t)(at - ps->rows) : 0, to = ps->hottest;
	bool is_found = !at || !is_line(at);

	for (size_t i = 0; i < ps->n && at && is_line(at); i++) {
		if (i == from || !is_line(&ps->rows[i]) || is_hotter(ps, from, i) != is_down)
			continue;
		if (!is_found || is_hotter(ps, i, to) == is_down)
			to = i;
		is_found = true;
	}
	if (is_found)
		panel_goto(p, HEAD_LINES + to);
}

static bool request(struct panel *p, enum request request)
{
	switch (request) {
	case REQ_OPEN:
	case REQ_TOGGLE:
		return toggle(p);
	case REQ_NEXT_SIBLING:
	case REQ_PREV_SIBLING:
		go_by_heat(p, request == REQ_NEXT_SIBLING);
		return true;
	case REQ_HOT_PATH:
		panel_goto(p, HEAD_LINES + as_source(p)->hottest);
		return true;
	default:
		return false;
	}
}

static const struct panel_key keys[] = {
	{REQ_OPEN, NULL, "the instructions of this line, or no more"},
	{REQ_TOGGLE, "Instr", "the instructions of this line, or no more"},
	{REQ_HOT_PATH, NULL, "go to the hottest line"},
	{REQ_NEXT_SIBLING, NULL, "go to the next hottest line"},
	{REQ_PREV_SIBLING, NULL, "go to the line that is hotter"},
	{REQ_SCROLL_RIGHT, NULL, NULL},
	{REQ_SCROLL_LEFT, NULL, NULL},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_source_ops = {
	.title = SOURCE_TITLE,
	.is_there = is_there,
	.size = sizeof(struct panel_source),
	.init = sections_init,
	.done = done,
	.update = update,
	.draw_foot = draw_foot,
	.request = request,
	.keys = keys,
	SECTIONS_OPS(sections),
	.is_filtered = true,
};
