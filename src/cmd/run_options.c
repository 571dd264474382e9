/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/run_options.h"
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "base/units.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/intra_options.h"
#include "cmd/load.h"
#include "cmd/scopes_options.h"
#include "core/contexts.h"
#include "core/graph_shares.h"
#include "counters/counting.h"
#include "report/print_line.h"

struct launch_origin arg_origin;

/* Options without a value. */
static const struct {
	int id;
	size_t at; /* of a bool in struct run_options */
} flags[] = {
	{OPT_NO_SENSORS, offsetof(struct run_options, rec.no_sensors)},
	{OPT_WAIT, offsetof(struct run_options, wait)},
	{OPT_QUIET, offsetof(struct run_options, rec.quiet)},
	{OPT_VERBOSE, offsetof(struct run_options, rec.verbose)},
	{OPT_COUNT, offsetof(struct run_options, rec.no_count_launches)},
	{OPT_STRICT, offsetof(struct run_options, strict)},
	{OPT_NO_PRELOAD, offsetof(struct run_options, no_preload)},
	{OPT_NO_FOLLOW, offsetof(struct run_options, no_follow)},
	{OPT_EARLY, offsetof(struct run_options, early)},
};

/* … that collectors and backends are told of: where each is a uint32_t of struct run_wanted. */
static const size_t switches[] = {offsetof(struct run_wanted, trace),
#define _(field, word, help) offsetof(struct run_wanted, field),
				  RUN_SWITCHES(_)
#undef _
#define _(field, word, help) offsetof(struct run_wanted, backends.field),
					  BACKEND_SWITCHES(_)
#undef _
};
_Static_assert(ARRAY_SIZE(switches) == N_SWITCHES, "switches");

static int set_flag(struct run_options *o, int id)
{
	if (id >= OPT_NO_BACKEND && id < OPT_NO_BACKEND + N_SOURCES) {
		o->rec.wanted.backends_off |= 1u << (id - OPT_NO_BACKEND);
		return 0;
	}
	if (id >= OPT_SWITCH && id < OPT_SWITCH + (int)N_SWITCHES) {
		*(uint32_t *)(void *)((char *)&o->rec.wanted + switches[id - OPT_SWITCH]) = 1;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (flags[i].id == id) {
			*(bool *)((char *)o + flags[i].at) = true;
			return 0;
		}
	return -ENOENT;
}

static int set_path(const char **path, const char *value)
{
	*path = output_path(value);
	return *value ? 0 : -EINVAL;
}

/* Scopes are always there. */
static const struct {
	const char *word;
	uint32_t bits;
} contexts[] = {{"auto", CONTEXT_AUTO},
		{"scopes", 0},
#define _(id, name, word, automatic) {word, CONTEXT_BIT(CONTEXT_##id)},
		CONTEXTS(_)
#undef _
};

void list_contexts(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(contexts); i++)
		fprintf(out, "%s\n", contexts[i].word);
}

static int set_context(struct run_options *o, const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(contexts); i++) {
		if (strlen(contexts[i].word) != len || memcmp(contexts[i].word, word, len) != 0)
			continue;
		o->rec.wanted.contexts |= contexts[i].bits;
		return 0;
	}
	return -EINVAL;
}

static int set_contexts(struct run_options *o, const char *value)
{
	o->rec.has_contexts = true;
	o->rec.wanted.contexts = 0;
	for (const char *word = value;; word++) {
		size_t len = strcspn(word, ",");

		if (set_context(o, word, len) < 0)
			return -EINVAL;
		word += len;
		if (!*word)
			return 0;
	}
}

/* By itself a run has the nodes; what they cost is a finding (findings/graph_nodes.c). */
static const struct {
	const char *word;
	enum graphs_wanted wanted;
} graphs[] = {{"auto", GRAPHS_NODES}, {"nodes", GRAPHS_NODES}, {"whole", GRAPHS_WHOLE}};

void list_graphs(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(graphs); i++)
		fprintf(out, "%s\n", graphs[i].word);
}

static int set_graphs(struct run_options *o, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(graphs); i++) {
		if (strcmp(graphs[i].word, value) != 0)
			continue;
		o->rec.wanted.backends.graphs = graphs[i].wanted;
		o->graphs_word = graphs[i].word;
		return 0;
	}
	return -EINVAL;
}

void list_steps(FILE *out)
{
	fputs("auto\noff\n", out);
}

/* One that the control page has room for: which has no end of its own there. */
static int set_name(char *name, size_t size, uint32_t *len, const char *value)
{
	size_t n = strlen(value);

	if (!n || n > size)
		return -EINVAL;
	*len = (uint32_t)n;
	memcpy(name, value, n);
	return 0;
}

static int set_steps(struct run_options *o, const char *value)
{
	struct steps_wanted *w = &o->rec.wanted.steps;

	*w = (struct steps_wanted){0};
	if (!strcmp(value, "auto"))
		return 0;
	w->kind = STEPS_WANTED_OFF;
	if (!strcmp(value, "off"))
		return 0;
	w->kind = STEPS_WANTED_NAMED;
	return set_name(w->name, sizeof(w->name), &w->name_len, value);
}

#define COUNTERS_MOST_NS NSEC_PER_SEC

enum { BOUND_MAX = 32 };

/* "A-B", "A-": where B begins, which may be "". NULL: it is none. */
static const char *split_bounds(const char *value, char from[BOUND_MAX])
{
	const char *to = strchr(value, '-');

	if (!to || to - value >= BOUND_MAX)
		return NULL;
	snprintf(from, BOUND_MAX, "%.*s", (int)(to - value), value);
	return to + 1;
}

/* "1.5-2.5", "1.5-": seconds of the run. */
static int set_window_time(struct trace_window *w, const char *value)
{
	const char *to;
	double from_s, to_s = 0;
	char from[BOUND_MAX];

	if (!(to = split_bounds(value, from)))
		return -EINVAL;
	if (parse_number(from, 1e9, &from_s) < 0 || (*to && parse_number(to, 1e9, &to_s) < 0) ||
	    (*to && to_s <= from_s))
		return -EINVAL;
	w->kind = TRACE_WINDOW_TIME;
	w->from_ns = (uint64_t)(from_s * 1e9);
	w->to_ns = *to ? (uint64_t)(to_s * 1e9) : UINT64_MAX;
	return 0;
}

static int set_window_name(struct trace_window *w, const char *value)
{
	w->kind = TRACE_WINDOW_NVTX;
	return set_name(w->name, sizeof(w->name), &w->name_len, value);
}

/* "10-12", "10-": numbers of steps. */
static int set_window_steps(struct trace_window *w, const char *value)
{
	const char *to;
	uint32_t first, last = 0;
	char from[BOUND_MAX];

	if (!(to = split_bounds(value, from)))
		return -EINVAL;
	if (parse_count(from, INT32_MAX, &first) < 0 ||
	    (*to && (parse_count(to, INT32_MAX, &last) < 0 || last < first)))
		return -EINVAL;
	w->kind = TRACE_WINDOW_STEPS;
	w->from_ns = first;
	w->to_ns = *to ? last : UINT64_MAX;
	return 0;
}

static int set_window(struct run_options *o, const char *value)
{
	struct trace_window *w = &o->rec.wanted.window;

	*w = (struct trace_window){0};
	o->rec.window_word = value;
	o->rec.wanted.trace = true;
	o->rec.wanted.backends.profiler = !strcmp(value, "cuda-profiler");
	if (o->rec.wanted.backends.profiler) {
		w->kind = TRACE_WINDOW_PROFILER;
		return 0;
	}
	if (!strncmp(value, "time:", 5))
		return set_window_time(w, value + 5);
	if (!strncmp(value, "nvtx:", 5))
		return set_window_name(w, value + 5);
	if (!strncmp(value, "steps:", 6))
		return set_window_steps(w, value + 6);
	complain(
		"--trace-window: '%s' is no window: there are time:A-B (in seconds; without B: to the "
		"end), nvtx:NAME, steps:A-B and cuda-profiler",
		value);
	return -ENOTSUP;
}

/* "5%", "5", "off". */
static int set_budget(struct run_options *o, const char *value)
{
	double percent = 0;
	bool off = !strcmp(value, "off");

	if (!off && (parse_percent(value, &percent) < 0 || percent < 1e-4 || percent > 100))
		return -EINVAL;
	o->rec.has_budget = true;
	o->rec.wanted.context_budget_ppm = (uint32_t)(percent * 1e4 + 0.5);
	return 0;
}

static int set_counters(struct run_options *o, const char *value)
{
	struct amount amount = {COUNTERS_USUAL_NS, AMOUNT_TIME};

	if (value && !strcmp(value, "off")) {
		o->rec.wanted.counters_ns = 0;
		return 0;
	}
	if (value &&
	    (amount_parse(value, strlen(value), &amount) < 0 || amount.unit != AMOUNT_TIME ||
	     amount.value < COUNTED_INTERVAL_LEAST_NS || amount.value > COUNTERS_MOST_NS)) {
		complain(
			"--counters: '%s' is no interval: it is between 20us and 1s, such as 1ms, or off",
			value);
		return -ENOTSUP;
	}
	o->rec.wanted.counters_ns = (uint64_t)amount.value;
	return 0;
}

enum { PC_PERIOD_MIN = 5, PC_PERIOD_MAX = 31 };
#define PC_BUFFER_MAX (16.0 * (1 << 30))

/* A word of it, as long as it is. */
static int set_pc_word(struct backend_options *b, const char *word, size_t len)
{
	static const char buffer[] = "buffer=", period[] = "2^";
	struct amount amount;
	char text[16];
	uint32_t n;

	if (len == strlen("exact") && !memcmp(word, "exact", len)) {
		b->pc_sampling |= PC_SAMPLING_EXACT;
		return 0;
	}
	if (len > strlen(buffer) && !memcmp(word, buffer, strlen(buffer))) {
		word += strlen(buffer);
		len -= strlen(buffer);
		if (amount_parse(word, len, &amount) < 0 || amount.unit != AMOUNT_BYTES ||
		    amount.value < (1 << 20) || amount.value > PC_BUFFER_MAX)
			return -EINVAL;
		b->pc_buffer_mib = (uint32_t)(amount.value / (1 << 20));
		return 0;
	}
	if (len <= strlen(period) || len >= sizeof(text) ||
	    memcmp(word, period, strlen(period)) != 0)
		return -EINVAL;
	snprintf(text, sizeof(text), "%.*s", (int)(len - strlen(period)), word + strlen(period));
	if (parse_count(text, PC_PERIOD_MAX, &n) < 0 || n < PC_PERIOD_MIN)
		return -EINVAL;
	b->pc_sampling = (b->pc_sampling & PC_SAMPLING_EXACT) | n;
	return 0;
}

static int set_pc_sampling(struct run_options *o, const char *value)
{
	struct backend_options *b = &o->rec.wanted.backends;

	b->pc_sampling = PC_SAMPLING_USUAL;
	b->pc_buffer_mib = 0;
	for (const char *word = value; word; word = *word ? word + 1 : NULL) {
		size_t len = strcspn(word, ",");

		if (set_pc_word(b, word, len) < 0) {
			complain("--pc-sampling: '%s' is not understood: there are a period "
				 "from 2^5 to 2^31 cycles, buffer=SIZE (1MiB to 16GiB) and exact, "
				 "such as 2^20,buffer=32MiB",
				 value);
			return -ENOTSUP;
		}
		word += len;
	}
	return 0;
}

static int set_warps_word(struct warps_wanted *w, const char *word, size_t len)
{
	struct amount amount;

	if (amount_parse(word, len, &amount) < 0)
		return -EINVAL;
	if (amount.unit == AMOUNT_BYTES || amount.unit == AMOUNT_SCALED) {
		w->bytes = (uint64_t)MIN(amount.value, (double)WARPS_BYTES_MOST);
		return w->bytes < WARPS_BYTES_LEAST ? -EINVAL : 0;
	}
	if (amount.unit != AMOUNT_PLAIN || amount.value < 1 || amount.value > WARPS_LAUNCHES_MOST)
		return -EINVAL;
	w->launches = (uint32_t)amount.value;
	return w->launches == amount.value ? 0 : -EINVAL;
}

static int set_intra_trace(struct run_options *o, const char *value)
{
	struct warps_wanted *w = &o->rec.wanted.warps;

	*w = (struct warps_wanted){.launches = WARPS_LAUNCHES_USUAL, .bytes = WARPS_BYTES_USUAL};
	for (const char *word = value; word; word = *word ? word + 1 : NULL) {
		size_t len = strcspn(word, ",");

		if (set_warps_word(w, word, len) < 0) {
			complain("--intra-trace: '%s' is not understood: there are a number of "
				 "launches (1 to %d) and a size (1MiB to 64GiB), such as 6,64MiB",
				 value, WARPS_LAUNCHES_MOST);
			return -ENOTSUP;
		}
		word += len;
	}
	return 0;
}

int run_option(struct run_options *o, const struct option_def *option, const char *value)
{
	int r;

	switch (option->id) {
	case OPT_OUTPUT:
		return set_path(&o->rec.output, value);
	case OPT_TAPE:
		return set_path(&o->rec.tape, value);
	case OPT_LABEL:
		o->rec.label = value;
		return 0;
	case OPT_SAVE_ENV:
		o->rec.save_env = value;
		return *value ? 0 : -EINVAL;
	case OPT_COUNTERS:
		return set_counters(o, value);
	case OPT_PC_SAMPLING:
		return set_pc_sampling(o, value);
	case OPT_KERNEL_SCOPES:
		return scopes_option(value, &o->rec.wanted.scopes) < 0 ? -ENOTSUP : 0;
	case OPT_INTRA_TRACE:
		return set_intra_trace(o, value);
	case OPT_INTRA:
		o->is_intra = true;
		o->intra_rules = value;
		return !value || *value ? 0 : -EINVAL;
	case OPT_INTRA_MODE:
		o->intra_mode = value;
		return *value ? 0 : -EINVAL;
	case OPT_INTRA_LIMIT:
		r = parse_count(value, 3600, &o->rec.wanted.backends.intra_s);
		return r == 0 && !o->rec.wanted.backends.intra_s ? -EINVAL : r;
	case OPT_CONTEXT:
		return set_contexts(o, value);
	case OPT_BUDGET:
		return set_budget(o, value);
	case OPT_GRAPHS:
		return set_graphs(o, value);
	case OPT_STEPS:
		return set_steps(o, value);
	case OPT_GRAPH_SHARES:
		o->graph_shares = value;
		return *value ? 0 : -EINVAL;
	case OPT_SAVE:
		return parse_seconds(value, &o->rec.save_ns);
	case OPT_TRACE_WINDOW:
		return set_window(o, value);
	case OPT_TRACE_MAX:
		o->rec.wanted.trace = true;
		r = parse_count(value, INT32_MAX, &o->rec.wanted.trace_max);
		return r == 0 && o->rec.wanted.trace_max == 0 ? -EINVAL : r;
	default:
		return set_flag(o, option->id);
	}
}

int run_options_settle(struct run_options *o)
{
	int r;

	if (o->rec.wanted.backends.pc_sampling && o->rec.wanted.counters_ns) {
		complain("--pc-sampling and --counters are for two runs: samples of code keep the "
			 "hardware counters of the device");
		return STATUS_USAGE;
	}
	if (o->rec.wanted.window.kind == TRACE_WINDOW_STEPS &&
	    o->rec.wanted.steps.kind == STEPS_WANTED_OFF) {
		complain(
			"--trace-window steps:A-B is of steps that --steps finds, not for --steps off");
		return STATUS_USAGE;
	}
	r = intra_options_settle(o);
	if (r || !o->graph_shares)
		return r;
	if (o->graphs_word && !strcmp(o->graphs_word, "nodes")) {
		complain(
			"--graph-shares is for graphs that are recorded whole, not for --graphs nodes");
		return STATUS_USAGE;
	}
	o->rec.wanted.backends.graphs = GRAPHS_WHOLE;
	o->rec.shares = load_graph_shares(o->graph_shares);
	return o->rec.shares ? STATUS_OK : STATUS_OURS;
}

void run_options_done(struct run_options *o)
{
	o->rec.shares = graph_shares_free(o->rec.shares);
	intra_options_done(o);
}
