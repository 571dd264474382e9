/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/number_columns.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include "tui/panel_tree.h"
#include "tui/tui_impl.h"

static double value_time(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_TIME);
}

static double value_total(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_TOTAL);
}

static double value_self(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_SELF);
}

static double value_share(struct panel *p, uint32_t i)
{
	return value_time(p, i) / value_time(p, p->ops->whole ? p->ops->whole(p, i) : 0);
}

static double value_rate(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_RATE);
}

static double value_count(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_COUNT);
}

static double value_average(struct panel *p, uint32_t i)
{
	double count = value_count(p, i);

	return count > 0 ? value_time(p, i) / count : NAN;
}

static double value_min(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_MIN);
}

static double value_max(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_MAX);
}

static double value_quantile(struct panel *p, unsigned k, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_P50 + k);
}

static double value_bytes(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_BYTES);
}

/* Bytes a nanosecond are gigabytes a second. */
static double value_gbs(struct panel *p, uint32_t i)
{
	double time = value_time(p, i);

	return time > 0 ? value_bytes(p, i) / time : NAN;
}

static double value_flops(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_FLOPS);
}

static double value_tfs(struct panel *p, uint32_t i)
{
	double time = value_time(p, i);

	return time > 0 ? value_flops(p, i) / time / 1e3 : NAN;
}

static double value_cpu(struct panel *p, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_CPU);
}

static double value_cpu_share(struct panel *p, uint32_t i)
{
	return value_cpu(p, i) / value_cpu(p, p->ops->whole ? p->ops->whole(p, i) : 0);
}

static bool is_absent(struct panel *p, unsigned which)
{
	return numbers_is_absent(tui_numbers(p->tui), which);
}

static bool no_time(struct panel *p)
{
	return is_absent(p, NUMBER_TIME);
}

static bool no_rate(struct panel *p)
{
	return !p->tui->options.live || no_time(p);
}

static bool no_count(struct panel *p)
{
	return is_absent(p, NUMBER_COUNT);
}

static bool no_range(struct panel *p)
{
	return is_absent(p, NUMBER_MIN);
}

static bool no_quantiles(struct panel *p)
{
	return snapshot_session(p->tui->snap)->n_hists == 0;
}

static bool no_bytes(struct panel *p)
{
	return is_absent(p, NUMBER_BYTES);
}

static bool no_flops(struct panel *p)
{
	return is_absent(p, NUMBER_FLOPS);
}

static bool no_cpu(struct panel *p)
{
	return is_absent(p, NUMBER_CPU);
}

/* Beside time on the device it would be one percentage too many. */
static bool no_cpu_share(struct panel *p)
{
	return !no_time(p) || no_cpu(p);
}

#define QUANTILE(title_, help_, k_)                                                                \
	{                                                                                          \
		.title = title_, .help = help_, .width = 6, .priority = 14 - (k_),                 \
		.format = human_time_ns, .nth_value = value_quantile, .is_absent = no_quantiles,   \
		.k = (k_)                                                                          \
	}

static const struct column columns[] = {
	{"TOTAL", "time on the device, with everything below", 7, 0, human_time_ns, value_total,
	 no_time},
	{"%", "share of the whole, or of the row above", 5, 1, human_percent, value_share, no_time},
	{"NOW/s", "time on the device in the last window, per second", 7, 2, human_time_ns,
	 value_rate, no_rate},
	{"SELF", "time on the device, without what is below", 7, 9, human_time_ns, value_self,
	 no_time},
	{"CALLS", "executions", 6, 3, human_count, value_count, no_count},
	{"AVG", "time of one execution", 6, 6, human_time_ns, value_average, no_count},
	{"MIN", "shortest execution", 6, 11, human_time_ns, value_min, no_range},
	{"MAX", "longest execution", 6, 10, human_time_ns, value_max, no_range},
	QUANTILE("P50", "half of the executions were no longer", 0),
	QUANTILE("P90", "90 % of the executions were no longer", 1),
	QUANTILE("P99", "99 % of the executions were no longer", 2),
	{"BYTES", "bytes moved", 6, 7, human_bytes, value_bytes, no_bytes},
	{"GB/s", "bytes moved per time on the device", 5, 4, human_rate, value_gbs, no_bytes},
	{"FLOPS", "floating-point operations", 6, 8, human_count, value_flops, no_flops},
	{"TF/s", "floating-point operations per time on the device", 5, 5, human_rate, value_tfs,
	 no_flops},
	{"CPU", "time on the host", 7, 2, human_time_ns, value_cpu, no_cpu},
	{"CPU%", "share of the time on the host", 5, 2, human_percent, value_cpu_share,
	 no_cpu_share},
};

/* ---- metrics that only this profile has ---- */

static double value_extra(struct panel *p, unsigned k, uint32_t i)
{
	return p->ops->number(p, i, NUMBER_EXTRA + k);
}

static void add_extra(struct number_columns *c, struct panel *p, const struct metric *m, unsigned k)
{
	tree_extra_title(c->titles[k], sizeof(c->titles[k]), m->name);
	c->v[p->columns.n++] = (struct column){
		.title = c->titles[k],
		.help = m->name,
		.width = (uint8_t)MAX(strlen(c->titles[k]), 7u),
		.priority = (uint8_t)(20 + k),
		.format = tree_extra_format(m),
		.nth_value = value_extra,
		.k = (uint8_t)k,
	};
}

static struct column *find(struct number_columns *c, const char *title)
{
	unsigned i = 0;

	while (strcmp(c->v[i].title, title) != 0)
		i++;
	return &c->v[i];
}

/* What rows are about stands first. What hardly ever differs from it comes last. */
static void put_self_first(struct number_columns *c)
{
	struct column *total = find(c, "TOTAL"), *self = find(c, "SELF"), was = *total;

	*total = *self;
	total->priority = was.priority;
	*self = was;
	self->priority = 15;
}

int number_columns_init(struct number_columns *c, struct panel *p, bool about_self)
{
	memcpy(c->v, columns, sizeof(columns));
	if (about_self)
		put_self_first(c);
	p->columns = (struct columns){c->v, ARRAY_SIZE(columns), 45};
	c->n_made = NUMBER_EXTRA;
	return metric_columns_init(&c->metric, p) == -ENOMEM ? -ENOMEM : 0;
}

void number_columns_done(struct number_columns *c)
{
	metric_columns_done(&c->metric);
}

void number_columns_update(struct number_columns *c, struct panel *p, struct numbers *numbers)
{
	const struct metric_table *table = snapshot_session(p->tui->snap)->metrics;

	c->is_limited = tui_limit(p->tui, &c->limit);
	if (p->metrics) /* those asked for, and no others */
		return;
	for (; c->n_made < numbers_n(numbers); c->n_made++)
		add_extra(c, p, metric_table_get(table, numbers_metric(numbers, c->n_made)),
			  c->n_made - NUMBER_EXTRA);
}

static bool reaches(const struct number_columns *c, struct panel *p, uint32_t i, unsigned which)
{
	return least_reached(&p->tui->least, p->ops->derived(p, i, which, &c->limit),
			     p->ops->derived(p, 0, which, &c->limit));
}

bool number_columns_reach(const struct number_columns *c, struct panel *p, uint32_t i)
{
	return !c->is_limited || reaches(c, p, i, NUMBER_LIMIT) ||
	       (p->tui->options.before && reaches(c, p, i, NUMBER_LIMIT_BEFORE));
}

void number_columns_choose(struct panel *p)
{
	const struct columns *c = &p->columns;

	if (!c->v[p->sort].is_absent || !c->v[p->sort].is_absent(p))
		return;
	for (unsigned i = 0; i < c->n; i++)
		if (!c->v[i].is_absent || !c->v[i].is_absent(p)) {
			p->sort = i;
			return;
		}
}
