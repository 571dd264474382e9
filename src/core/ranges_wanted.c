/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/ranges_wanted.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/util.h"
#include "core/metric.h"

const char *const ranges_replay_words[RANGES_N_REPLAYS] = {
	[RANGES_ONCE] = "none", [RANGES_KERNELS] = "kernel"};

const char *const ranges_of_words[RANGES_N_OF] = {[RANGES_OF_KERNELS] = "kernel",
						  [RANGES_OF_SCOPES] = "scope",
						  [RANGES_OF_NVTX] = "nvtx",
						  [RANGES_OF_GRAPHS] = "graph"};

static const struct {
	const char *word;
	uint8_t add;
} adds[] = {{"sum", METRIC_SUM}, {"max", METRIC_MAX}, {"min", METRIC_MIN}, {"mean", METRIC_WMEAN}};

int range_metric_add_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(adds); i++)
		if (!strcasecmp(adds[i].word, word))
			return adds[i].add;
	return -1;
}

static const char *add_word(uint8_t add)
{
	for (size_t i = 0; i < ARRAY_SIZE(adds); i++)
		if (adds[i].add == add)
			return adds[i].word;
	return "mean";
}

/* "dram__bytes.sum" adds up, "dram__bytes.sum.per_second" does not. */
uint8_t range_metric_add(const char *name)
{
	const char *dot = strrchr(name, '.');
	int add = dot ? range_metric_add_of(dot + 1) : -1;

	return add < 0 ? METRIC_WMEAN : (uint8_t)add;
}

bool range_metric_is(const char *name)
{
	size_t unit = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");

	return unit && !strncmp(name + unit, "__", 2) && strchr(name + unit, '.') &&
	       !strpbrk(name, " /[");
}

bool range_metric_is_added(const char *name)
{
	return strstr(name, "__sass_");
}

bool ranges_wanted_has(const struct ranges_wanted *w, const char *name)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->metrics[i].name, name))
			return true;
	return false;
}

bool ranges_wanted_add(struct ranges_wanted *w, const char *name, const char *unit, uint8_t add)
{
	struct range_metric *m = &w->metrics[w->n];

	if (ranges_wanted_has(w, name))
		return true;
	if (w->n == RANGES_METRICS_MAX)
		return false;
	w->n++;
	*m = (struct range_metric){strdup(name), strdup(unit), add};
	return m->name && m->unit;
}

void ranges_wanted_done(struct ranges_wanted *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->metrics[i].name);
		free(w->metrics[i].unit);
	}
	w->n = 0;
}

struct ranges_wanted *ranges_runs_new(struct ranges_runs *runs)
{
	struct ranges_wanted *of = realloc(runs->of, (runs->n + 1) * sizeof(*of));

	if (!of)
		return NULL;
	runs->of = of;
	of[runs->n] = (struct ranges_wanted){.n = 0};
	return &of[runs->n++];
}

void ranges_runs_done(struct ranges_runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		ranges_wanted_done(&runs->of[i]);
	free(runs->of);
	*runs = (struct ranges_runs){NULL, 0};
}

char *ranges_wanted_text(const struct ranges_wanted *w)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "replay %s\nrange %s\n", ranges_replay_words[w->replay],
		ranges_of_words[w->of]);
	for (size_t i = 0; i < w->n; i++)
		fprintf(out, "metric %s %s %s\n", add_word(w->metrics[i].add),
			*w->metrics[i].unit ? w->metrics[i].unit : "-", w->metrics[i].name);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static bool parse_metric(const char *line, struct ranges_wanted *w)
{
	char add[8], unit[32], name[256];
	int end = -1, r = sscanf(line, "metric %7s %31s %255s%n", add, unit, name, &end);

	return r == 3 && end == (int)strcspn(line, "\n") && range_metric_add_of(add) >= 0 &&
	       ranges_wanted_add(w, name, strcmp(unit, "-") ? unit : "",
				 (uint8_t)range_metric_add_of(add));
}

/* "replay kernel": which of these words stands behind the first one, at the end of the line? -1: none. */
static int parse_word(const char *line, const char *first, const char *const *words, int n)
{
	size_t len = strlen(first), end = strcspn(line, "\n");

	for (int i = 0; i < n; i++)
		if (end == len + 1 + strlen(words[i]) && !strncmp(line, first, len) &&
		    line[len] == ' ' && !strncmp(line + len + 1, words[i], strlen(words[i])))
			return i;
	return -1;
}

bool ranges_wanted_parse(const char *text, struct ranges_wanted *ret)
{
	int replay = parse_word(text, "replay", ranges_replay_words, RANGES_N_REPLAYS), of = -1;

	*ret = (struct ranges_wanted){.n = 0};
	if (replay >= 0 && (text = strchr(text, '\n')))
		of = parse_word(++text, "range", ranges_of_words, RANGES_N_OF);
	if (of < 0)
		return false;
	ret->replay = (enum ranges_replay)replay;
	ret->of = (enum ranges_of)of;
	while ((text = strchr(text, '\n')) && text[1])
		if (!parse_metric(++text, ret))
			return false;
	return ret->n;
}
