/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/ask.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "counters/asker.h"

#define LIST_MS   20000  /* takes a fifth of a second */
#define PASSES_MS 120000 /* of all metrics of a chip: seven seconds */

/* ---- lines ---- */

/* The next of the fields of a line, which it ends; "" where there is none. */
static char *next_field(char **line)
{
	char *field = *line, *end = field + strcspn(field, "\t");

	*line = *end ? end + 1 : end;
	*end = '\0';
	return field;
}

static unsigned number_field(char **line, unsigned limit)
{
	unsigned long v = strtoul(next_field(line), NULL, 10);

	return v < limit ? (unsigned)v : 0;
}

static void take_library(struct counters_answer *a, char *line)
{
	a->version = number_field(&line, ~0u);
	a->path = line;
}

static void take_known(struct counters_answer *a, char *line)
{
	if (ARRAY_ROOM(a->chips, a->cap_chips, a->n_chips + 1) < 0)
		a->error = -ENOMEM;
	else
		a->chips[a->n_chips++] = line;
}

static void take_chip(struct counters_answer *a, char *line)
{
	a->chip = line;
}

static void take_broken(struct counters_answer *a, char *line)
{
	if (!a->broken) /* the nearest */
		a->broken = line;
}

static void take_why(struct counters_answer *a, enum counters_why why, const char *text)
{
	a->why = why;
	a->text = text;
}

static void take_no_gpu(struct counters_answer *a, char *line)
{
	take_why(a, COUNTERS_NO_GPU, line);
}

static void take_no_chip(struct counters_answer *a, char *line)
{
	take_why(a, COUNTERS_NO_CHIP, line);
}

static void take_failed(struct counters_answer *a, char *line)
{
	take_why(a, COUNTERS_FAILED, line);
}

static void take_submetric(struct counters_answer *a, char *line)
{
	unsigned type = number_field(&line, ABI_N_METRIC_TYPES);

	if (ARRAY_ROOM(a->submetrics[type], a->cap_submetrics[type], a->n_submetrics[type] + 1) < 0)
		a->error = -ENOMEM;
	else
		a->submetrics[type][a->n_submetrics[type]++] = line;
}

static void take_metric(struct counters_answer *a, char *line)
{
	struct counter_metric *m;

	if (ARRAY_ROOM(a->metrics, a->cap, a->n + 1) < 0) {
		a->error = -ENOMEM;
		return;
	}
	m = &a->metrics[a->n++];
	m->role = (enum counter_role)number_field(&line, COUNTER_PLANNED + 1);
	m->state = (enum plan_state)number_field(&line, N_PLAN_STATES);
	m->type = (enum abi_metric_type)number_field(&line, ABI_N_METRIC_TYPES);
	m->passes = number_field(&line, ~0u);
	m->name = next_field(&line);
	m->hardware = next_field(&line);
	m->unit = next_field(&line);
	m->description = line;
	a->n_planned += m->role == COUNTER_PLANNED;
	a->n_counted += m->role == COUNTER_PLANNED && m->state == PLAN_COUNTED;
}

static void take_together(struct counters_answer *a, char *line)
{
	a->passes = number_field(&line, ~0u);
}

static void take_line(struct counters_answer *a, char *line)
{
	static const struct {
		const char *key;
		void (*take)(struct counters_answer *a, char *line);
	} keys[] = {
		{"library", take_library}, {"known", take_known},
		{"chip", take_chip},       {"broken", take_broken},
		{"no-gpu", take_no_gpu},   {"no-chip", take_no_chip},
		{"failed", take_failed},   {"submetric", take_submetric},
		{"metric", take_metric},   {"together", take_together},
	};
	size_t len = strcspn(line, " ");

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (len == strlen(keys[i].key) && !memcmp(line, keys[i].key, len)) {
			keys[i].take(a, line + len + (line[len] == ' '));
			return;
		}
}

/* What a child that died has said may end in the middle of a line: that is not looked at, and its text
 * stays whole, because it says what it was at. */
static void take_lines(struct counters_answer *a)
{
	char *line = a->probe.text.data, *end;

	if (a->probe.end != PROBE_ANSWERED) {
		a->why = COUNTERS_DIED;
		return;
	}
	for (; line &&
	       (end = memchr(line, '\n', (size_t)(a->probe.text.data + a->probe.text.len - line)));
	     line = end + 1) {
		*end = '\0';
		take_line(a, line);
	}
	if (!a->path)
		a->why = COUNTERS_NO_LIBRARY;
}

void counters_ask(const struct counters_question *question, struct counters_answer *ret)
{
	*ret = (struct counters_answer){.why = COUNTERS_OK};
	probe_run(ask_counters_host, question,
		  question->passes || question->set ? PASSES_MS : LIST_MS, &ret->probe);
	ret->error = ret->probe.text.error;
	take_lines(ret);
}

void counters_answer_done(struct counters_answer *a)
{
	for (int type = 0; type < ABI_N_METRIC_TYPES; type++)
		free(a->submetrics[type]);
	free(a->chips);
	free(a->metrics);
	probe_done(&a->probe);
}
