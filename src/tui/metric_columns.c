/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/metric_columns.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include "core/number_sets.h"
#include "core/pair.h"
#include "tui/tui_impl.h"

#define WIDTH_MIN 7
#define WIDTH_MAX 14

static double at(const double *v, uint32_t id)
{
	return v ? v[id] : NAN;
}

static struct metric_column *fetched(struct panel *p, unsigned k)
{
	struct metric_columns *mc = p->metrics;
	struct metric_column *m = &mc->v[k];

	if (!m->fetched) {
		m->now = derive_column(mc->now, &m->derived);
		m->before = mc->before ? derive_column(mc->before, &m->derived) : NULL;
		m->fetched = true;
	}
	return m;
}

static double value_now(struct panel *p, unsigned k, uint32_t id)
{
	if (p->metrics->v[k].word)
		return NAN;
	if (p->ops->derived)
		return p->ops->derived(p, id, NUMBER_DERIVED + 2 * k, &p->metrics->v[k].derived);
	return at(fetched(p, k)->now, id);
}

static double value_before(struct panel *p, unsigned k, uint32_t id)
{
	if (p->ops->derived)
		return p->ops->derived(p, id, NUMBER_BEFORE + 2 * k, &p->metrics->v[k].derived);
	return at(fetched(p, k)->before, id);
}

static double delta(struct panel *p, unsigned k, uint32_t id)
{
	return pair_delta(value_before(p, k, id), value_now(p, k, id));
}

/* A change is sorted by its size. */
static double value_delta(struct panel *p, unsigned k, uint32_t id)
{
	return fabs(delta(p, k, id));
}

/* Of what was there before; new ones are above all others. */
static double ratio(struct panel *p, unsigned k, uint32_t id)
{
	double a = value_before(p, k, id), d = delta(p, k, id);

	if (d == 0 || isnan(d))
		return d;
	return isnan(a) || a == 0 ? copysign(INFINITY, d) : d / fabs(a);
}

static double value_ratio(struct panel *p, unsigned k, uint32_t id)
{
	return fabs(ratio(p, k, id));
}

enum status { STATUS_SAME, STATUS_CHANGED, STATUS_NEW, STATUS_GONE };

static double value_status(struct panel *p, unsigned k, uint32_t id)
{
	double a = value_before(p, k, id), b = value_now(p, k, id);

	if (isnan(a) && isnan(b))
		return NAN;
	if (isnan(a) || isnan(b))
		return isnan(a) ? STATUS_NEW : STATUS_GONE;
	return a == b ? STATUS_SAME : STATUS_CHANGED;
}

/* ---- as text ---- */

static const struct metric *metric_of(struct panel *p, unsigned k)
{
	return metric_table_get(snapshot_session(p->tui->snap)->metrics,
				p->metrics->v[k].derived.metric);
}

static void print_number(struct panel *p, unsigned k, double v, char out[HUMAN_MAX])
{
	const struct derived *d = &p->metrics->v[k].derived;
	const struct metric *m = metric_of(p, k);

	if (isinf(v)) /* a quotient by zero is no number for people either */
		v = NAN;
	if (d->op == DERIVED_QUANTILE && d->plain)
		human_time_ns(out, v);
	else if (!d->plain && fabs(v) >= 9999.5 && fabs(v) < 9999999.5)
		snprintf(out, HUMAN_MAX, "%.0f",
			 v); /* the unit is in the title: no other one here */
	else if (!d->plain || !m || d->op > DERIVED_AVG)
		human_rate(out, v);
	else if (d->op != DERIVED_VALUE && d->op != DERIVED_AVG)
		snprintf(out, HUMAN_MAX, isnan(v) ? "-" : "%.1f", v);
	else
		metric_print(out, m, v);
}

static void print_word(struct panel *p, unsigned k, double v, char out[HUMAN_MAX])
{
	const char *word = "-";

	if (!isnan(v) && p->metrics->v[k].derived.op == DERIVED_BOUND)
		word = bound_word((enum bound)v);
	else if (!isnan(v))
		word = strtab_str(snapshot_session(p->tui->snap)->strings, (uint32_t)v);
	snprintf(out, HUMAN_MAX, "%s", word);
}

static bool is_word(struct panel *p, unsigned k)
{
	const struct metric *m = metric_of(p, k);

	return p->metrics->v[k].derived.op == DERIVED_BOUND || (m && m->type == METRIC_TEXT);
}

static void print_now(struct panel *p, unsigned k, uint32_t id, char out[HUMAN_MAX])
{
	if (p->metrics->v[k].word)
		snprintf(out, HUMAN_MAX, "-");
	else if (is_word(p, k))
		print_word(p, k, value_now(p, k, id), out);
	else
		print_number(p, k, value_now(p, k, id), out);
}

static void print_before(struct panel *p, unsigned k, uint32_t id, char out[HUMAN_MAX])
{
	print_number(p, k, value_before(p, k, id), out);
}

static void put_sign(double v, char out[HUMAN_MAX])
{
	if (!(v > 0))
		return;
	memmove(out + 1, out, HUMAN_MAX - 2);
	out[0] = '+';
	out[HUMAN_MAX - 1] = '\0';
}

static void print_delta(struct panel *p, unsigned k, uint32_t id, char out[HUMAN_MAX])
{
	double v = delta(p, k, id);

	print_number(p, k, v, out);
	put_sign(v, out);
}

static void print_ratio(struct panel *p, unsigned k, uint32_t id, char out[HUMAN_MAX])
{
	double v = ratio(p, k, id);

	if (isnan(v) || isinf(v))
		snprintf(out, HUMAN_MAX, "-");
	else if (fabs(v) >= 99.995)
		snprintf(out, HUMAN_MAX, "%.3gx", v);
	else
		snprintf(out, HUMAN_MAX, "%.1f", v * 100);
	put_sign(isinf(v) ? 0 : v, out);
}

static void print_status(struct panel *p, unsigned k, uint32_t id, char out[HUMAN_MAX])
{
	static const char *const words[] = {"same", "changed", "new", "gone"};
	double v = value_status(p, k, id);

	snprintf(out, HUMAN_MAX, "%s", isnan(v) ? "-" : words[(unsigned)v]);
}

/* ---- which ---- */

static struct column *add_column(struct panel *p)
{
	return p->columns.n < MAX_COLUMNS ? &p->metrics->columns[p->columns.n++] : NULL;
}

/* One of the usual columns, by its title; in any case. */
static const struct column *find_usual(const struct columns *usual, const char *word, size_t len)
{
	for (unsigned i = 0; i < usual->n; i++)
		if (strlen(usual->v[i].title) == len && !strncasecmp(usual->v[i].title, word, len))
			return &usual->v[i];
	return NULL;
}

static int add_metric(struct panel *p, const char *word, size_t len)
{
	struct metric_columns *mc = p->metrics;
	struct metric_column *m = &mc->v[mc->n];
	struct column *c = add_column(p);
	int r;

	if (!c)
		return -E2BIG;
	r = derive_parse(mc->s, word, len, &m->derived);
	if (r == -ENOENT && p->tui->options.live)
		m->word = word;
	else if (r < 0)
		return r;
	snprintf(m->title, sizeof(m->title), "%.*s", (int)len, word);
	*c = (struct column){
		.title = m->title,
		.help = "asked for by -m",
		.width = (uint8_t)CLAMP(strlen(m->title) + 1, WIDTH_MIN, WIDTH_MAX),
		.priority = (uint8_t)mc->n,
		.nth_value = value_now,
		.nth_print = print_now,
		.k = (uint8_t)mc->n++,
	};
	if (!m->word && is_word(p, c->k))
		c->width = WIDTH_MAX;
	return 0;
}

static int add_word(struct panel *p, const struct columns *usual, const char *word, size_t len)
{
	const struct column *u = find_usual(usual, word, len);
	struct column *c;

	if (!u)
		return add_metric(p, word, len);
	c = add_column(p);
	if (!c)
		return -E2BIG;
	*c = *u;
	c->priority = (uint8_t)MIN(p->columns.n, 200u);
	c->is_absent = NULL; /* asked for: it stays */
	return 0;
}

static int add_words(struct panel *p, const struct columns *usual, const char *words)
{
	int r = 0;

	while (*words && r == 0) {
		size_t len = strcspn(words, ",");

		r = add_word(p, usual, words, len);
		words += len + (words[len] == ',');
	}
	return r;
}

/* A, B, Δ, Δ% and STATUS of a metric. */
static int add_comparison(struct panel *p, const char *word, size_t len)
{
	bool ascii = p->tui->options.ascii;
	const struct column columns[] = {
		{.title = "A",
		 .help = "before",
		 .width = 8,
		 .priority = 1,
		 .nth_value = value_before,
		 .nth_print = print_before},
		{.title = "B",
		 .help = "now",
		 .width = 8,
		 .nth_value = value_now,
		 .nth_print = print_now},
		{.title = ascii ? "DIFF" : "\xce\x94",
		 .help = "B less A",
		 .width = 9,
		 .nth_value = value_delta,
		 .nth_print = print_delta},
		{.title = ascii ? "DIFF%" : "\xce\x94%",
		 .help = "change, percent of A",
		 .width = 7,
		 .nth_value = value_ratio,
		 .nth_print = print_ratio},
		{.title = "STATUS",
		 .help = "new, gone, changed or same",
		 .width = 7,
		 .priority = 2,
		 .nth_value = value_status,
		 .nth_print = print_status},
	};
	struct metric_columns *mc = p->metrics;
	int r = derive_parse(mc->s, word, len, &mc->v[mc->n].derived);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < ARRAY_SIZE(columns); i++) {
		struct column *c = add_column(p);

		*c = columns[i];
		c->k = (uint8_t)mc->n;
	}
	mc->n++;
	p->sort = 2;
	return 0;
}

/* The metric behind a usual column: what is compared needs its other side. */
static int add_usual_comparison(struct panel *p, const char *word, size_t len)
{
	static const char *const metrics[][2] = {
		{"TOTAL", "time"},    {"SELF", "time (exc)"}, {"%", "time/%"},
		{"CALLS", "count"},   {"AVG", "avg_time"},    {"MIN", "time_min"},
		{"MAX", "time_max"},  {"CPU", "cpu_time"},    {"TF/s", "tflop/s"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
		if (strlen(metrics[i][0]) == len && !strncasecmp(metrics[i][0], word, len))
			return add_comparison(p, metrics[i][1], strlen(metrics[i][1]));
	return -ENOENT;
}

static int add_compared(struct panel *p, const struct columns *usual)
{
	const char *words = p->tui->options.metrics ? p->tui->options.metrics : "time";
	size_t len = strcspn(words, ",");
	int r = add_comparison(p, words, len);

	if (r == -ENOENT)
		r = add_usual_comparison(p, words, len);
	return r == 0 && words[len] ? add_words(p, usual, words + len + 1) : r;
}

static int make_derives(struct metric_columns *mc, const struct tui *t)
{
	mc->now = derive_new(t->snap, t->options.peaks);
	if (t->options.before)
		mc->before = derive_new(t->options.before, t->options.peaks);
	return mc->now && (mc->before || !t->options.before) ? 0 : -ENOMEM;
}

/* Rows that are no nodes have numbers of their own. */
int metric_columns_init(struct metric_columns *mc, struct panel *p)
{
	const struct tui *t = p->tui;
	const struct columns usual = p->columns;

	if (!t->options.metrics && !t->options.before)
		return 0;
	if (!p->ops->derived && make_derives(mc, t) < 0)
		return -ENOMEM;
	p->metrics = mc;
	mc->s = snapshot_session(t->snap);
	mc->n_metrics = metric_table_count(mc->s->metrics);
	/* Numbers that were asked for come before long names. */
	p->columns = (struct columns){mc->columns, 0, 25};
	return t->options.before ? add_compared(p, &usual)
				 : add_words(p, &usual, t->options.metrics);
}

/* A program has new metrics when it first reports them. */
static void find_missing(struct metric_columns *mc)
{
	uint32_t n = metric_table_count(mc->s->metrics);

	for (unsigned k = 0; k < mc->n && n != mc->n_metrics; k++) {
		struct metric_column *m = &mc->v[k];

		if (m->word &&
		    derive_parse(mc->s, m->word, strcspn(m->word, ","), &m->derived) == 0)
			m->word = NULL;
	}
	mc->n_metrics = n;
}

const char *metric_columns_missing(const struct metric_columns *mc)
{
	for (unsigned k = 0; k < mc->n; k++)
		if (mc->v[k].word)
			return mc->v[k].title;
	return NULL;
}

void metric_columns_update(struct metric_columns *mc)
{
	if (mc->s)
		find_missing(mc);
	if (mc->now)
		derive_masks(mc->now, NULL, NULL, TOTALS_OF_SHOWN);
	if (mc->before)
		derive_masks(mc->before, NULL, NULL, TOTALS_OF_SHOWN);
	for (unsigned k = 0; k < mc->n; k++)
		mc->v[k].fetched = false;
}

void metric_columns_done(struct metric_columns *mc)
{
	mc->now = derive_free(mc->now);
	mc->before = derive_free(mc->before);
}
