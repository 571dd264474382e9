/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/print.h"
#include <string.h>
#include "tui/compose.h"
#include "tui/screen.h"
#include "tui/tui_impl.h"

/* Cells of a line that look the same. */
struct run {
	int y, x, columns;
	struct style style;
	struct buf text;
};

struct writer {
	const char *suffix, *help;
	bool colors;
	void (*begin)(struct buf *out, const struct look *look, int rows, int cols);
	void (*run)(struct buf *out, const struct run *run);
	void (*line)(struct buf *out);
	void (*end)(struct buf *out);
};

static void nothing(struct buf *out)
{
}

static void newline(struct buf *out)
{
	buf_putc(out, '\n');
}

/* ---- text ---- */

static void text_begin(struct buf *out, const struct look *look, int rows, int cols)
{
}

static void text_run(struct buf *out, const struct run *run)
{
	buf_put(out, run->text.data, run->text.len);
}

/* ---- text with the sequences of ECMA-48 that terminals colour by ---- */

static void ansi_run(struct buf *out, const struct run *run)
{
	const struct style *s = &run->style;

	buf_puts(out, "\x1b[0");
	if (s->bold)
		buf_puts(out, ";1");
	if (s->dim)
		buf_puts(out, ";2");
	if (s->underline)
		buf_puts(out, ";4");
	if (s->reverse)
		buf_puts(out, ";7");
	if (s->fg >= 0)
		buf_printf(out, ";3%d", s->fg);
	if (s->bg >= 0)
		buf_printf(out, ";4%d", s->bg);
	buf_putc(out, 'm');
	text_run(out, run);
}

static void ansi_line(struct buf *out)
{
	buf_puts(out, "\x1b[0m\n");
}

/* ---- a picture ---- */

/* In pixels. The width is that of a monospaced font of 14; textLength makes any other font fit. */
#define CELL_WIDTH  8.4
#define CELL_HEIGHT 18
#define MARGIN      8

/* What a terminal's colours are on dark and on light ground. */
struct palette {
	const char *ground, *ink, *colors[8];
};

static const struct palette dark = {
	"#101418",
	"#d4d8dc",
	{"#101418", "#e05561", "#5bb65b", "#c9a026", "#4b8ff0", "#c678dd", "#2fb3c0", "#e6e6e6"},
};

static const struct palette light = {
	"#ffffff",
	"#202428",
	{"#101418", "#b3261e", "#1a7f37", "#8a6100", "#0b57d0", "#8e24aa", "#00697a", "#e6e6e6"},
};

static void svg_begin(struct buf *out, const struct look *look, int rows, int cols)
{
	const struct palette *palette = look->light ? &light : &dark;
	double width = cols * CELL_WIDTH + 2 * MARGIN;
	int height = rows * CELL_HEIGHT + 2 * MARGIN;

	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\" "
		   "viewBox=\"0 0 %.0f %d\" xml:space=\"preserve\">\n"
		   "<style>\n"
		   "svg { font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, monospace; }\n"
		   "text { white-space: pre; }\n"
		   ".ground { fill: %s; } .t { fill: %s; } .r { fill: %s; } .R { fill: %s; }\n"
		   ".b { font-weight: bold; } .d { opacity: 0.6; } .u { text-decoration: "
		   "underline; }\n",
		   width, height, width, height, palette->ground, palette->ink, palette->ink,
		   palette->ground);
	for (size_t i = 0; i < ARRAY_SIZE(palette->colors); i++)
		buf_printf(out, ".c%zu { fill: %s; }\n", i, palette->colors[i]);
	buf_printf(out, "</style>\n<rect class=\"ground\" width=\"%.0f\" height=\"%d\"/>\n", width,
		   height);
}

static void put_xml(struct buf *out, const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		switch (text->data[i]) {
		case '&':
			buf_puts(out, "&amp;");
			break;
		case '<':
			buf_puts(out, "&lt;");
			break;
		case '>':
			buf_puts(out, "&gt;");
			break;
		default:
			buf_putc(out, text->data[i]);
			break;
		}
	}
}

/* The class of a colour: a number's, or, reversed, the other one of ink and ground. */
static void put_fill(struct buf *out, int color, const char *plain)
{
	if (color >= 0)
		buf_printf(out, "c%d", color);
	else
		buf_puts(out, plain);
}

static void svg_ground(struct buf *out, const struct run *run, int color)
{
	if (color < 0 && !run->style.reverse)
		return;
	buf_printf(out, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" class=\"",
		   MARGIN + run->x * CELL_WIDTH, MARGIN + run->y * CELL_HEIGHT,
		   run->columns * CELL_WIDTH, CELL_HEIGHT);
	put_fill(out, color, "r");
	buf_puts(out, "\"/>\n");
}

static bool is_blank(const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++)
		if (text->data[i] != ' ')
			return false;
	return true;
}

static void svg_run(struct buf *out, const struct run *run)
{
	const struct style *s = &run->style;

	svg_ground(out, run, s->reverse ? s->fg : s->bg);
	if (is_blank(&run->text))
		return;
	buf_printf(out, "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" class=\"",
		   MARGIN + run->x * CELL_WIDTH, MARGIN + run->y * CELL_HEIGHT + 14,
		   run->columns * CELL_WIDTH);
	put_fill(out, s->reverse ? s->bg : s->fg, s->reverse ? "R" : "t");
	buf_printf(out, "%s%s%s\">", s->bold ? " b" : "", s->dim ? " d" : "",
		   s->underline ? " u" : "");
	put_xml(out, &run->text);
	buf_puts(out, "</text>\n");
}

static void svg_end(struct buf *out)
{
	buf_puts(out, "</svg>\n");
}

/* ---- all ---- */

static const struct writer writers[PRINT_N] = {
	[PRINT_TEXT] = {"txt", "text", false, text_begin, text_run, newline, nothing},
	[PRINT_ANSI] = {"ansi", "text with colours, for cat and less -R", true, text_begin,
			ansi_run, ansi_line, nothing},
	[PRINT_SVG] = {"svg", "a picture", true, svg_begin, svg_run, nothing, svg_end},
};

const char *print_suffix(enum print_format format)
{
	return writers[format].suffix;
}

const char *print_help(enum print_format format)
{
	return writers[format].help;
}

static bool same_style(const struct style *a, const struct style *b)
{
	return a->fg == b->fg && a->bg == b->bg && a->bold == b->bold && a->dim == b->dim &&
	       a->reverse == b->reverse && a->underline == b->underline;
}

static const struct style plain = {.fg = -1, .bg = -1};

static void flush_run(const struct writer *w, struct run *run, struct buf *out)
{
	if (run->text.len)
		w->run(out, run);
	run->x += run->columns;
	run->columns = 0;
	buf_clear(&run->text);
}

/* Blanks at the end of a line are left out where nothing shows them. */
static void end_line(const struct writer *w, struct run *run, struct buf *out)
{
	if (same_style(&run->style, &plain))
		while (run->text.len && run->text.data[run->text.len - 1] == ' ') {
			run->text.len--;
			run->columns--;
		}
	flush_run(w, run, out);
	w->line(out);
}

static void print_line(struct screen *sc, const struct writer *w, int y, int cols, struct buf *out)
{
	struct run run = {.y = y, .style = plain};
	struct screen_cell cell;

	buf_init(&run.text, 0);
	for (int x = 0; x < cols; x += cell.columns) {
		screen_cell(sc, y, x, &cell);
		if (!w->colors)
			cell.style = plain;
		if (!same_style(&cell.style, &run.style))
			flush_run(w, &run, out);
		run.style = cell.style;
		run.columns += cell.columns;
		buf_puts(&run.text, cell.text);
	}
	end_line(w, &run, out);
	buf_done(&run.text);
}

int print_screen(struct tui *t, int rows, int cols, enum print_format format, struct buf *out)
{
	const struct writer *w = &writers[format];
	struct screen *sc;
	struct canvas canvas;
	int r = tui_draw_copy(t, rows, cols, NULL, &sc);

	if (r < 0)
		return r;
	canvas = screen_canvas(sc);
	w->begin(out, canvas.look, rows, cols);
	for (int y = 0; y < canvas.rows; y++)
		print_line(sc, w, y, canvas.cols, out);
	w->end(out);
	screen_close(sc);
	return out->error;
}
