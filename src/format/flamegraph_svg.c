/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* A flame graph as one SVG file: the root on top, a box a calling context, as wide as what was
 * spent in it and below it. Any viewer shows the boxes that are wide enough. In a browser the
 * script draws instead, from the whole tree, which is in the file, too: it zooms on a click, down
 * to what was too narrow before, and marks what a search finds. Nothing is loaded from elsewhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/shown.h"
#include "base/strtab.h"
#include "core/graph_shares.h"
#include "format/export.h"

#define SVG_WIDTH    1200.0
#define SVG_ROW      17
#define SVG_TOP      48            /* title and search above the boxes */
#define SVG_CHAR     6.6           /* width of a character of 11 px */
#define SVG_LEAST    (1.0 / 20000) /* share of the whole below which a box is left out */

#define OTHER_COLOUR "#e0e0e0"

struct flame {
	const struct session *s;
	struct export_stacks in;
	struct out *out;
	const struct metric *metric;
	double *at; /* left edge of each box, in units of the metric */
	uint32_t *depth;
	uint32_t deepest;
	size_t left_out;
	struct buf name;
};

/* Colours of kinds; what has none of its own is grey. */
static const struct {
	uint8_t kind;
	const char *colour;
} colours[] = {
	{FRAME_ROOT, "#d0d0d0"},     {FRAME_SCOPE, "#8cc4e8"},      {FRAME_STATE, "#8cc4e8"},
	{FRAME_NVTX, "#a5d59a"},     {FRAME_PYTHON, "#f2d679"},     {FRAME_MODULE, "#a5d59a"},
	{FRAME_OPERATOR, "#f2d679"}, {FRAME_NATIVE, "#d9c2a7"},     {FRAME_KERNEL, "#f0936b"},
	{FRAME_COPY, "#c6a4dc"},     {FRAME_SET, "#dcb6d3"},        {FRAME_GRAPH, "#9fd8cf"},
	{FRAME_LINE, "#f3b48f"},     {FRAME_INSTRUMENT, "#f3b48f"}, {FRAME_GRAPH_RUN, "#f0936b"},
};

static const char script[] =
#include "format/flamegraph_js.h" // flamegraph.js, by the build
	;

static const char *colour_of(uint8_t kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(colours); i++)
		if (colours[i].kind == kind)
			return colours[i].colour;
	return OTHER_COLOUR;
}

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\n':
	case '\t':
		return " ";
	}
	return NULL;
}

/* XML 1.0 has no control characters, no U+FFFE and no U+FFFF, not even escaped: all of these are
 * among what is never shown as itself. */
static void put_xml(struct out *out, const char *text, size_t max)
{
	const char *end = text + strlen(text);
	struct shown s = {0};

	for (; max > 0 && text < end; max--) {
		const char *whole = entity(*text);

		if (whole)
			text++;
		else
			text = shown_next(text, end, &s);
		if (whole)
			out_puts(out, whole);
		else
			out_put(out, s.text, s.len);
	}
}

static size_t count_chars(const char *text)
{
	const char *end = text + strlen(text), *c;
	size_t n = 0;

	while (export_text_next(&text, end, &c) > 0)
		n++;
	return n;
}

/* What is not measured is marked as in our own tables. Valid until the next call. */
static const char *name_of(struct flame *f, uint32_t node)
{
	const char *name = export_name(&f->in.names, node);

	if (!graph_shares_is_estimated(f->s, node))
		return name;
	buf_clear(&f->name);
	buf_puts(&f->name, "~ ");
	buf_puts(&f->name, name);
	return f->name.error ? name : buf_str(&f->name);
}

static void put_title(struct flame *f, uint32_t node, const char *name)
{
	out_puts(f->out, "<title>");
	put_xml(f->out, name, SIZE_MAX);
	out_puts(f->out, ": ");
	export_put_weight(f->out, f->in.total[node]);
	if (*f->metric->unit) {
		out_putc(f->out, ' ');
		put_xml(f->out, f->metric->unit, SIZE_MAX);
	}
	out_printf(f->out, " (%.2f %%)</title>",
		   100 * (f->in.total[node] / f->in.total[SESSION_ROOT]));
}

static void put_label(struct flame *f, const char *name, double x, double width, uint32_t y)
{
	size_t room = width > 6 ? (size_t)((width - 6) / SVG_CHAR) : 0, n = count_chars(name);

	out_printf(f->out, "<text x=\"%.2f\" y=\"%u\">", x + 3, y + 12);
	if (room >= 3) {
		put_xml(f->out, name, n <= room ? room : room - 1);
		if (n > room)
			out_puts(f->out, "…");
	}
	out_puts(f->out, "</text>");
}

static void put_box(struct flame *f, uint32_t node)
{
	double whole = f->in.total[SESSION_ROOT];
	double x = f->at[node] / whole, w = f->in.total[node] / whole;
	uint32_t y = SVG_TOP + f->depth[node] * SVG_ROW;
	const char *name = name_of(f, node);
	uint8_t kind = (uint8_t)session_node_kind(f->s, node);

	out_printf(f->out,
		   "<g class=\"b %s\" data-x=\"%.9g\" data-w=\"%.9g\" data-d=\"%u\" data-n=\"",
		   frame_kind_word(kind), x, w, f->depth[node]);
	put_xml(f->out, name, SIZE_MAX);
	out_puts(f->out, "\">");
	put_title(f, node, name);
	out_printf(f->out, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" fill=\"%s\"/>",
		   x * SVG_WIDTH, y, w * SVG_WIDTH, SVG_ROW - 1, colour_of(kind));
	put_label(f, name, x * SVG_WIDTH, w * SVG_WIDTH, y);
	out_puts(f->out, "</g>\n");
}

static bool is_shown(const struct flame *f, uint32_t node)
{
	return f->in.total[node] > 0 && f->in.total[node] >= SVG_LEAST * f->in.total[SESSION_ROOT];
}

/* Children stand side by side in their order, from their parent's left edge on. f->in.own holds
 * where the next child of a node goes. */
static void lay_out(struct flame *f)
{
	f->at[SESSION_ROOT] = f->in.own[SESSION_ROOT] = 0;
	f->depth[SESSION_ROOT] = 0;
	for (uint32_t i = 1; i < f->s->n_nodes; i++) {
		uint32_t p = f->s->nodes[i].parent;

		f->at[i] = f->in.own[i] = f->in.own[p];
		f->in.own[p] = export_sum(f->in.own[p], f->in.total[i]);
		f->depth[i] = f->depth[p] + 1;
		if (is_shown(f, i))
			f->deepest = MAX(f->deepest, f->depth[i]);
		else
			f->left_out += f->in.total[i] > 0;
	}
}

static void put_head(struct flame *f)
{
	uint32_t height = SVG_TOP + (f->deepest + 1) * SVG_ROW + 24;

	out_puts(f->out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n");
	out_printf(f->out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" "
		   "height=\"%u\" viewBox=\"0 0 %.0f %u\" data-unit=\"",
		   SVG_WIDTH, height, SVG_WIDTH, height);
	put_xml(f->out, f->metric->unit, SIZE_MAX);
	out_puts(f->out, "\">\n");
	out_puts(
		f->out,
		"<style>text{font:11px monospace;pointer-events:none}"
		"g.b{cursor:pointer}g.b rect{stroke:#fff;stroke-width:0.5}g.hit rect{stroke:#b000b0;stroke-width:2}"
		"#find,#all{cursor:pointer;pointer-events:all;text-decoration:underline}"
		"</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
		"<text x=\"6\" y=\"18\">");
	put_xml(f->out, session_text(f->s, f->s->source), 100);
	out_puts(f->out, " — ");
	put_xml(f->out, f->metric->name, SIZE_MAX);
	out_puts(f->out, "</text>\n<text id=\"all\" x=\"1040\" y=\"18\">show all</text>"
			 "<text id=\"find\" x=\"1120\" y=\"18\">search</text>\n"
			 "<text id=\"note\" x=\"6\" y=\"38\"></text>\n");
}

static int colour_index(uint8_t kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(colours); i++)
		if (colours[i].kind == kind)
			return (int)i;
	return ARRAY_SIZE(colours);
}

/* Names once each, then four numbers a calling context that has a value: how many of these its
 * parent is before it, name, colour, value. */
static int put_tree(struct flame *f)
{
	struct strtab *names = strtab_new();
	uint32_t *number = calloc(f->s->n_nodes, sizeof(*number)), n = 0, name;
	int r = names && number ? 0 : -ENOMEM;

	out_puts(f->out, "<metadata id=\"colours\">");
	for (size_t i = 0; i < ARRAY_SIZE(colours); i++)
		out_printf(f->out, "%s ", colours[i].colour);
	out_puts(f->out, OTHER_COLOUR "</metadata>\n<metadata id=\"nodes\">");
	for (uint32_t i = 0; r == 0 && i < f->s->n_nodes; i++) {
		if (!(f->in.total[i] > 0))
			continue;
		name = strtab_adds(names, name_of(f, i));
		r = name == STRTAB_NONE ? -ENOMEM : 0;
		number[i] = n++;
		out_printf(f->out, "%u %u %d ", i ? number[i] - number[f->s->nodes[i].parent] : 0,
			   name, colour_index((uint8_t)session_node_kind(f->s, i)));
		export_put_weight(f->out, f->in.total[i]);
		out_putc(f->out, ' ');
	}
	out_puts(f->out, "</metadata>\n<metadata id=\"names\">");
	for (uint32_t i = 0; r == 0 && i < strtab_count(names); i++) {
		if (i)
			out_putc(f->out, '\n');
		put_xml(f->out, strtab_str(names, i), SIZE_MAX);
	}
	out_puts(f->out, "</metadata>\n");
	strtab_free(names);
	free(number);
	return r;
}

static int put_foot(struct flame *f)
{
	uint32_t y = SVG_TOP + (f->deepest + 1) * SVG_ROW + 16;
	int r;

	out_printf(f->out, "<text id=\"foot\" x=\"6\" y=\"%u\">", y);
	if (!(f->in.total[SESSION_ROOT] > 0))
		out_puts(f->out, "nothing was measured");
	else if (f->left_out)
		out_printf(f->out, "%zu boxes below %.3f %% are left out", f->left_out,
			   100 * SVG_LEAST);
	out_puts(f->out, "</text>\n");
	if (f->in.total[SESSION_ROOT] > 0) { /* else there is nothing to click on */
		r = put_tree(f);
		if (r < 0)
			return r;
		out_printf(f->out, "<script><![CDATA[\n%s]]></script>\n", script);
	}
	out_puts(f->out, "</svg>\n");
	return 0;
}

static int put_picture(struct flame *f)
{
	lay_out(f);
	put_head(f);
	for (uint32_t i = 0; i < f->s->n_nodes; i++)
		if (is_shown(f, i))
			put_box(f, i);
	return put_foot(f);
}

static int flamegraph_write(const struct session *s, const struct write_options *options,
			    struct out *out)
{
	struct flame f = {.s = s, .out = out};
	int r = export_stacks_init(&f.in, s, options);

	if (r == 0)
		r = export_stacks_sum_up(&f.in);
	f.at = malloc(s->n_nodes * sizeof(*f.at));
	f.depth = malloc(s->n_nodes * sizeof(*f.depth));
	if (r == 0 && (!f.at || !f.depth))
		r = -ENOMEM;
	if (r == 0) {
		f.metric = derive_metric(s, f.in.metric);
		r = put_picture(&f);
	}
	export_stacks_done(&f.in);
	buf_done(&f.name);
	free(f.at);
	free(f.depth);
	return r < 0 ? r : out->error;
}

const struct format format_flamegraph = {
	.name = "flamegraph",
	.suffix = ".svg",
	.help = "a flame graph for a browser, in one file",
	.write = flamegraph_write,
};
