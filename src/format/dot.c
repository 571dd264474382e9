/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The tree as a drawing for Graphviz. Nodes below half a percent of the whole are left out, and
 * said so: Graphviz takes minutes for some thousand. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "format/export.h"

#define DOT_LEAST    0.005 /* share of the whole */
#define DOT_NAME_MAX 60    /* characters of a name in a box */

struct dot {
	const struct session *s;
	struct export_stacks in;
	struct out *out;
	const struct metric *metric;
};

static void put_escaped(struct out *out, const struct shown *s)
{
	for (size_t i = 0; i < s->len; i++) {
		if (s->text[i] == '"' || s->text[i] == '\\')
			out_putc(out, '\\');
		out_putc(out, s->text[i]);
	}
}

/* In a quoted string only the quote and the backslash mean something; lines end in \n. Pictures are
 * for people: what cannot be shown is escaped as in a report. */
static void put_text(struct out *out, const char *text, size_t max)
{
	const char *end = text + strlen(text);
	struct shown s = {0};

	for (size_t count = 0; count < max && text < end; count++) {
		if (*text == '\n') {
			out_puts(out, "\\n");
			text++;
			continue;
		}
		text = shown_next(text, end, &s);
		put_escaped(out, &s);
	}
	if (text < end)
		out_puts(out, "…");
}

static void put_value(struct dot *d, double v)
{
	export_put_weight(d->out, v);
	if (*d->metric->unit)
		out_printf(d->out, " %s", d->metric->unit);
}

static void put_node(struct dot *d, uint32_t node)
{
	double whole = d->in.total[SESSION_ROOT];

	out_printf(d->out, "\tn%u [label=\"", node);
	put_text(d->out, export_name(&d->in.names, node), DOT_NAME_MAX);
	out_puts(d->out, "\\n");
	put_value(d, d->in.total[node]);
	if (whole > 0)
		out_printf(d->out, " (%.1f %%)", 100 * (d->in.total[node] / whole));
	out_puts(d->out, "\", tooltip=\"");
	put_text(d->out, export_name(&d->in.names, node), SIZE_MAX);
	out_printf(d->out, "\", class=\"%s\"%s];\n", frame_kind_word(session_node_kind(d->s, node)),
		   d->in.own[node] > 0 ? ", style=filled, fillcolor=\"#f4d8b8\"" : "");
}

static void put_edge(struct dot *d, uint32_t node)
{
	double whole = d->in.total[SESSION_ROOT];

	out_printf(d->out, "\tn%u -> n%u [penwidth=%.1f];\n", d->s->nodes[node].parent, node,
		   whole > 0 ? 1 + 4 * (d->in.total[node] / whole) : 1);
}

/* Is it drawn? A node weighs no more than its parent: no edge leads to nowhere. */
static bool is_drawn(const struct dot *d, uint32_t node)
{
	return !d->in.hidden[node] &&
	       (node == SESSION_ROOT || d->in.total[node] >= DOT_LEAST * d->in.total[SESSION_ROOT]);
}

static void put_graph(struct dot *d)
{
	size_t left_out = 0;

	out_puts(d->out, "digraph proton {\n\tnode [shape=box, fontname=\"monospace\"];\n");
	for (uint32_t i = 0; i < d->s->n_nodes; i++) {
		if (!is_drawn(d, i)) {
			left_out += !d->in.hidden[i];
			continue;
		}
		put_node(d, i);
		if (i != SESSION_ROOT)
			put_edge(d, i);
	}
	if (left_out)
		out_printf(d->out, "\tlabel=\"%zu nodes below %.1f %% are not drawn\";\n", left_out,
			   100 * DOT_LEAST);
	out_puts(d->out, "}\n");
}

static int dot_write(const struct session *s, const struct write_options *options, struct out *out)
{
	struct dot d = {.s = s, .out = out};
	int r = export_stacks_init(&d.in, s, options);

	if (r == 0)
		r = export_stacks_sum_up(&d.in);
	if (r == 0) {
		d.metric = derive_metric(s, d.in.metric);
		put_graph(&d);
	}
	export_stacks_done(&d.in);
	return r < 0 ? r : out->error;
}

const struct format format_dot = {
	.name = "dot",
	.suffix = ".dot",
	.help = "the tree, drawn by Graphviz",
	.write = dot_write,
};
