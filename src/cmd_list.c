/* SPDX-License-Identifier: MIT */
/* proton list: which metrics a profile has. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"
#include "cmd_report.h"
#include "commands.h"
#include "load.h"

const struct command_def command_list = {
	.name = "list",
	.usage = "FILE",
	.summary = "list the metrics in a profile",
	.operands_first = true,
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	(void)option;
	(void)value;
	(void)arg;
	return 0;
}

static void list_metric(const struct metric *m, size_t n_nodes)
{
	static const char *const scopes[] = {"inclusive", "exclusive", "property"};

	if (n_nodes)
		printf("%-28s %-10s %-5s %zu nodes\n", m->name, scopes[m->scope], m->unit, n_nodes);
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

/* One pass over the values, however many metrics there are. */
void list_metrics(const struct session *s)
{
	struct tally *tally = calloc(metric_table_count(s->metrics), sizeof(*tally));
	uint32_t node, row;

	if (!tally) {
		complain("out of memory");
		return;
	}
	for (node = 0; node < s->n_nodes; node++)
		for (row = s->nodes[node].first_row; row != SESSION_NONE; row = s->rows[row].next)
			count_row(s, &s->rows[row], tally);
	for (uint32_t i = 0; i < metric_table_count(s->metrics); i++)
		list_metric(metric_table_get(s->metrics, i), tally[i].n);
	free(tally);
}

int cmd_list(int argc, char **argv)
{
	int first = options_parse(&command_list, argc, argv, on_option, NULL);
	struct session *s;

	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (argc - first != 1) {
		complain("which file? (see 'proton list --help')");
		return STATUS_USAGE;
	}
	s = load_file(argv[first]);
	if (!s)
		return STATUS_FAILED;
	list_metrics(s);
	session_free(s);
	return STATUS_OK;
}
