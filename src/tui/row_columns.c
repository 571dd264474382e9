/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/row_columns.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/ranges_wanted.h"
#include "naming/metric_heads.h"
#include "tui/text.h"
#include "tui/tui_impl.h"

#define WIDTH_MAX 24 /* of what is measured */
#define HEAD_MAX  16 /* of a name that has more words than a column has room for … */
#define HEAD_FROM                                                                                  \
	80 /* … on a screen of so many columns; of a wider one they share what it has more */
#define HEAD_BESIDE 2 /* a blank, and the mark of the order */
#define COUNTED_NAME                                                                               \
	25 /* percent of the width: what was asked for when the program ran comes before long names */

/* Slots of a column: one on each side. The limit has the first ones, behind those of core/flat.h. */
enum { ROW_SLOTS = 2, LIMIT_SLOT = USUAL_N };

/* ---- making them ---- */

const char *tui_sort_name(unsigned i)
{
	return i < USUAL_N ? usual_columns[i].title : NULL;
}

static int reserve(struct row_columns *rc, unsigned n_columns)
{
	if (ARRAY_ROOM(rc->v, rc->cap, rc->n + 1u) < 0 ||
	    ARRAY_ROOM(rc->columns, rc->cap_columns, n_columns + 1u) < 0)
		return -ENOMEM;
	return 0;
}

int row_columns_insert(struct row_columns *rc, struct panel *p, unsigned at, const struct column *c)
{
	if (reserve(rc, p->columns.n) < 0)
		return -ENOMEM;
	memmove(rc->columns + at + 1, rc->columns + at, (p->columns.n - at) * sizeof(*rc->columns));
	rc->columns[at] = *c;
	p->columns.v = rc->columns;
	p->columns.n++;
	return 0;
}

static void set_spec(struct row_column *c, const struct column_spec *spec)
{
	c->spec = *spec;
	c->of_parent = spec->derived;
	c->of_parent.op = spec->derived.op == DERIVED_SHARE && spec->derived.inclusive
				  ? DERIVED_OF_PARENT
				  : DERIVED_VALUE;
	_Static_assert(DERIVED_VALUE == 0, "no share is none of the row above");
}

/* A title that is not of the usual ones has room for the mark of the order, too. */
static uint8_t width_of(const struct column_spec *spec, const char *title)
{
	int width = spec->title == title ? 0 : text_columns(title, strlen(title), true) + 1;

	return (uint8_t)CLAMP(width, spec->width, 100);
}

/* The last column of the panel. The title is the word, or the column's own. NULL: out of memory. */
static struct row_column *add(struct row_columns *rc, struct panel *p,
			      const struct column_spec *spec, const char *word, size_t len)
{
	struct row_column *c;

	if (reserve(rc, p->columns.n) < 0 || !(c = calloc(1, sizeof(*c))))
		return NULL;
	set_spec(c, spec);
	c->title = spec->title && !len ? strdup(spec->title) : strndup(word, len);
	if (!c->title) {
		free(c);
		return NULL;
	}
	c->is_counted = range_metric_is(c->title);
	c->slot = rc->n_slots;
	rc->n_slots += ROW_SLOTS;
	rc->v[rc->n++] = c;
	rc->columns[p->columns.n] = (struct column){
		.title = c->title,
		.help = spec->help ? spec->help : "asked for by name",
		.width = width_of(spec, len ? c->title : spec->title),
		.priority = spec->priority,
		.of = c,
	};
	p->columns.v = rc->columns;
	p->columns.n++;
	return c;
}

static int add_usual(struct row_columns *rc, struct panel *p, enum usual_column usual,
		     bool is_first)
{
	struct column_spec spec = usual_columns[usual];

	/* What rows are about stays longest; what hardly ever differs from it goes first. */
	if (is_first)
		spec.priority = 0;
	else if (usual == USUAL_TOTAL)
		spec.priority = 15;
	return add(rc, p, &spec, NULL, 0) ? 0 : -ENOMEM;
}

/* A word that a running program may still tell of has a column, which stays empty. */
static int parse(const struct row_columns *rc, const struct panel *p, const char *word, size_t len,
		 struct column_spec *ret, bool *ret_missing)
{
	int r = column_parse(rc->s, word, len, ret);

	*ret_missing = r == -ENOENT && p->tui->options.live && !column_is_hopeless(word, len);
	return *ret_missing ? 0 : r;
}

static int add_word(struct row_columns *rc, struct panel *p, const char *word, size_t len)
{
	struct row_column *c;
	struct column_spec spec;
	bool missing;
	int r = parse(rc, p, word, len, &spec, &missing);

	if (r < 0)
		return r;
	spec.priority = (uint8_t)MIN(p->columns.n, 200u);
	c = add(rc, p, &spec, word, spec.title ? 0 : len);
	if (!c)
		return -ENOMEM;
	c->is_asked = true;
	c->is_missing = missing;
	return 0;
}

static int add_words(struct row_columns *rc, struct panel *p, const char *words)
{
	int r = 0;

	while (*words && r == 0) {
		size_t len = column_word_len(rc->s, words);

		r = add_word(rc, p, words, len);
		words += len + (words[len] == ',');
	}
	return r;
}

/* A, B, Δ, Δ% and STATUS of a metric. */
static int add_comparison(struct row_columns *rc, struct panel *p, const char *word, size_t len)
{
	static const struct {
		const char *title, *ascii, *help;
		uint8_t width, priority; /* width: 0, that of a value; 1, and of a sign */
	} parts[] = {
		[PART_NOW] = {"B", "B", "now", 0, 0},
		[PART_BEFORE] = {"A", "A", "before", 0, 0},
		[PART_DELTA] = {"\xce\x94", "DIFF", "B less A", 1, 0},
		[PART_RATIO] = {"\xce\x94%", "DIFF%", "change, percent of A", 7, 1},
		[PART_STATUS] = {"STATUS", "STATUS", "new, gone, changed or same", 7, 2},
	};
	static const uint8_t order[] = {PART_BEFORE, PART_NOW, PART_DELTA, PART_RATIO, PART_STATUS};
	struct column_spec spec;
	int r = column_parse(rc->s, word, len, &spec);
	uint8_t value = r == 0 ? (uint8_t)CLAMP(spec.width, 7, 8) : 0;

	for (unsigned i = 0; i < ARRAY_SIZE(order) && r == 0; i++) {
		struct row_column *c;

		spec.title = p->tui->options.ascii ? parts[order[i]].ascii : parts[order[i]].title;
		spec.help = parts[order[i]].help;
		spec.width = parts[order[i]].width;
		if (spec.width < 2)
			spec.width = (uint8_t)(spec.width + value);
		spec.priority = parts[order[i]].priority;
		c = add(rc, p, &spec, NULL, 0);
		if (!c)
			return -ENOMEM;
		c->part = order[i];
		c->is_asked = true;
	}
	p->columns.name_least = COMPARED_NAME;
	p->sort = rc->wish = 2;
	return r;
}

static int add_compared(struct row_columns *rc, struct panel *p)
{
	const char *asked = p->tui->options.metrics;
	const char *time = derive_time(rc->s) == METRIC_TIME ? "time" : "cpu_time";
	const char *words = asked && *asked ? asked : time;
	size_t len = column_word_len(rc->s, words);
	int r = add_comparison(rc, p, words, len);

	return r == 0 && words[len] ? add_words(rc, p, words + len + 1) : r;
}

static double name_value(struct panel *p, uint32_t i)
{
	return tui_name_place(p->tui, p->ops->example(p, i));
}

static int make_columns(struct row_columns *rc, struct panel *p, const enum usual_column *usual,
			unsigned n)
{
	const struct tui_options *o = &p->tui->options;
	int r = 0;

	rc->s = panel_session(p);
	rc->n_metrics = METRIC_N_BUILTIN;
	rc->n_slots = LIMIT_SLOT + ROW_SLOTS;
	rc->is_chosen = ((o->metrics && *o->metrics) || o->before) && !rc->only_sums;
	p->rows = rc;
	if (rc->is_chosen) {
		p->columns.name_percent =
			25; /* numbers that were asked for come before long names */
		rc->error = o->before ? add_compared(rc, p) : add_words(rc, p, o->metrics);
		return rc->error == -ENOMEM ? -ENOMEM : 0;
	}
	for (unsigned i = 0; i < n && r == 0; i++)
		r = add_usual(rc, p, usual[i], i == 0);
	return r;
}

int row_columns_init(struct row_columns *rc, struct panel *p, const enum usual_column *usual,
		     unsigned n)
{
	static const struct column name = {
		.title = "NAME", .help = "from a to z", .value = name_value, .is_name = true};
	int r = make_columns(rc, p, usual, n);

	if (r == 0 && p->ops->example)
		r = row_columns_insert(rc, p, p->columns.n, &name);
	return r;
}

void row_columns_rank(struct row_columns *rc, struct panel *p, enum usual_column usual,
		      uint8_t rank)
{
	for (unsigned i = 0; i < p->columns.n; i++)
		if (rc->columns[i].help == usual_columns[usual].help && !rc->is_chosen)
			rc->columns[i].priority = rank;
}

void row_columns_done(struct row_columns *rc)
{
	for (unsigned i = 0; i < rc->n; i++) {
		free(rc->v[i]->title);
		free(rc->v[i]->head);
		alphabet_done(&rc->v[i]->words);
		free(rc->v[i]);
	}
	past_done(&rc->past);
	free(rc->v);
	free(rc->columns);
}

/* ---- with each picture ---- */

/* A program has new metrics when it first reports them. */
static void find_missing(struct row_columns *rc)
{
	struct column_spec spec;

	for (unsigned i = 0; i < rc->n; i++) {
		struct row_column *c = rc->v[i];

		if (!c->is_missing || column_parse(rc->s, c->title, strlen(c->title), &spec) < 0)
			continue;
		spec.priority = c->spec.priority;
		set_spec(c, &spec);
		c->is_missing = false;
	}
}

/* May it decide how wide something is? */
static bool is_sum(const struct row_columns *rc, const struct column_spec *spec)
{
	const struct metric *m = derive_metric(rc->s, spec->derived.metric);

	return m && m->type != METRIC_TEXT && metric_add_plain(m->add) == METRIC_SUM &&
	       (spec->derived.op == DERIVED_VALUE || spec->derived.op == DERIVED_NOW);
}

/* It may be there already, for an order that was asked for before there was a picture. */
static bool keep_spare(struct row_columns *rc, struct panel *p, uint32_t metric, uint8_t priority)
{
	for (unsigned i = 0; i < p->columns.n; i++) {
		struct row_column *c = rc->columns[i].of;

		if (!c || !c->is_spare || c->spec.derived.metric != metric ||
		    c->spec.derived.op != DERIVED_VALUE || !c->spec.derived.plain)
			continue;
		c->is_spare = false;
		rc->columns[i].priority = priority;
		return true;
	}
	return false;
}

/* What stands above it, in place of its name. */
static void set_head(struct column *c, const char *head)
{
	free(c->of->head);
	c->of->head = strdup(head);
	c->width = width_of(&c->of->spec, c->of->head ? c->of->head : c->title);
}

/* Of what comes before the rest of the usual ones: the least and most of single scopes last. */
static uint8_t first_rank(uint32_t metric)
{
	return metric == METRIC_CYCLES_MIN || metric == METRIC_CYCLES_MAX
		       ? usual_columns[USUAL_FLOPS].priority
		       : usual_columns[USUAL_TFPS].priority;
}

static void add_own(struct row_columns *rc, struct panel *p, uint32_t metric)
{
	struct column_spec spec;
	size_t len;
	bool is_first;

	if (!derive_is_own(rc->s, metric) && !metric_is_of_cycles(metric))
		return;
	column_of_metric(rc->s, metric, &spec, &len);
	if (rc->only_sums && !is_sum(rc, &spec))
		return;
	is_first = range_metric_is(spec.title) || metric_is_of_cycles(metric);
	spec.priority = is_first ? first_rank(metric) : (uint8_t)MIN(20 + p->columns.n, 250u);
	if (is_first)
		p->columns.name_percent = COUNTED_NAME;
	if (!keep_spare(rc, p, metric, spec.priority) && add(rc, p, &spec, spec.title, len) &&
	    metric_is_of_cycles(metric))
		set_head(&rc->columns[p->columns.n - 1], metric_title(metric));
}

/* Scopes within kernels have nothing but these, which are built in, and which few profiles have. */
static void add_warps(struct row_columns *rc, struct panel *p)
{
	static const struct derived cycles = {.metric = METRIC_NORMALIZED_CYCLES};

	if (rc->has_warps || !row_has(p, &cycles))
		return;
	for (uint32_t m = METRIC_CYCLES; m <= METRIC_SCOPE_VALUE_MAX; m++)
		if (metric_is_of_warps(m) || metric_is_of_cycles(m))
			add_own(rc, p, m);
	rc->has_warps = true;
}

/* As much of its name as tells it apart from the others. */
static void set_short_name(struct column *c, const char *const names[], size_t n, size_t i,
			   size_t width, const char *dots)
{
	_cleanup_(buf_done) struct buf head = {0};

	metric_head_put(&head, names, n, i, width, dots);
	set_head(c, head.error ? c->title : buf_str(&head));
}

/* Wider ones where all of them have room for that: none is left out for it. */
static size_t head_width(const struct panel *p, size_t n)
{
	size_t more = p->width > HEAD_FROM ? (size_t)(p->width - HEAD_FROM) : 0;
	size_t each = more * (100 - COUNTED_NAME) / 100 / n;

	return each > HEAD_MAX + HEAD_BESIDE ? each - HEAD_BESIDE : HEAD_MAX;
}

/* Names of hardware metrics are long: so much of them as tells them apart. */
static void make_heads(struct row_columns *rc, struct panel *p)
{
	_cleanup_(freep) const char **names = calloc(rc->n + 1u, sizeof(*names));
	size_t n = 0, k = 0;

	rc->heads_for = p->width;
	for (unsigned i = 0; names && i < p->columns.n; i++)
		if (rc->columns[i].of && rc->columns[i].of->is_counted)
			names[n++] = rc->columns[i].title;
	for (unsigned i = 0; i < p->columns.n && k < n; i++)
		if (rc->columns[i].of && rc->columns[i].of->is_counted)
			set_short_name(&rc->columns[i], names, n, k++, head_width(p, n),
				       draw_dots(p->tui->options.ascii));
}

static bool may_sort(struct panel *p, const struct column *c)
{
	return !(c->of && c->of->is_missing) && !column_is_absent(p, c);
}

/* The first column that may, of times if wanted; n: none. */
static unsigned first_to_sort(struct panel *p, bool times)
{
	unsigned i = 0;

	for (; i < p->columns.n; i++) {
		const struct column *c = &p->columns.v[i];

		if (!c->is_name && may_sort(p, c) &&
		    (!times || (c->of && c->of->spec.form == FORM_TIME)))
			break;
	}
	return i;
}

/* A panel that has no value of what it is to be sorted by is sorted by the first time that it has, else by
 * the first column that has values, until there are some: a running program may tell of a metric later. */
static void choose_sort(struct row_columns *rc, struct panel *p)
{
	const struct column *wished = &p->columns.v[rc->wish];

	if (may_sort(p, wished)) {
		if (p->sort != rc->wish)
			p->ascending = rc->wish_ascending;
		p->sort = rc->wish;
		return;
	}
	if (p->sort == rc->wish) {
		rc->wish_ascending = p->ascending;
		p->ascending = false;
	}
	p->sort = first_to_sort(p, true);
	if (p->sort == p->columns.n)
		p->sort = first_to_sort(p, false);
	if (p->sort == p->columns.n) { /* nothing has */
		p->sort = rc->wish;
		p->ascending = rc->wish_ascending;
	}
}

void row_columns_update(struct row_columns *rc, struct panel *p)
{
	uint32_t n = metric_table_count(rc->s->metrics);
	unsigned n_columns = rc->n_metrics == METRIC_N_BUILTIN ? 0 : rc->n;

	rc->is_limited = tui_limit(p->tui, &rc->limit);
	if (rc->n_metrics < n)
		find_missing(rc);
	for (; rc->n_metrics < n; rc->n_metrics++)
		if (!rc->is_chosen)
			add_own(rc, p, rc->n_metrics);
	if (!rc->is_chosen)
		add_warps(rc, p);
	for (unsigned k = 0; k < p->choice.n; k++)
		row_columns_find(rc, p, p->choice.titles[k]);
	if (n_columns < rc->n || rc->heads_for != p->width)
		make_heads(rc, p);
	choose_sort(rc, p);
}

/* await: also one of a metric that the running program does not have yet. */
static int find(struct row_columns *rc, struct panel *p, const char *word, bool await)
{
	int i = columns_find(&p->columns, word);
	struct column_spec spec;
	struct row_column *c;
	bool missing;

	if (i >= 0 || parse(rc, p, word, strlen(word), &spec, &missing) < 0 ||
	    (missing && !await) || (rc->only_sums && !is_sum(rc, &spec)))
		return i;
	spec.priority = UINT8_MAX;
	c = add(rc, p, &spec, word, spec.title ? 0 : strlen(word));
	if (!c)
		return -1;
	c->is_spare = true;
	c->is_missing = missing;
	return (int)p->columns.n - 1;
}

int row_columns_find(struct row_columns *rc, struct panel *p, const char *word)
{
	return find(rc, p, word, false);
}

int row_columns_await(struct row_columns *rc, struct panel *p, const char *word)
{
	return find(rc, p, word, true);
}

unsigned row_columns_put_hidden(const struct row_columns *rc, struct panel *p, struct buf *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->columns.n && !rc->is_chosen && !p->choice.n; i++) {
		const struct column *c = &p->columns.v[i];

		if (c->of && c->of->is_counted && !c->of->is_spare && !fit_has(&p->shown, i) &&
		    !column_is_absent(p, c))
			buf_printf(out, "%s%s", n++ ? ", " : "", c->title);
	}
	return n;
}

const char *row_columns_missing(const struct row_columns *rc)
{
	for (unsigned i = 0; i < rc->n; i++)
		if (rc->v[i]->is_missing && !rc->v[i]->is_spare)
			return rc->v[i]->title;
	return NULL;
}

static double limit_value(struct row_columns *rc, struct panel *p, uint32_t i, bool before)
{
	const struct row_ask a = {{&rc->limit, before, LIMIT_SLOT + before},
				  &rc->limit_terms[before]};

	return p->ops->value(p, i, &a);
}

static bool reaches(struct row_columns *rc, struct panel *p, uint32_t i, bool before)
{
	double whole = p->ops->limit_whole ? p->ops->limit_whole(p, before)
					   : limit_value(rc, p, 0, before);

	return least_reached(&p->tui->least, limit_value(rc, p, i, before), whole);
}

bool row_columns_reach(struct row_columns *rc, struct panel *p, uint32_t i)
{
	return !rc->is_limited || reaches(rc, p, i, false) ||
	       (p->tui->options.before && reaches(rc, p, i, true));
}

/* ---- widths ---- */

static bool has_any_length(const struct column *c)
{
	return c->of && c->of->part != PART_RATIO && c->of->part != PART_STATUS &&
	       (c->of->spec.form == FORM_PLAIN || c->of->spec.form == FORM_WORD);
}

static void make_room(struct panel *p, struct column *c, uint32_t i)
{
	char text[COLUMN_TEXT];
	int width;

	row_print(p, c->of, i, text);
	width = text_columns(text, strlen(text), true);
	c->width = (uint8_t)MAX(c->width, MIN(width, WIDTH_MAX));
}

/* Words one by one, numbers by the largest and the smallest. */
static void measure(struct panel *p, struct column *c, uint32_t n)
{
	double least = INFINITY, most = -INFINITY;
	uint32_t i_least = 0, i_most = 0;

	for (uint32_t i = 0; i < n; i++) {
		double v = row_value(p, c->of, i);

		if (!isfinite(v))
			continue;
		if (c->of->spec.form == FORM_WORD)
			make_room(p, c, i);
		if (v < least) {
			least = v;
			i_least = i;
		}
		if (v > most) {
			most = v;
			i_most = i;
		}
	}
	if (isfinite(most)) {
		make_room(p, c, i_least);
		make_room(p, c, i_most);
	}
}

/* What was counted of scopes is of no kernel: their rows would have dashes alone. */
static void look_for_values(struct panel *p, struct row_column *c, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && isnan(row_value(p, c, i)))
		i++;
	c->is_empty = i == n;
}

void row_columns_measure(struct row_columns *rc, struct panel *p, uint32_t n)
{
	uint64_t stamp = numbers_generation(p->ops->numbers(p)) << 32 | n;

	if (rc->measured == stamp)
		return;
	for (unsigned i = 0; i < p->columns.n; i++) {
		if (has_any_length(&rc->columns[i]))
			measure(p, &rc->columns[i], n);
		if (p->ops->own_numbers && rc->columns[i].of && rc->columns[i].of->is_counted)
			look_for_values(p, rc->columns[i].of, n);
	}
	rc->measured = stamp;
}

bool row_columns_by_time(const struct panel *p)
{
	const struct row_column *c = p->columns.v[p->sort].of;

	return !p->ascending && !p->tui->options.before && c &&
	       c->spec.derived.metric == METRIC_TIME;
}
