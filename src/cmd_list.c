/* SPDX-License-Identifier: MIT */
/* proton list: which metrics a profile has. */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
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

static void list_metric(const struct session *s, uint32_t metric)
{
	static const char *const scopes[] = {"inclusive", "exclusive", "property"};
	const struct metric *m = metric_table_get(s->metrics, metric);
	union metric_value v;
	uint32_t node;
	size_t n = 0;

	for (node = 0; node < s->n_nodes; node++)
		n += session_value(s, node, metric, &v);
	if (n)
		printf("%-28s %-10s %-5s %zu nodes\n", m->name, scopes[m->scope], m->unit, n);
}

void list_metrics(const struct session *s)
{
	for (uint32_t i = 0; i < metric_table_count(s->metrics); i++)
		list_metric(s, i);
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
