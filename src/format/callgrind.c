/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The profile format of Callgrind, for KCachegrind and callgrind_annotate: functions, their own costs, and
 * who calls whom. It knows no calling contexts: those of one function are added up there.
 *
 *     events: time count            all metrics that add up, in whole numbers
 *     fn=(3) forward                a frame; (3) alone when it comes again
 *     0 120 2                       line, own costs
 *     cfn=(4) gemm
 *     calls=7 0                     executions of the callee here
 *     0 98000 7                     line, its inclusive costs */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/export.h"

struct callgrind {
	const struct session *s;
	struct out *out;
	struct export_names names;
	struct export_weights own;
	uint64_t **total; /* of each metric, costs by node with those of all below it */
	uint8_t *named;   /* by frame: its name stands in the file */
	uint8_t *filed;   /* by string: the name of the file does */
};

/* ---- names ---- */

/* A name ends with its line, and one that begins with blanks loses them: a number with nothing but
 * blanks behind it would be a name that was given before. */
static void put_text(struct callgrind *x, const char *text)
{
	const char *end = text + strlen(text), *c;
	size_t n;

	while ((unsigned char)*text - 1u < ' ')
		text++;
	if (!*text)
		out_puts(x->out, "<unnamed>");
	while ((n = export_text_next(&text, end, &c)) > 0) {
		if (n == 1 && (unsigned char)*c < ' ')
			out_putc(x->out, ' ');
		else
			out_put(x->out, c, n);
	}
}

/* Something with a number: its text comes with it the first time. */
static void put_numbered(struct callgrind *x, uint8_t *seen, const char *key, uint32_t id,
			 const char *text)
{
	out_printf(x->out, "%s=(%u)", key, id + 1);
	if (!seen[id]) {
		out_putc(x->out, ' ');
		put_text(x, text);
	}
	seen[id] = 1;
	out_putc(x->out, '\n');
}

static void put_function(struct callgrind *x, const char *key, uint32_t node)
{
	put_numbered(x, x->named, key, x->s->nodes[node].frame, export_name(&x->names, node));
}

/* String 0 is "", which is no file: that of frames without one. */
static void put_file(struct callgrind *x, const char *key, uint32_t node)
{
	uint32_t file = x->s->frames[x->s->nodes[node].frame].file;

	put_numbered(x, x->filed, key, file, file ? session_text(x->s, file) : "???");
}

static uint32_t line_of(const struct callgrind *x, uint32_t node)
{
	return x->s->frames[x->s->nodes[node].frame].line;
}

/* ---- events ---- */

/* Costs have a sign in some readers. */
static uint64_t limit(uint64_t cost)
{
	return MIN(cost, (uint64_t)INT64_MAX);
}

/* Sums are those of what is written. NULL: no memory. */
static uint64_t *sum_up(const struct session *s, const uint64_t *own)
{
	uint64_t *total = malloc(s->n_nodes * sizeof(*total));

	if (!total)
		return NULL;
	memcpy(total, own, s->n_nodes * sizeof(*total));
	for (size_t i = s->n_nodes; i-- > 1;) {
		uint64_t *up = &total[s->nodes[i].parent];

		*up = limit(*up + total[i]);
	}
	return total;
}

static int sum_up_all(struct callgrind *x)
{
	x->total = calloc(x->own.n, sizeof(*x->total));
	for (size_t i = 0; x->total && i < x->own.n; i++) {
		x->total[i] = sum_up(x->s, x->own.v[i].whole);
		if (!x->total[i])
			return -ENOMEM;
	}
	return x->total ? 0 : -ENOMEM;
}

static const struct metric *metric_of(const struct callgrind *x, size_t i)
{
	return derive_metric(x->s, x->own.v[i].metric);
}

/* A built-in metric without its unit is a word, and no other event has this name: a metric of the
 * profile's own has its number behind it. The flops of any width are the only event. */
static void put_event(struct callgrind *x, size_t i)
{
	uint32_t metric = x->own.v[i].metric;
	const char *name = metric_of(x, i)->name;
	size_t len = metric_bare_len(name);

	if (!len || isdigit((unsigned char)*name))
		out_putc(x->out, '_');
	for (size_t k = 0; k < len; k++)
		out_putc(x->out, isalnum((unsigned char)name[k]) ? name[k] : '_');
	if (metric >= METRIC_N_BUILTIN && metric != METRIC_ANY_FLOPS)
		out_printf(x->out, "_%u", metric);
}

static void put_costs(struct callgrind *x, uint32_t line, uint32_t node, bool inclusive)
{
	out_printf(x->out, "%u", line);
	for (size_t i = 0; i < x->own.n; i++)
		out_printf(x->out, " %" PRIu64,
			   inclusive ? x->total[i][node] : x->own.v[i].whole[node]);
	out_putc(x->out, '\n');
}

/* ---- the file ---- */

static void put_head(struct callgrind *x)
{
	char scale[EXPORT_SCALE_MAX];

	out_puts(x->out, "# callgrind format\nversion: 1\ncreator: proton " PACKAGE_VERSION "\n");
	if (x->s->n_processes && x->s->processes[0].cmdline) {
		out_puts(x->out, "cmd: ");
		put_text(x, session_text(x->s, x->s->processes[0].cmdline));
		out_putc(x->out, '\n');
	}
	out_puts(x->out, "positions: line\n");
	for (size_t i = 0; i < x->own.n; i++) {
		out_puts(x->out, "event: ");
		put_event(x, i);
		out_puts(x->out, " : ");
		put_text(x, metric_of(x, i)->name);
		if (x->own.v[i].decimals)
			out_printf(x->out, ", in units of %s", export_scale(&x->own.v[i], scale));
		out_putc(x->out, '\n');
	}
	out_puts(x->out, "events:");
	for (size_t i = 0; i < x->own.n; i++) {
		out_putc(x->out, ' ');
		put_event(x, i);
	}
	out_puts(x->out, "\nsummary:");
	for (size_t i = 0; i < x->own.n; i++)
		out_printf(x->out, " %" PRIu64, x->total[i][SESSION_ROOT]);
	out_puts(x->out, "\n");
}

/* Executions, or how often a scope was entered. */
static unsigned long long calls_of(const struct callgrind *x, uint32_t node)
{
	union metric_value v;

	if (session_value(x->s, node, METRIC_COUNT, &v) && v.u64)
		return v.u64;
	return session_value(x->s, node, METRIC_CPU_COUNT, &v) && v.u64 ? v.u64 : 1;
}

static void put_call(struct callgrind *x, uint32_t caller, uint32_t callee)
{
	put_file(x, "cfi", callee);
	put_function(x, "cfn", callee);
	out_printf(x->out, "calls=%llu %u\n", calls_of(x, callee), line_of(x, callee));
	put_costs(x, line_of(x, caller), callee, true);
}

static void put_node(struct callgrind *x, uint32_t node)
{
	const uint8_t *hidden = x->own.v[0].hidden; /* the same for all */
	uint32_t child = x->s->nodes[node].first_child;

	if (hidden[node])
		return;
	out_putc(x->out, '\n');
	put_file(x, "fl", node);
	put_function(x, "fn", node);
	put_costs(x, line_of(x, node), node, false);
	for (; child != SESSION_NONE; child = x->s->nodes[child].next_sibling)
		if (!hidden[child])
			put_call(x, node, child);
}

static int put_all(struct callgrind *x)
{
	x->named = calloc(x->s->n_frames + 1u, 1);
	x->filed = calloc(strtab_count(x->s->strings) + 1u, 1);
	if (!x->named || !x->filed)
		return -ENOMEM;
	put_head(x);
	for (uint32_t i = 0; i < x->s->n_nodes; i++)
		put_node(x, i);
	return 0;
}

static int callgrind_write(const struct session *s, const struct write_options *options,
			   struct out *out)
{
	struct callgrind x = {.s = s, .out = out};
	int r = export_weights_init(&x.own, s, options);

	if (r == 0)
		r = export_weights_round(&x.own, INT64_MAX);
	if (r == 0)
		r = sum_up_all(&x);
	if (r == 0)
		r = export_names_init(&x.names, s, options);
	if (r == 0) {
		r = put_all(&x);
		export_names_done(&x.names);
	}
	for (size_t i = 0; x.total && i < x.own.n; i++)
		free(x.total[i]);
	free(x.total);
	export_weights_done(&x.own);
	free(x.named);
	free(x.filed);
	return r < 0 ? r : out->error;
}

const struct format format_callgrind = {
	.name = "callgrind",
	.suffix = ".callgrind",
	.names = NAME_DEMANGLED,
	.help = "who calls whom, for KCachegrind and callgrind_annotate",
	.write = callgrind_write,
};
