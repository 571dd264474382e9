/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "format/sheet.h"
#include <math.h>
#include <string.h>
#include "base/shown.h"
#include "format/export.h"

struct sheet_form {
	/* Puts one field, quoted or escaped. */
	void (*put)(struct out *out, const char *text, size_t len);
	const char *before, *between, *after; /* of a row */
	bool has_rule;
};

/* ---- CSV ---- */

static void put_valid(struct out *out, const char *text, size_t len, char twice)
{
	const char *end = text + len, *c;
	size_t n;

	while ((n = export_text_next(&text, end, &c)) > 0) {
		if (*c == twice)
			out_putc(out, twice);
		out_put(out, c, n);
	}
}

static bool needs_quotes(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr(",\"\r\n", text[i])) /* NUL too */
			return true;
	return len && (text[0] == ' ' || text[len - 1] == ' ');
}

static void put_csv(struct out *out, const char *text, size_t len)
{
	bool quotes = needs_quotes(text, len);

	if (quotes)
		out_putc(out, '"');
	put_valid(out, text, len, '"');
	if (quotes)
		out_putc(out, '"');
}

const struct sheet_form sheet_csv = {.put = put_csv, .before = "", .between = ",", .after = "\r\n"};

/* ---- Markdown ---- */

static void put_escaped(struct out *out, const struct shown *s)
{
	for (size_t i = 0; i < s->len; i++) {
		if (s->text[i] && strchr("|\\`*_[]~", s->text[i]))
			out_putc(out, '\\');
		out_putc(out, s->text[i]);
	}
}

/* Escapes what would end a cell, start markup or be taken for HTML. Markdown is read by people:
 * control characters are shown as in a report, while CSV keeps them. */
static void put_markdown(struct out *out, const char *text, size_t len)
{
	const char *end = text + len;
	struct shown s = {0};

	while (text < end) {
		if (*text == '\n' || *text == '\r') {
			out_puts(out, "<br>");
			text++;
			continue;
		}
		text = shown_next(text, end, &s);
		if (*s.text == '<')
			out_puts(out, "&lt;");
		else if (*s.text == '&')
			out_puts(out, "&amp;");
		else
			put_escaped(out, &s);
	}
}

const struct sheet_form sheet_markdown = {
	.put = put_markdown, .before = "| ", .between = " | ", .after = " |\n", .has_rule = true};

/* ---- lines ---- */

void sheet_next(struct sheet *t)
{
	out_puts(t->out, t->n++ ? t->form->between : t->form->before);
}

void sheet_word(struct sheet *t, const char *text)
{
	sheet_next(t);
	t->form->put(t->out, text, strlen(text));
}

void sheet_number(struct sheet *t, double v)
{
	sheet_next(t);
	if (v == round(v) && fabs(v) < 0x1p64)
		out_printf(t->out, "%.0f", v);
	else if (isfinite(v))
		export_put_weight(t->out, v);
}

void sheet_index(struct sheet *t, uint32_t v)
{
	sheet_next(t);
	if (v != SESSION_NONE)
		out_printf(t->out, "%u", v);
}

void sheet_rule(struct sheet *t, bool is_text)
{
	if (!t->form->has_rule)
		return;
	sheet_next(t);
	out_puts(t->out, is_text ? ":---" : "---:");
}

void sheet_end(struct sheet *t)
{
	if (t->n)
		out_puts(t->out, t->form->after);
	t->n = 0;
}
