/* SPDX-License-Identifier: MIT */
/* proton list: which metrics a profile has. */
#include "config.h" // IWYU pragma: keep
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/shown.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/report.h"
#include "report/pager.h"
#include "report/print_line.h"
#include "report/runs.h"

enum { OPT_NO_PAGER = 1 };

static const struct option_def options[] = {
	{.name = "no-pager", .help = "print to the terminal itself", .id = OPT_NO_PAGER},
};

const struct command_def command_list = {
	.name = "list",
	.usage = "[options] FILE…",
	.summary = "list the metrics in a profile, or in several as one",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

static void list_metric(const struct metric *m, size_t n_nodes)
{
	static const char *const scopes[] = {"inclusive", "exclusive", "property"};
	int after_name = 28 - (int)shown_columns(m->name, strlen(m->name));
	int after_unit = 5 - (int)shown_columns(m->unit, strlen(m->unit));

	if (n_nodes)
		print_line(stdout, "%s%*s %-10s %s%*s %zu nodes", m->name, MAX(after_name, 0), "",
			   scopes[m->scope], m->unit, MAX(after_unit, 0), "", n_nodes);
}

/* How many nodes have a metric, and which was the last of them. */
struct tally {
	size_t n;
	uint32_t last;
};

static void count_row(const struct session *s, const struct session_row *row, struct tally *tally)
{
	const struct session_set *set = &s->sets[row->set];

	for (uint32_t i = 0; i < set->n; i++) {
		struct tally *t = &tally[set->metrics[i]];

		if (!s->present[row->values + i] || (t->n && t->last == row->node))
			continue;
		t->n++;
		t->last = row->node;
	}
}

/* Examples of derived metrics, for the metrics that the profile has. */
static void list_derived(const struct session *s, const struct tally *tally)
{
	static const struct {
		uint32_t metric;
		const char *names;
	} derived[] = {
		{METRIC_TIME, "time/ns time/us time/ms time/s time/% time/%parent"},
		{METRIC_COUNT, "avg_time/ns avg_time/us avg_time/ms avg_time/s"},
		{METRIC_CPU_TIME, "cpu_time/ns cpu_time/us cpu_time/ms cpu_time/s"},
		{METRIC_BYTES, "bytes/MB bytes/MiB byte/s gbyte/s tbyte/s"},
		{METRIC_FLOPS, "flop/s gflop/s tflop/s"},
		{METRIC_FLOPS8, "flop8/s gflop8/s tflop8/s"},
		{METRIC_FLOPS16, "flop16/s gflop16/s tflop16/s"},
		{METRIC_FLOPS32, "flop32/s gflop32/s tflop32/s"},
		{METRIC_FLOPS64, "flop64/s gflop64/s tflop64/s"},
	};
	bool any = false, roofs = tally[METRIC_BYTES].n;

	for (size_t i = 0; i < ARRAY_SIZE(derived); i++) {
		if (!tally[derived[i].metric].n)
			continue;
		printf("%s  %s\n", any ? "" : "\nderived, for example (see proton-metrics(7)):\n",
		       derived[i].names);
		roofs = roofs || derived[i].metric >= METRIC_FLOPS8;
		any = true;
	}
	if (s->n_hists)
		printf("  p50/us p90/us p99/us\n");
	if (roofs && s->n_devices)
		printf("  util bound source\n");
}

/* One pass over the values, however many metrics there are. */
void list_metrics(const struct session *s)
{
	struct tally *tally = calloc(metric_table_count(s->metrics), sizeof(*tally));
	uint32_t node, row;
	bool any = false;

	if (!tally) {
		complain("out of memory");
		return;
	}
	for (node = 0; node < s->n_nodes; node++)
		for (row = session_first_row(s, node); row != SESSION_NONE;
		     row = session_next_row(s, row))
			count_row(s, &s->rows[row], tally);
	for (uint32_t i = 0; i < metric_table_count(s->metrics); i++) {
		list_metric(metric_table_get(s->metrics, i), tally[i].n);
		any = any || tally[i].n;
	}
	if (!any)
		printf("no context has a metric\n");
	list_derived(s, tally);
	free(tally);
}

static void list_runs(const struct session *s)
{
	struct out *out = out_new(STDOUT_FILENO);
	int e;

	if (!out) {
		complain("out of memory");
		return;
	}
	e = report_runs(s,
			&(struct run_print){terminal_width(STDOUT_FILENO),
					    strcmp(nl_langinfo(CODESET), "UTF-8") != 0},
			out);
	if (e == 0 && s->n_runs)
		out_putc(out, '\n');
	out_end(out, 0);
	if (e < 0)
		complain("out of memory");
}

int cmd_list(int argc, char **argv)
{
	bool no_pager = false;
	int first = options_parse(&command_list, argc, argv, option_switch, &no_pager);
	struct loading loading = {0};
	struct pager pager;
	struct session *s;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (first == argc) {
		complain("which file? (see 'proton list --help')");
		return STATUS_USAGE;
	}
	s = load_files(argv + first, argc - first, &loading);
	if (!s)
		return STATUS_FAILED;
	pager_start(&pager, !no_pager);
	list_runs(s);
	list_metrics(s);
	pager_finish(&pager);
	session_free(s);
	return STATUS_OK;
}
