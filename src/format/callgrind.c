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

struct event {
	struct export_stacks weights; /* names are in `names` below */
	uint64_t *own, *total;        /* costs by node */
};

struct callgrind {
	const struct session *s;
	struct out *out;
	struct export_names names;
	struct event *events;
	size_t n, cap;
	uint8_t *named; /* by frame: its name stands in the file */
	uint8_t *filed; /* by string: the name of the file does */
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

/* Sums are those of what is written. */
static int sum_up(struct event *e)
{
	const struct session *s = e->weights.s;

	e->own = e->weights.whole;
	e->total = malloc(s->n_nodes * sizeof(*e->total));
	if (!e->total)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_nodes; i++)
		e->total[i] = e->own[i] = limit(e->own[i]);
	for (size_t i = s->n_nodes; i-- > 1;) {
		uint64_t *up = &e->total[s->nodes[i].parent];

		*up = limit(*up + e->total[i]);
	}
	return 0;
}

static void event_done(struct event *e)
{
	export_stacks_done(&e->weights);
	free(e->total);
}

/* 0; -ENOMEM; -EINVAL: it does not add up. */
static int add_event(struct callgrind *x, uint32_t metric, const struct write_options *options)
{
	struct event *e;
	int r;

	if (ARRAY_ROOM(x->events, x->cap, x->n + 1) < 0)
		return -ENOMEM;
	e = &x->events[x->n];
	*e = (struct event){0};
	r = export_stacks_weigh(&e->weights, x->s, metric, options);
	if (r == 0)
		r = export_stacks_round(&e->weights, INT64_MAX);
	if (r == 0)
		r = sum_up(e);
	if (r < 0)
		event_done(e);
	else
		x->n++;
	return r;
}

/* The metric that was asked for, or all that some row has and that add up. 0, -EINVAL or -ENOMEM. */
static int choose_events(struct callgrind *x, const struct write_options *options)
{
	_cleanup_(freep) uint8_t *has = export_occurring(x->s);
	uint32_t n = metric_table_count(x->s->metrics);
	int r = 0;

	if (options && options->metric)
		return add_event(x, export_metric(x->s, options), options);
	if (!has)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && r != -ENOMEM; i++)
		if (has[i])
			r = add_event(x, i, options);
	if (r != -ENOMEM && x->n == 0)
		r = add_event(x, METRIC_TIME, options); /* of which there is none */
	return r == -ENOMEM || x->n == 0 ? r : 0;
}

static const struct metric *metric_of(const struct callgrind *x, size_t i)
{
	return derive_metric(x->s, x->events[i].weights.metric);
}

/* A built-in metric without its unit is a word, and no other event has this name: a metric of the
 * profile's own has its number behind it. The flops of any width are the only event. */
static void put_event(struct callgrind *x, size_t i)
{
	uint32_t metric = x->events[i].weights.metric;
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
	for (size_t i = 0; i < x->n; i++) {
		const struct event *e = &x->events[i];

		out_printf(x->out, " %" PRIu64, inclusive ? e->total[node] : e->own[node]);
	}
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
	for (size_t i = 0; i < x->n; i++) {
		out_puts(x->out, "event: ");
		put_event(x, i);
		out_puts(x->out, " : ");
		put_text(x, metric_of(x, i)->name);
		if (x->events[i].weights.decimals)
			out_printf(x->out, ", in units of %s",
				   export_scale(&x->events[i].weights, scale));
		out_putc(x->out, '\n');
	}
	out_puts(x->out, "events:");
	for (size_t i = 0; i < x->n; i++) {
		out_putc(x->out, ' ');
		put_event(x, i);
	}
	out_puts(x->out, "\nsummary:");
	for (size_t i = 0; i < x->n; i++)
		out_printf(x->out, " %" PRIu64, x->events[i].total[SESSION_ROOT]);
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
	const uint8_t *hidden = x->events[0].weights.hidden; /* the same for all */
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
	int r = choose_events(&x, options);

	if (r == 0)
		r = export_names_init(&x.names, s, options);
	if (r == 0) {
		r = put_all(&x);
		export_names_done(&x.names);
	}
	while (x.n)
		event_done(&x.events[--x.n]);
	free(x.events);
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
