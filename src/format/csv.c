/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Tables of all nodes, one row a node, as CSV or Markdown (format/sheet.h). Columns are all metrics of the
 * profile, to the last digit, or those that were asked for. */
#include <errno.h>
#include <stdlib.h>

#include "format/asked.h"
#include "format/export.h"
#include "format/folded.h"
#include "format/sheet.h"
#include "format/tables.h"

struct table {
	const struct session *s;
	struct sheet sheet;
	struct export_names names;
	struct export_column *columns; /* either these */
	size_t n_columns;
	struct asked asked; /* or these */
	uint32_t most;      /* names of a path */
};

/* ---- the header ---- */

struct header {
	struct table *t;
	struct strtab *titles; /* that stand there already */
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
	sheet_word(&h->t->sheet, buf_str(&h->title));
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

/* What stands before the metrics. */
static const struct word_title {
	const char *title;
	bool is_text;
} words[] = {{"id"}, {"parent"}, {"depth"}, {"kind", true}, {"name", true}, {"path", true}};

static int put_header(struct table *t)
{
	struct header h = {.t = t, .titles = strtab_new()};

	if (!h.titles)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		put_title(&h, words[i].title);
	for (size_t i = 0; i < t->n_columns; i++)
		put_metric_titles(&h, metric_table_get(t->s->metrics, t->columns[i].metric));
	for (size_t i = 0; i < t->asked.n; i++)
		put_title(&h, t->asked.columns[i].title);
	sheet_end(&t->sheet);
	buf_done(&h.title);
	strtab_free(h.titles);
	return h.error;
}

/* ---- rows ---- */

static void put_cell(struct table *t, const struct export_column *c, uint32_t node, bool inclusive)
{
	const struct metric *m = metric_table_get(t->s->metrics, c->metric);
	union metric_value v = inclusive ? c->inclusive[node] : c->own[node];
	bool has = c->has[node] & (inclusive ? EXPORT_INCLUSIVE : EXPORT_OWN);

	if (has && m->type == METRIC_TEXT) {
		sheet_word(&t->sheet, session_text(t->s, v.text));
		return;
	}
	sheet_next(&t->sheet);
	if (has)
		export_put_value(t->sheet.out, t->s, c->metric, v);
}

static void put_asked(struct table *t, size_t column, uint32_t node)
{
	if (t->asked.columns[column].spec.form == FORM_WORD)
		sheet_word(&t->sheet, asked_word(&t->asked, column, node));
	else
		sheet_number(&t->sheet, asked_value(&t->asked, column, node));
}

static void put_node(struct table *t, uint32_t node, uint32_t depth, const char *path)
{
	const struct session_node *n = &t->s->nodes[node];

	sheet_index(&t->sheet, node);
	sheet_index(&t->sheet, n->parent);
	sheet_index(&t->sheet, depth);
	sheet_word(&t->sheet, frame_kind_word(session_node_kind(t->s, node)));
	sheet_word(&t->sheet, export_name(&t->names, node));
	sheet_word(&t->sheet, path);
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct export_column *c = &t->columns[i];

		put_cell(t, c, node, false);
		if (metric_table_get(t->s->metrics, c->metric)->scope == METRIC_INCLUSIVE)
			put_cell(t, c, node, true);
	}
	for (size_t i = 0; i < t->asked.n; i++)
		put_asked(t, i, node);
	sheet_end(&t->sheet);
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

/* The line below the header. */
static void put_rule(struct table *t)
{
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		sheet_rule(&t->sheet, words[i].is_text);
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct metric *m = metric_table_get(t->s->metrics, t->columns[i].metric);

		sheet_rule(&t->sheet, m->type == METRIC_TEXT);
		if (m->scope == METRIC_INCLUSIVE)
			sheet_rule(&t->sheet, false);
	}
	for (size_t i = 0; i < t->asked.n; i++)
		sheet_rule(&t->sheet, t->asked.columns[i].spec.form == FORM_WORD);
	sheet_end(&t->sheet);
}

static int write_contexts(const struct sheet_form *form, const struct session *s,
			  const struct write_options *options, struct out *out)
{
	struct table t = {.s = s, .sheet = {form, out}};
	int r = export_names_init(&t.names, s, options);

	if (r == 0)
		r = options && options->metric ? asked_make(&t.asked, s, options)
					       : export_columns(s, &t.columns, &t.n_columns);
	if (r == 0)
		r = export_paths_limit(s, options ? options->notes : NULL, &t.most);
	if (r == 0)
		r = put_header(&t);
	if (r == 0) {
		put_rule(&t);
		r = put_nodes(&t);
	}
	export_columns_free(t.columns, t.n_columns);
	asked_done(&t.asked);
	export_names_done(&t.names);
	return r < 0 ? r : out->error;
}

static int write_any(const struct sheet_form *form, const struct session *s,
		     const struct write_options *options, struct out *out)
{
	struct sheet sheet = {form, out};
	int r;

	if (!options || options->table == WRITE_CONTEXTS)
		return write_contexts(form, s, options, out);
	r = tables_write(&sheet, s, options->table);
	return r < 0 ? r : out->error;
}

static int write_csv(const struct session *s, const struct write_options *options, struct out *out)
{
	return write_any(&sheet_csv, s, options, out);
}

static int write_markdown(const struct session *s, const struct write_options *options,
			  struct out *out)
{
	return write_any(&sheet_markdown, s, options, out);
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
	.help = "one row a node, with all metrics; or other tables",
	.write = write_markdown,
};
