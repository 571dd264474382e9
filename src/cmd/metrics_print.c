/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/metrics_print.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "format/json_writer.h"
#include "format/sheet.h"
#include "report/table.h"

static const char *const type_words[ABI_N_METRIC_TYPES] = {[ABI_METRIC_COUNTER] = "counter",
							   [ABI_METRIC_RATIO] = "ratio",
							   [ABI_METRIC_THROUGHPUT] = "throughput"};

/* ---- what is printed ---- */

/* What is planned in its own order, before the base metrics by the unit of the hardware. */
static int compare_metrics(const void *a, const void *b)
{
	const struct counter_metric *x = *(const struct counter_metric *const *)a;
	const struct counter_metric *y = *(const struct counter_metric *const *)b;
	int r = COMPARE(y->role, x->role);

	if (r == 0 && x->role == COUNTER_PLANNED)
		return COMPARE(x, y);
	if (r == 0)
		r = strcmp(x->hardware, y->hardware);
	return r ? r : strcmp(x->name, y->name);
}

int metrics_print_init(struct metrics_print *p, const struct counters_question *question,
		       const struct counters_answer *answer)
{
	*p = (struct metrics_print){.question = question, .answer = answer};
	p->metrics = calloc(answer->n + 1, sizeof(*p->metrics));
	if (!p->metrics)
		return -ENOMEM;
	for (size_t i = 0; i < answer->n; i++)
		if (answer->metrics[i].role != COUNTER_OTHER)
			p->metrics[p->n++] = &answer->metrics[i];
	if (p->n)
		qsort(p->metrics, p->n, sizeof(*p->metrics), compare_metrics);
	return 0;
}

void metrics_print_done(struct metrics_print *p)
{
	free(p->metrics);
}

/* Before CUDA 12.6 U2 versions only counted up. */
void put_cupti(struct buf *out, unsigned version)
{
	if (version >= 10000)
		buf_printf(out, "CUPTI %u.%u", version / 10000, version / 100 % 100);
	else
		buf_printf(out, "CUPTI of API %u", version);
}

/* ---- text ---- */

enum {
	HALF_LEAST = 30,
	NAME_MOST = 100,
	UNIT_MOST = 24,
	TEXT_LEAST = 30,
	PASSES_WIDTH = 6,
	GAP = 2,
	STEP = 4
};

/* Of the columns of a group. */
struct layout {
	bool has_passes;
	size_t before;     /* columns before the name */
	size_t name, unit; /* their widths */
	size_t words; /* where the words begin that say what it is; 0: on a line of their own */
};

static struct layout lay_out(const struct metrics_print *p, size_t begin, size_t end)
{
	struct layout l = {.has_passes = p->question->passes, .name = 4, .unit = 4};
	/* Names take half of a line, and all that they need where lines have no end. */
	size_t most = p->width ? MAX(p->width / 2, (unsigned)HALF_LEAST) : NAME_MOST;

	for (size_t i = begin; i < end; i++) {
		size_t name = name_width(p->metrics[i]->name),
		       unit = name_width(p->metrics[i]->unit);

		l.name = MAX(l.name, MIN(name, most));
		l.unit = MAX(l.unit, MIN(unit, (size_t)UNIT_MOST));
		l.has_passes = l.has_passes || p->metrics[i]->role == COUNTER_PLANNED;
	}
	l.before = l.has_passes ? PASSES_WIDTH + GAP : GAP;
	l.words = l.before + l.name + GAP + l.unit + GAP;
	if (p->width && p->width < l.words + TEXT_LEAST)
		l.words = 0;
	return l;
}

/* Over a group of base metrics, in place of NAME: the unit of the hardware, and how many there are. */
static void put_titles(const struct layout *l, const struct counter_metric *first, size_t n,
		       struct out *out)
{
	_cleanup_(buf_done) struct buf group = {0};
	size_t before = l->has_passes ? l->before : 0;

	put_left(out, l->has_passes ? "PASSES" : "", before);
	if (first->role == COUNTER_ASKED)
		buf_printf(&group, "%s (%zu)", first->hardware, n);
	else
		buf_puts(&group, "NAME");
	put_left(out, buf_str(&group), l->before - before + l->name + GAP);
	if (l->words)
		put_left(out, "UNIT", l->unit + GAP);
	out_puts(out, l->words ? "WHAT IT IS\n" : "UNIT\n");
}

/* Why it is not counted, or what the vendor says of it. */
static const char *describe(const struct counter_metric *m)
{
	static const char *const reasons[N_PLAN_STATES] = {
		[PLAN_ABSENT] = "this chip does not have it",
		[PLAN_LEFT_OUT] = "left out: with those before it, too many passes",
		[PLAN_REFUSED] = "CUPTI cannot say how to count it"};

	if (m->role == COUNTER_PLANNED && reasons[m->state])
		return reasons[m->state];
	return m->description;
}

static void put_number(const struct layout *l, size_t passes, struct out *out)
{
	char number[24] = "-";

	if (passes)
		snprintf(number, sizeof(number), "%zu", passes);
	if (l->has_passes)
		put_right(out, number, PASSES_WIDTH);
	out_spaces(out, GAP);
}

/* Words go on a line of their own also below a name that is too long for its column. */
static void put_metric(const struct metrics_print *p, const struct layout *l,
		       const struct counter_metric *m, struct out *out)
{
	const char *text = describe(m), *unit = *m->unit ? m->unit : "-";
	bool beside = l->words && (!p->width || name_width(m->name) <= l->name);
	size_t column = beside ? l->words : l->before + STEP;

	put_number(l, m->passes, out);
	put_left(out, m->name, l->name);
	out_spaces(out, GAP);
	if (!*text || !beside)
		put_shown(out, unit, strlen(unit));
	else
		put_left(out, unit, l->unit + GAP);
	if (*text && !beside) {
		out_putc(out, '\n');
		out_spaces(out, column);
	}
	if (p->width > column + STEP)
		put_wrapped(out, text, column, p->width);
	else
		put_shown(out, text, strlen(text));
	out_putc(out, '\n');
}

/* A line of its own, in several where the terminal is narrow. */
static void put_text(const struct metrics_print *p, struct buf *text, struct out *out)
{
	if (p->width)
		put_wrapped(out, buf_str(text), 0, p->width);
	else
		put_shown(out, buf_str(text), text->len);
	out_putc(out, '\n');
	buf_clear(text);
}

/* "3650 metrics: 3389 counters, 205 ratios, 56 throughputs" */
static void say_counts(const struct metrics_print *p, struct buf *text)
{
	size_t n_of[ABI_N_METRIC_TYPES] = {0}, n = 0;
	const char *before = ": ";

	for (size_t i = 0; i < p->n; i++)
		if (p->metrics[i]->role == COUNTER_ASKED) {
			n_of[p->metrics[i]->type]++;
			n++;
		}
	buf_printf(text, "%zu metric%s", n, n == 1 ? "" : "s");
	for (int type = 0; type < ABI_N_METRIC_TYPES; type++) {
		if (!n_of[type])
			continue;
		buf_printf(text, "%s%zu %s%s", before, n_of[type], type_words[type],
			   n_of[type] == 1 ? "" : "s");
		before = ", ";
	}
}

/* "30 of 30 metrics, together in 6 passes" */
static void say_plan(const struct metrics_print *p, struct buf *text)
{
	const struct counters_answer *a = p->answer;
	const struct metric_set *set = p->question->set;

	buf_printf(text, "%zu of %zu metric%s, together in %zu pass%s", a->n_counted, a->n_planned,
		   a->n_planned == 1 ? "" : "s", a->passes, a->passes == 1 ? "" : "es");
	if (set && set->most_passes)
		buf_printf(text, " (at most %zu)", set->most_passes);
}

static void put_head(const struct metrics_print *p, struct out *out)
{
	_cleanup_(buf_done) struct buf text = {0};
	const struct metric_set *set = p->question->set;

	if (set) {
		buf_printf(&text, "%s%s%s", set->name, *set->about ? ": " : "", set->about);
		put_text(p, &text, out);
	}
	buf_printf(&text, "%s, %s, as ", p->answer->chip, counting_titles[p->question->counting]);
	put_cupti(&text, p->answer->version);
	buf_puts(&text, " knows it");
	put_text(p, &text, out);
	if (p->n > p->answer->n_planned || !p->n) {
		say_counts(p, &text);
		put_text(p, &text, out);
	}
	if (p->answer->n_planned) {
		say_plan(p, &text);
		put_text(p, &text, out);
	}
}

/* Where a group of metrics ends that begins here: of what is planned, or of a unit of the hardware. */
static size_t group_end(const struct metrics_print *p, size_t begin)
{
	const struct counter_metric *first = p->metrics[begin];
	size_t end = begin;

	while (end < p->n && p->metrics[end]->role == first->role &&
	       (first->role == COUNTER_PLANNED ||
		!strcmp(p->metrics[end]->hardware, first->hardware)))
		end++;
	return end;
}

static void put_group(const struct metrics_print *p, size_t begin, size_t end, struct out *out)
{
	const struct counter_metric *first = p->metrics[begin];
	struct layout l = lay_out(p, begin, end);

	out_putc(out, '\n');
	put_titles(&l, first, end - begin, out);
	for (size_t i = begin; i < end; i++)
		put_metric(p, &l, p->metrics[i], out);
}

/* Roots as ".sum", and how many names begin with the first of them. */
static size_t count_roots(const char *const *names, size_t n, size_t *ret_each)
{
	size_t n_roots = 0, each = 0;

	for (size_t i = 0; i < n; i++) {
		n_roots += !strchr(names[i] + 1, '.');
		each += !strncmp(names[i], names[0], strlen(names[0]));
	}
	*ret_each = each;
	return n_roots;
}

/* Each root with the same behind it is told as two lists, all else as one. */
static void say_submetrics(const char *const *names, size_t n, struct buf *text)
{
	size_t each, n_roots = count_roots(names, n, &each);
	bool is_product = each > 1 && n_roots * each == n;

	buf_puts(text, "It is counted with one of these behind its name:");
	for (size_t i = 0; i < n; i++)
		if (!is_product || !strchr(names[i] + 1, '.'))
			buf_printf(text, " %s", names[i]);
	if (!is_product)
		return;
	buf_puts(text, "; and with nothing or one of these behind that:");
	for (size_t i = 1; i < each; i++)
		buf_printf(text, " %s", names[i] + strlen(names[0]));
}

/* Behind one base metric: all that it can be counted with; behind more: where that is told. */
static void put_foot(const struct metrics_print *p, struct out *out)
{
	enum abi_metric_type type = p->n ? p->metrics[0]->type : ABI_METRIC_COUNTER;
	_cleanup_(buf_done) struct buf text = {0};

	if (!p->n || p->metrics[p->n - 1]->role != COUNTER_ASKED)
		return;
	if (p->n == 1)
		say_submetrics(p->answer->submetrics[type], p->answer->n_submetrics[type], &text);
	else
		buf_puts(&text, "They are counted with something behind the name, as .sum: 'proton "
				"metrics NAME' says with what.");
	out_putc(out, '\n');
	put_text(p, &text, out);
}

void print_metrics_text(const struct metrics_print *p, struct out *out)
{
	put_head(p, out);
	for (size_t begin = 0, end; begin < p->n; begin = end) {
		end = group_end(p, begin);
		put_group(p, begin, end, out);
	}
	put_foot(p, out);
}

void print_chips_text(const struct metrics_print *p, struct out *out)
{
	for (size_t i = 0; i < p->answer->n_chips; i++) {
		put_shown(out, p->answer->chips[i], strlen(p->answer->chips[i]));
		out_putc(out, '\n');
	}
}

/* ---- JSON ---- */

/* 0 is not known. */
static void put_known(struct json_writer *w, const char *key, size_t v)
{
	jsonw_key(w, key);
	if (v)
		jsonw_u64(w, v);
	else
		jsonw_null(w);
}

static void put_json_metric(struct json_writer *w, const struct counter_metric *m)
{
	jsonw_object(w);
	jsonw_key_text(w, "name", m->name);
	jsonw_key_text(w, "type", type_words[m->type]);
	jsonw_key_text(w, "hardware", m->hardware);
	jsonw_key_text(w, "unit", m->unit);
	put_known(w, "passes", m->passes);
	if (m->role == COUNTER_PLANNED)
		jsonw_key_text(w, "state", plan_words[m->state]);
	jsonw_key_text(w, "description", m->description);
	jsonw_object_end(w);
}

static void put_json_library(struct json_writer *w, const struct counters_answer *a)
{
	jsonw_key_object(w, "cupti");
	jsonw_key_u64(w, "version", a->version);
	jsonw_key_text(w, "path", a->path);
	jsonw_object_end(w);
}

static void put_json_set(struct json_writer *w, const struct metrics_print *p)
{
	const struct metric_set *set = p->question->set;

	if (set) {
		jsonw_key_text(w, "set", set->name);
		jsonw_key_text(w, "about", set->about);
		put_known(w, "most_passes", set->most_passes);
	}
	if (p->answer->n_planned)
		jsonw_key_u64(w, "passes", p->answer->passes);
}

static void put_json_submetrics(struct json_writer *w, const struct counters_answer *a)
{
	jsonw_key_object(w, "submetrics");
	for (int type = 0; type < ABI_N_METRIC_TYPES; type++) {
		jsonw_key_array(w, type_words[type]);
		for (size_t i = 0; i < a->n_submetrics[type]; i++)
			jsonw_strings(w, a->submetrics[type][i]);
		jsonw_array_end(w);
	}
	jsonw_object_end(w);
}

void print_metrics_json(const struct metrics_print *p, struct out *out)
{
	struct json_writer w;

	jsonw_init(&w, out, false);
	jsonw_object(&w);
	jsonw_key_text(&w, "chip", p->answer->chip);
	jsonw_key_text(&w, "kind", counting_words[p->question->counting]);
	put_json_library(&w, p->answer);
	put_json_set(&w, p);
	jsonw_key_array(&w, "metrics");
	for (size_t i = 0; i < p->n; i++)
		put_json_metric(&w, p->metrics[i]);
	jsonw_array_end(&w);
	if (!p->question->set)
		put_json_submetrics(&w, p->answer);
	jsonw_object_end(&w);
	out_putc(out, '\n');
}

void print_chips_json(const struct metrics_print *p, struct out *out)
{
	struct json_writer w;

	jsonw_init(&w, out, false);
	jsonw_object(&w);
	put_json_library(&w, p->answer);
	jsonw_key_array(&w, "chips");
	for (size_t i = 0; i < p->answer->n_chips; i++)
		jsonw_strings(&w, p->answer->chips[i]);
	jsonw_array_end(&w);
	jsonw_object_end(&w);
	out_putc(out, '\n');
}

/* ---- CSV ---- */

void print_metrics_csv(const struct metrics_print *p, struct out *out)
{
	static const char *const titles[] = {"name",   "type",  "hardware",   "unit",
					     "passes", "state", "description"};
	struct sheet t = {&sheet_csv, out, 0};

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		sheet_word(&t, titles[i]);
	sheet_end(&t);
	for (size_t i = 0; i < p->n; i++) {
		const struct counter_metric *m = p->metrics[i];

		sheet_word(&t, m->name);
		sheet_word(&t, type_words[m->type]);
		sheet_word(&t, m->hardware);
		sheet_word(&t, m->unit);
		sheet_next(&t);
		if (m->passes)
			out_printf(out, "%zu", m->passes);
		sheet_word(&t, m->role == COUNTER_PLANNED ? plan_words[m->state] : "");
		sheet_word(&t, m->description);
		sheet_end(&t);
	}
}

void print_chips_csv(const struct metrics_print *p, struct out *out)
{
	struct sheet t = {&sheet_csv, out, 0};

	sheet_word(&t, "chip");
	sheet_end(&t);
	for (size_t i = 0; i < p->answer->n_chips; i++) {
		sheet_word(&t, p->answer->chips[i]);
		sheet_end(&t);
	}
}
