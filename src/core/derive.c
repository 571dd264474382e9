/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/derive.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/human.h"
#include "base/util.h"
#include "core/filter.h"
#include "core/hists.h"

/* A column made so far; raw ones have factor 0. */
struct made {
	struct derived key;
	bool all; /* counts what is not shown, too */
	double *v;
};

struct derive {
	struct snapshot *snap;
	const struct peaks *peaks;
	const uint8_t *removed, *shown;
	enum totals totals;
	struct made *made;
	size_t n_made, cap_made;
	char why[160];
};

const char *bound_word(enum bound bound)
{
	static const char *const words[BOUND_N] = {"neither", "compute", "memory"};

	return bound < BOUND_N ? words[bound] : words[BOUND_NEITHER];
}

/* ---- names ---- */

struct word_factor {
	const char *word;
	double factor;
};

static const struct word_factor time_units[] = {
	{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9},
};

/* Prefixes of every other unit; "" is the unit itself. IEC ones before SI ones. */
static const struct word_factor prefixes[] = {
	{"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60},
	{"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},    {"P", 1e15},    {"E", 1e18},
	{"", 1},
};

static bool same(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !strncasecmp(word, name, len);
}

static bool starts(const char **word, size_t *len, const char *prefix)
{
	size_t n = strlen(prefix);

	if (*len < n || strncasecmp(*word, prefix, n) != 0)
		return false;
	*word += n;
	*len -= n;
	return true;
}

static bool ends(const char *word, size_t *len, const char *suffix)
{
	size_t n = strlen(suffix);

	if (*len < n || strncasecmp(word + *len - n, suffix, n) != 0)
		return false;
	*len -= n;
	while (*len && word[*len - 1] == ' ')
		(*len)--;
	return true;
}

uint32_t derive_find(const struct session *s, const char *word, size_t len)
{
	uint32_t i, n = metric_table_count(s->metrics);

	for (i = 0; i < n; i++)
		if (same(word, len, metric_table_get(s->metrics, i)->name))
			return i;
	for (i = 0; i < n; i++) {
		const char *name = metric_table_get(s->metrics, i)->name;
		size_t bare = strcspn(name, "(");

		while (bare && name[bare - 1] == ' ')
			bare--;
		if (bare == len && !strncasecmp(word, name, len))
			return i;
	}
	return METRIC_NONE;
}

/* "M", "MB" or "MiB" of a metric of this unit. */
static int parse_unit(const char *unit, const char *word, size_t len, double *ret)
{
	if (!strcmp(unit, "ns")) {
		for (size_t i = 0; i < ARRAY_SIZE(time_units); i++) {
			*ret = time_units[i].factor;
			if (same(word, len, time_units[i].word))
				return 0;
		}
		return -EINVAL;
	}
	if (!strcmp(unit, "B"))
		ends(word, &len, "B");
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		*ret = prefixes[i].factor;
		if (same(word, len, prefixes[i].word))
			return 0;
	}
	return -EINVAL;
}

/* "flop16/s", "gbyte/s", "GB/s", "TiB/s"; -ENOENT: no rate. */
static int parse_rate(const char *word, size_t len, struct derived *ret)
{
	static const struct {
		const char *word;
		uint32_t metric;
	} things[] = {
		{"byte", METRIC_BYTES},     {"B", METRIC_BYTES},        {"flop", METRIC_FLOPS},
		{"flop8", METRIC_FLOPS8},   {"flop16", METRIC_FLOPS16}, {"flop32", METRIC_FLOPS32},
		{"flop64", METRIC_FLOPS64},
	};

	if (!ends(word, &len, "/s"))
		return -ENOENT;
	for (size_t p = 0; p < ARRAY_SIZE(prefixes); p++) {
		const char *rest = word;
		size_t rest_len = len;

		if (!starts(&rest, &rest_len, prefixes[p].word))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(things); i++) {
			if (!same(rest, rest_len, things[i].word))
				continue;
			ret->op = DERIVED_RATE;
			ret->metric = things[i].metric;
			ret->factor = prefixes[p].factor;
			return 0;
		}
	}
	return -ENOENT;
}

/* "util", "bound", "p99/us" and "time_p99/us" */
static int parse_special(const char *word, size_t len, struct derived *ret)
{
	size_t digits;

	if (same(word, len, "util") || same(word, len, "bound")) {
		ret->op = same(word, len, "util") ? DERIVED_UTIL : DERIVED_BOUND;
		return 0;
	}
	starts(&word, &len, "time_");
	if (!starts(&word, &len, "p"))
		return -ENOENT;
	for (digits = 0; digits < len && word[digits] >= '0' && word[digits] <= '9'; digits++)
		ret->share = ret->share * 10 + (word[digits] - '0');
	if (!digits || ret->share > 100)
		return -ENOENT;
	ret->share /= 100;
	ret->op = DERIVED_QUANTILE;
	if (digits == len)
		return 0;
	if (word[digits] != '/')
		return -ENOENT;
	ret->plain = false;
	return parse_unit("ns", word + digits + 1, len - digits - 1, &ret->factor);
}

static int parse_metric(const struct session *s, const char *word, size_t len, struct derived *ret)
{
	const char *slash = memrchr(word, '/', len), *unit = NULL;
	size_t bare = len, unit_len = 0;

	ret->metric = derive_find(s, word, len);
	if (ret->metric != METRIC_NONE)
		return 0;
	if (slash) {
		bare = (size_t)(slash - word);
		unit = slash + 1;
		unit_len = len - bare - 1;
	}
	ret->metric = derive_find(s, word, bare);
	if (ret->metric == METRIC_NONE && starts(&word, &bare, "avg_")) {
		ret->metric = derive_find(s, word, bare);
		ret->op = DERIVED_AVG;
	}
	if (ret->metric == METRIC_NONE)
		return -ENOENT;
	if (metric_table_get(s->metrics, ret->metric)->type == METRIC_TEXT)
		return unit || ret->op == DERIVED_AVG ? -EINVAL : 0;
	if (!unit)
		return 0;
	if (ret->op == DERIVED_VALUE && same(unit, unit_len, "%")) {
		ret->op = DERIVED_SHARE;
		return 0;
	}
	if (ret->op == DERIVED_VALUE && same(unit, unit_len, "%parent")) {
		ret->op = DERIVED_OF_PARENT;
		return 0;
	}
	ret->plain = false;
	return parse_unit(metric_table_get(s->metrics, ret->metric)->unit, unit, unit_len, &ret->factor);
}

int derive_parse(const struct session *s, const char *word, size_t len, struct derived *ret)
{
	bool exc, inc;
	int r;

	*ret = (struct derived){
		.op = DERIVED_VALUE, .inclusive = true, .plain = true, .metric = METRIC_NONE, .factor = 1};
	while (len && *word == ' ') {
		word++;
		len--;
	}
	ends(word, &len, "");
	/* A metric may be called so itself. */
	ret->metric = derive_find(s, word, len);
	exc = ret->metric == METRIC_NONE && ends(word, &len, "(exc)");
	inc = ret->metric == METRIC_NONE && !exc && ends(word, &len, "(inc)");
	r = parse_special(word, len, ret);
	if (r == -ENOENT)
		r = parse_rate(word, len, ret);
	if (r == -ENOENT)
		r = parse_metric(s, word, len, ret);
	if (r < 0)
		return r;
	ret->inclusive = !exc;
	ret->is_said = exc || inc;
	if (ret->op == DERIVED_UTIL || ret->op == DERIVED_BOUND)
		ret->inclusive = inc; /* upstream's util is of a kernel alone */
	else if (ret->metric != METRIC_NONE && !inc &&
		 metric_table_get(s->metrics, ret->metric)->scope != METRIC_INCLUSIVE)
		ret->inclusive = false;
	return 0;
}

/* ---- columns ---- */

struct derive *derive_new(struct snapshot *snap, const struct peaks *peaks)
{
	struct derive *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->snap = snap;
	d->peaks = peaks;
	return d;
}

static void drop_columns(struct derive *d)
{
	for (size_t i = 0; i < d->n_made; i++)
		free(d->made[i].v);
	d->n_made = 0;
}

struct derive *derive_free(struct derive *d)
{
	if (!d)
		return NULL;
	drop_columns(d);
	free(d->made);
	free(d);
	return NULL;
}

void derive_masks(struct derive *d, const uint8_t *removed, const uint8_t *shown, enum totals totals)
{
	drop_columns(d);
	d->removed = removed;
	d->shown = shown;
	d->totals = totals;
}

const char *derive_why(const struct derive *d)
{
	return *d->why ? d->why : NULL;
}

static bool same_key(const struct derived *a, const struct derived *b)
{
	return a->op == b->op && a->inclusive == b->inclusive && a->metric == b->metric &&
	       a->factor == b->factor && a->share == b->share;
}

static double *column_find(const struct derive *d, const struct derived *key, bool all)
{
	for (size_t i = 0; i < d->n_made; i++)
		if (d->made[i].all == all && same_key(&d->made[i].key, key))
			return d->made[i].v;
	return NULL;
}

/* A new column, all absent, which d owns. */
static double *column_new(struct derive *d, const struct derived *key, bool all)
{
	uint32_t n = snapshot_n(d->snap);
	double *v;

	if (array_reserve((void **)&d->made, &d->cap_made, d->n_made + 1, sizeof(*d->made)) < 0)
		return NULL;
	v = malloc(MAX(n, 1u) * sizeof(*v));
	if (!v)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		v[i] = NAN;
	d->made[d->n_made++] = (struct made){*key, all, v};
	return v;
}

static bool counts(const struct derive *d, uint32_t node, bool all)
{
	return (!d->removed || d->removed[node]) && (all || !d->shown || d->shown[node]);
}

/* From the last node to the first: each into its parent. */
static int roll_up(struct derive *d, const struct metric *m, double *v)
{
	const struct snap_column *weight =
		m->add == METRIC_WMEAN && m->weight != METRIC_NONE
			? snapshot_column(d->snap, m->weight, false)
			: NULL;
	uint32_t n = snapshot_n(d->snap), i;
	double *w = malloc(MAX(n, 1u) * sizeof(*w));

	if (!w)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		w[i] = weight && !isnan(weight->v[i]) ? weight->v[i] : 1;
	for (i = n; i-- > 1;) {
		uint32_t parent = snapshot_node(d->snap, i)->parent;

		metric_add_number(m, &v[parent], &w[parent], v[i], w[i]);
	}
	free(w);
	return 0;
}

static const double *raw(struct derive *d, uint32_t metric, bool inclusive, bool all)
{
	const struct derived key = {.op = DERIVED_VALUE, .inclusive = inclusive, .metric = metric};
	const struct metric *m = metric_table_get(snapshot_session(d->snap)->metrics, metric);
	bool masked = d->removed || (d->shown && !all);
	const struct snap_column *own;
	double *v = column_find(d, &key, all);
	uint32_t i;

	if (v || !m)
		return v;
	if (!masked && (!inclusive || m->scope == METRIC_INCLUSIVE)) {
		own = snapshot_column(d->snap, metric, inclusive);
		return own ? own->v : NULL;
	}
	own = snapshot_column(d->snap, metric, false);
	v = own ? column_new(d, &key, all) : NULL;
	if (!v)
		return NULL;
	for (i = 0; i < snapshot_n(d->snap); i++)
		if (counts(d, i, all))
			v[i] = own->v[i];
	if (inclusive && m->type != METRIC_TEXT && roll_up(d, m, v) < 0)
		return NULL;
	return v;
}

const double *derive_raw(struct derive *d, uint32_t metric, bool inclusive)
{
	return raw(d, metric, inclusive, d->totals == TOTALS_OF_ALL);
}

/* ---- what is made of raw columns ---- */

/* In the unit asked for. Triton's viewer goes through seconds, which decides how 0.9115 is rounded. */
static double in_unit(const struct derive *d, const struct derived *m, double value, double count)
{
	if (d->totals == TOTALS_UPSTREAM && !m->plain &&
	    (m->metric == METRIC_TIME || m->metric == METRIC_CPU_TIME))
		return value * 1e-9 / count / (1 / (1e9 / m->factor));
	return value / count / m->factor;
}

static void make_value(const struct derive *d, const struct derived *m, const double *a, double *v)
{
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		v[i] = in_unit(d, m, a[i], 1);
}

static void make_share(const struct derive *d, const struct derived *m, const double *a, double *v)
{
	uint32_t n = snapshot_n(d->snap), i;
	double all = a[0];

	if (!m->inclusive)
		for (all = 0, i = 0; i < n; i++)
			all += isnan(a[i]) ? 0 : a[i];
	for (i = 0; i < n; i++)
		v[i] = a[i] / all * 100;
}

static void make_of_parent(const struct derive *d, const double *a, double *v)
{
	v[0] = a[0] / a[0] * 100;
	for (uint32_t i = 1; i < snapshot_n(d->snap); i++)
		v[i] = a[i] / a[snapshot_node(d->snap, i)->parent] * 100;
}

static int make_avg(struct derive *d, const struct derived *m, const double *a, bool all, double *v)
{
	bool own = !m->inclusive && m->metric != METRIC_CPU_TIME;
	const double *count = raw(d, METRIC_COUNT, !own, all);

	if (!count)
		return -ENOMEM;
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		v[i] = in_unit(d, m, a[i], count[i]);
	return 0;
}

static int make_rate(struct derive *d, const struct derived *m, const double *a, bool all, double *v)
{
	const double *time = raw(d, METRIC_TIME, m->inclusive, all);

	if (!time)
		return -ENOMEM;
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++)
		v[i] = a[i] / (time[i] * 1e-9) / m->factor;
	return 0;
}

/* ---- percentiles ---- */

/* Which nodes count, as core/hists.h takes it; NULL: all do, or *ret_r says why it is not known. */
static uint8_t *make_kept(const struct derive *d, bool all, int *ret_r)
{
	uint32_t n = snapshot_n(d->snap);
	uint8_t *kept = NULL;

	*ret_r = 0;
	if (!d->removed && (all || !d->shown))
		return NULL;
	kept = malloc(MAX(n, 1u));
	*ret_r = kept ? 0 : -ENOMEM;
	for (uint32_t i = 0; kept && i < n; i++)
		kept[i] = counts(d, i, all);
	return kept;
}

static int make_quantile(const struct derive *d, const struct derived *m, bool all, double *v)
{
	struct hists *h = hists_new(d->snap);
	int r;
	_cleanup_(freep) uint8_t *kept = make_kept(d, all, &r);

	if (r == 0)
		r = h ? hists_update(h, kept) : -ENOMEM;
	if (r == 0)
		hists_quantiles(h, m->share, m->inclusive, v);
	for (uint32_t i = 0; r == 0 && i < snapshot_n(d->snap); i++)
		v[i] /= m->factor;
	hists_free(h);
	return r;
}

/* ---- roofline ---- */

/* Seconds that a node's work would take at each roof. NaN: no such work. */
struct roofs {
	double *compute, *memory, *time;
	bool *on_device, *unknown;
};

static void say_why(struct derive *d, uint32_t device, const char *what)
{
	const struct session *s = snapshot_session(d->snap);
	const struct session_device *dev;

	if (*d->why)
		return;
	if (device >= s->n_devices) {
		snprintf(d->why, sizeof(d->why), "%s are not of a known device", what);
		return;
	}
	dev = &s->devices[device];
	snprintf(d->why, sizeof(d->why), "no peak for %s of %.40s %.40s is known (--peaks gives one)", what,
		 strtab_str(s->strings, dev->type), strtab_str(s->strings, dev->arch));
}

static void add(double *a, double b)
{
	if (!isnan(b))
		*a = isnan(*a) ? b : *a + b;
}

/* One value of a row: which roof it pushes against. */
static void roof_value(struct derive *d, struct roofs *r, uint32_t node, uint32_t device,
		       uint32_t metric, double value)
{
	const struct session *s = snapshot_session(d->snap);
	double peak, *to = metric == METRIC_BYTES ? &r->memory[node] : &r->compute[node];

	if (metric == METRIC_TIME) {
		add(&r->time[node], value * 1e-9);
		return;
	}
	if (!d->peaks || value == 0)
		peak = value == 0 ? 1 : NAN;
	else if (metric == METRIC_BYTES)
		peak = peaks_bandwidth(d->peaks, s, device);
	else
		peak = peaks_flops(d->peaks, s, device, metric - METRIC_FLOPS8);
	if (isnan(peak)) {
		r->unknown[node] = true;
		say_why(d, device, metric == METRIC_BYTES ? "bytes" : "operations");
		return;
	}
	add(to, value / peak);
}

static uint32_t row_device(const struct session *s, const struct session_row *row)
{
	uint32_t device = row->lane < s->n_lanes ? s->lanes[row->lane].device : SESSION_NONE;

	/* Metrics that a program gave itself name no device: the only one is meant. */
	return device == SESSION_NONE && s->n_devices == 1 ? 0 : device;
}

static void roof_row(struct derive *d, struct roofs *r, uint32_t node, const struct session_row *row)
{
	const struct session *s = snapshot_session(d->snap);
	const struct session_set *set = &s->sets[row->set];
	bool on_device = row->lane < s->n_lanes && s->lanes[row->lane].device != SESSION_NONE;

	r->on_device[node] |= on_device;
	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t metric = set->metrics[i];

		if (!s->present[row->values + i] ||
		    (metric != METRIC_TIME && metric != METRIC_BYTES &&
		     (metric < METRIC_FLOPS8 || metric > METRIC_FLOPS64)))
			continue;
		roof_value(d, r, node, row_device(s, row), metric,
			   metric_number(metric_table_get(s->metrics, metric), s->values[row->values + i]));
	}
}

static void roofs_roll_up(const struct derive *d, struct roofs *r)
{
	for (uint32_t i = snapshot_n(d->snap); i-- > 1;) {
		uint32_t parent = snapshot_node(d->snap, i)->parent;

		add(&r->compute[parent], r->compute[i]);
		add(&r->memory[parent], r->memory[i]);
		add(&r->time[parent], r->time[i]);
		r->on_device[parent] |= r->on_device[i];
		r->unknown[parent] |= r->unknown[i];
	}
}

double derive_roofline(enum derived_op op, double compute, double memory, double time)
{
	double util = fmax(compute, memory) / time;

	if (op == DERIVED_UTIL || isnan(util))
		return util;
	if (util < BOUND_AT_LEAST)
		return BOUND_NEITHER;
	return !(compute < memory) ? BOUND_COMPUTE : BOUND_MEMORY;
}

static double roofs_value(const struct roofs *r, enum derived_op op, double compute, uint32_t node)
{
	switch (op) {
	case DERIVED_AT_COMPUTE:
		return compute;
	case DERIVED_AT_MEMORY:
		return r->memory[node];
	case DERIVED_AT_TIME:
		return r->time[node];
	default:
		return derive_roofline(op, compute, r->memory[node], r->time[node]);
	}
}

static void roofs_result(const struct derive *d, const struct derived *m, const struct roofs *r,
			 double *v)
{
	for (uint32_t i = 0; i < snapshot_n(d->snap); i++) {
		double compute = r->compute[i];

		/* Upstream takes work that nobody counted for none. */
		if (isnan(fmax(compute, r->memory[i])) && d->totals == TOTALS_UPSTREAM &&
		    !r->unknown[i])
			compute = 0;
		if (r->on_device[i])
			v[i] = roofs_value(r, m->op, compute, i);
	}
}

static int make_roofline(struct derive *d, const struct derived *m, bool all, double *v)
{
	const struct session *s = snapshot_session(d->snap);
	uint32_t n = snapshot_n(d->snap), i;
	double *numbers;
	bool *flags;
	struct roofs r;

	numbers = malloc(MAX(n, 1u) * 3 * sizeof(*numbers));
	flags = calloc(MAX(n, 1u) * 2, sizeof(*flags));
	if (!numbers || !flags) {
		free(numbers);
		free(flags);
		return -ENOMEM;
	}
	for (i = 0; i < 3 * n; i++)
		numbers[i] = NAN;
	r = (struct roofs){numbers, numbers + n, numbers + 2 * n, flags, flags + n};
	for (size_t row = 0; row < s->n_rows; row++) {
		uint32_t node = snapshot_row_node(d->snap, row);

		if (node < n && !snapshot_node(d->snap, node)->hidden && counts(d, node, all))
			roof_row(d, &r, node, &s->rows[row]);
	}
	if (m->inclusive)
		roofs_roll_up(d, &r);
	roofs_result(d, m, &r, v);
	free(numbers);
	free(flags);
	return 0;
}

static int make(struct derive *d, const struct derived *m, bool all, double *v)
{
	const double *a = NULL;

	if (m->metric != METRIC_NONE) {
		a = raw(d, m->metric, m->inclusive, all);
		if (!a)
			return -ENOMEM;
	}
	switch (m->op) {
	case DERIVED_SHARE:
		make_share(d, m, a, v);
		return 0;
	case DERIVED_OF_PARENT:
		make_of_parent(d, a, v);
		return 0;
	case DERIVED_AVG:
		return make_avg(d, m, a, all, v);
	case DERIVED_RATE:
		return make_rate(d, m, a, all, v);
	case DERIVED_QUANTILE:
		return make_quantile(d, m, all, v);
	case DERIVED_UTIL:
	case DERIVED_BOUND:
	case DERIVED_AT_COMPUTE:
	case DERIVED_AT_MEMORY:
	case DERIVED_AT_TIME:
		return make_roofline(d, m, all, v);
	default:
		make_value(d, m, a, v);
		return 0;
	}
}

const double *derive_column(struct derive *d, const struct derived *m)
{
	bool is_raw = m->op == DERIVED_VALUE && m->plain;
	bool all = d->totals == TOTALS_OF_ALL || (d->totals == TOTALS_UPSTREAM && !is_raw);
	double *v;

	if (is_raw)
		return raw(d, m->metric, m->inclusive, all);
	v = column_find(d, m, all);
	if (v)
		return v;
	v = column_new(d, m, all);
	if (!v || make(d, m, all, v) < 0)
		return NULL;
	return v;
}

/* The usual columns of a table are derived metrics, too. */
static int parse_column(const struct session *s, const char *word, struct derived *ret)
{
	static const char *const usual[][2] = {
		{"total", "time"}, {"%", "time/%"}, {"calls", "count"}, {"avg", "avg_time"},
		{"min", "time_min"}, {"max", "time_max"}, {"tf/s", "tflop/s"},
	};
	size_t len = strcspn(word, ",");

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (same(word, len, usual[i][0]))
			return derive_parse(s, usual[i][1], strlen(usual[i][1]), ret);
	return derive_parse(s, word, len, ret);
}

int least_parse(const struct least *x, const struct session *s, struct derived *ret)
{
	return parse_column(s, x->word && x->value != 0 ? x->word : "total", ret);
}

int least_apply(const struct least *x, uint8_t *mask, struct snapshot *snap)
{
	struct derive *d = derive_new(snap, x->peaks);
	const double *v = NULL;
	struct derived m;
	int r = -ENOMEM;

	if (d)
		r = least_parse(x, snapshot_session(snap), &m);
	if (r == 0)
		v = derive_column(d, &m);
	if (r == 0 && !v)
		r = -ENOMEM;
	if (v && x->value != 0)
		filter_at_least(mask, snap, v, x->value);
	if (v && x->share > 0)
		filter_at_least(mask, snap, v, x->share * v[0]);
	derive_free(d);
	return r;
}

void metric_print(char out[HUMAN_MAX], const struct metric *m, double v)
{
	if (!strcmp(m->unit, "ns"))
		human_time_ns(out, v);
	else if (!strcmp(m->unit, "B"))
		human_bytes(out, v);
	else if (v == floor(v) || fabs(v) >= 1e4)
		human_count(out, v);
	else
		human_rate(out, v);
}
