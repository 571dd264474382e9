/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Tables of all nodes, one row a node: CSV as RFC 4180 has it, and a table of Markdown. Columns are
 * all metrics of the profile, to the last digit, or those that were asked for. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "format/asked.h"
#include "format/export.h"
#include "format/folded.h"

struct table {
	const struct session *s;
	struct out *out;
	struct export_names names;
	struct export_column *columns; /* either these */
	size_t n_columns;
	struct asked asked; /* or these */
	uint32_t most;      /* names of a path */
	/* Put one field, quoted or escaped. */
	void (*put)(struct out *out, const char *text, size_t len);
	const char *before, *between, *after; /* of a row */
};

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

static void put_word(struct table *t, const char *text)
{
	t->put(t->out, text, strlen(text));
}

static void put_next(struct table *t, const char *text)
{
	out_puts(t->out, t->between);
	put_word(t, text);
}

/* ---- the header ---- */

struct header {
	struct table *t;
	struct strtab *titles; /* that stand there already */
	size_t n;              /* of these */
	struct buf title;
	int error; /* 0 or -ENOMEM, which only the end asks for */
};

/* Readers find a column by its title: a second one of the same title is "title #2". */
static void put_title(struct header *h, const char *title)
{
	uint32_t n = strtab_count(h->titles);

	buf_clear(&h->title);
	buf_puts(&h->title, title);
	for (unsigned k = 2; !h->error && strtab_count(h->titles) == n; k++) {
		if (h->title.error || strtab_adds(h->titles, buf_str(&h->title)) == STRTAB_NONE)
			h->error = -ENOMEM;
		if (strtab_count(h->titles) > n)
			break;
		buf_clear(&h->title);
		buf_printf(&h->title, "%s #%u", title, k);
	}
	out_puts(h->t->out, h->n++ ? h->t->between : h->t->before);
	put_word(h->t, buf_str(&h->title));
}

static void put_metric_titles(struct header *h, const struct metric *m)
{
	_cleanup_(buf_done) struct buf title = {0};

	put_title(h, m->name);
	if (m->scope != METRIC_INCLUSIVE)
		return;
	buf_printf(&title, "%s [inclusive]", m->name);
	put_title(h, buf_str(&title));
	h->error = title.error ? title.error : h->error;
}

static int put_header(struct table *t)
{
	static const char *const words[] = {"id", "parent", "depth", "kind", "name", "path"};
	struct header h = {.t = t, .titles = strtab_new()};

	if (!h.titles)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		put_title(&h, words[i]);
	for (size_t i = 0; i < t->n_columns; i++)
		put_metric_titles(&h, metric_table_get(t->s->metrics, t->columns[i].metric));
	for (size_t i = 0; i < t->asked.n; i++)
		put_title(&h, t->asked.columns[i].title);
	out_puts(t->out, t->after);
	buf_done(&h.title);
	strtab_free(h.titles);
	return h.error;
}

/* ---- rows ---- */

static void put_cell(struct table *t, const struct export_column *c, uint32_t node, bool inclusive)
{
	const struct metric *m = metric_table_get(t->s->metrics, c->metric);
	union metric_value v = inclusive ? c->inclusive[node] : c->own[node];

	out_puts(t->out, t->between);
	if (!(c->has[node] & (inclusive ? EXPORT_INCLUSIVE : EXPORT_OWN)))
		return;
	if (m->type == METRIC_TEXT)
		put_word(t, session_text(t->s, v.text));
	else
		export_put_value(t->out, t->s, c->metric, v);
}

static void put_asked(struct table *t, size_t column, uint32_t node)
{
	double v = asked_value(&t->asked, column, node);

	out_puts(t->out, t->between);
	if (t->asked.columns[column].spec.form == FORM_WORD)
		put_word(t, asked_word(&t->asked, column, node));
	else if (v == round(v) && fabs(v) < 0x1p64)
		out_printf(t->out, "%.0f", v);
	else if (isfinite(v))
		export_put_weight(t->out, v);
}

static void put_node(struct table *t, uint32_t node, uint32_t depth, const char *path)
{
	const struct session_node *n = &t->s->nodes[node];

	out_printf(t->out, "%s%u%s", t->before, node, t->between);
	if (n->parent != SESSION_NONE)
		out_printf(t->out, "%u", n->parent);
	out_printf(t->out, "%s%u", t->between, depth);
	put_next(t, frame_kind_word(session_node_kind(t->s, node)));
	put_next(t, export_name(&t->names, node));
	put_next(t, path);
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct export_column *c = &t->columns[i];

		put_cell(t, c, node, false);
		if (metric_table_get(t->s->metrics, c->metric)->scope == METRIC_INCLUSIVE)
			put_cell(t, c, node, true);
	}
	for (size_t i = 0; i < t->asked.n; i++)
		put_asked(t, i, node);
	out_puts(t->out, t->after);
}

static int put_nodes(struct table *t)
{
	struct export_path path = {0};
	struct buf text;
	int r = 0;

	buf_init(&text, 0);
	for (uint32_t i = 0; r == 0 && i < t->s->n_nodes; i++) {
		buf_clear(&text);
		r = folded_path(&t->names, i, t->most, &path, &text);
		if (r == 0)
			put_node(t, i, i == SESSION_ROOT ? 0 : (uint32_t)path.n, buf_str(&text));
	}
	buf_done(&text);
	free(path.nodes);
	return r;
}

/* The line below the header: text to the left, numbers to the right. */
static void put_rule(struct table *t)
{
	out_puts(t->out, "| ---: | ---: | ---: | :--- | :--- | :--- |");
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct metric *m = metric_table_get(t->s->metrics, t->columns[i].metric);

		out_puts(t->out, m->type == METRIC_TEXT ? " :--- |" : " ---: |");
		if (m->scope == METRIC_INCLUSIVE)
			out_puts(t->out, " ---: |");
	}
	for (size_t i = 0; i < t->asked.n; i++)
		out_puts(t->out,
			 t->asked.columns[i].spec.form == FORM_WORD ? " :--- |" : " ---: |");
	out_putc(t->out, '\n');
}

static int write_table(struct table *t, const struct write_options *options, bool rule)
{
	int r = export_names_init(&t->names, t->s, options);

	if (r == 0)
		r = options && options->metric ? asked_make(&t->asked, t->s, options)
					       : export_columns(t->s, &t->columns, &t->n_columns);
	if (r == 0)
		r = export_paths_limit(t->s, options ? options->notes : NULL, &t->most);
	if (r == 0)
		r = put_header(t);
	if (r == 0) {
		if (rule)
			put_rule(t);
		r = put_nodes(t);
	}
	export_columns_free(t->columns, t->n_columns);
	asked_done(&t->asked);
	export_names_done(&t->names);
	return r < 0 ? r : t->out->error;
}

static int write_csv(const struct session *s, const struct write_options *options, struct out *out)
{
	struct table t = {
		.s = s, .out = out, .put = put_csv, .before = "", .between = ",", .after = "\r\n"};

	return write_table(&t, options, false);
}

static int write_markdown(const struct session *s, const struct write_options *options,
			  struct out *out)
{
	struct table t = {.s = s,
			  .out = out,
			  .put = put_markdown,
			  .before = "| ",
			  .between = " | ",
			  .after = " |\n"};

	return write_table(&t, options, true);
}

const struct format format_csv = {
	.name = "csv",
	.suffix = ".csv",
	.names = NAME_DEMANGLED,
	.has_columns = true,
	.write = write_csv,
};

const struct format format_markdown = {
	.name = "markdown",
	.suffix = ".md",
	.names = NAME_DEMANGLED,
	.has_columns = true,
	.help = "one row a node, all metrics exclusive and inclusive",
	.write = write_markdown,
};
