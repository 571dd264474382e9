/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "findings/units.h"
#include <math.h>
#include <stdio.h>
#include "base/human.h"
#include "core/measured_work.h"
#include "core/ranges_wanted.h"

enum {
	SINGLE = 2, /* of the widths of peaks: 32 bits */
	LEAST_SAMPLES = 10,
};

/* ---- by samples ---- */

/* Absent is not zero: a unit that did nothing has a value. */
static double sampled(const struct evidence *e, uint32_t node, uint32_t metric)
{
	double sum = NAN;

	for (uint32_t row = session_first_row(e->s, node); row != SESSION_NONE;
	     row = session_next_row(e->s, row))
		add_present(&sum, session_row_number(e->s, &e->s->rows[row], metric));
	return sum;
}

static bool by_samples(const struct evidence *e, uint32_t node, struct units *ret)
{
	double ns = sampled(e, node, METRIC_SAMPLED);

	if (!(ns > 0))
		return false;
	*ret = (struct units){.n = evidence_sum(e, node, METRIC_SAMPLES),
			      .by_samples = true,
			      .tensor = sampled(e, node, METRIC_TENSOR_ACTIVE) / ns,
			      .single = sampled(e, node, METRIC_FMA_ISSUE) / ns,
			      .memory = sampled(e, node, METRIC_DRAM) / ns};
	return true;
}

/* ---- by metrics of launches ---- */

/* What rows have of it, one after another. */
struct launches {
	double time_ns, busy_ns, flops, single, tensor;
};

static void add_row(const struct evidence *e, const struct session_row *row, struct launches *sum)
{
	const struct session *s = e->s;
	uint32_t device = session_lane_at(s, row->lane)->device;
	struct measured_work work;

	if (!measured_work_of(&e->measured, s, row, &work))
		return;
	sum->time_ns += work.time_ns;
	sum->busy_ns += work.bytes / peaks_bandwidth(e->peaks, s, device) * 1e9;
	for (unsigned i = 0; i < PEAK_WIDTHS; i++)
		sum->flops += work.flops[i];
	sum->single += work.flops[SINGLE];
	sum->tensor += measured_tensor_flops(&work);
}

static bool by_metrics(const struct evidence *e, uint32_t node, struct units *ret)
{
	struct launches sum = {0};

	if (e->measured.time == METRIC_NONE)
		return false;
	for (uint32_t row = session_first_row(e->s, node); row != SESSION_NONE;
	     row = session_next_row(e->s, row))
		add_row(e, &e->s->rows[row], &sum);
	if (!(sum.time_ns > 0))
		return false;
	*ret = (struct units){
		.n = evidence_sum(e, node, metric_table_find(e->s->metrics, RANGES_COUNT)),
		.tensor = sum.tensor == 0 ? 0 : NAN,
		.single = sum.single / sum.flops,
		.memory = sum.busy_ns / sum.time_ns};
	return true;
}

bool units_of(const struct evidence *e, uint32_t node, struct units *ret)
{
	return by_samples(e, node, ret) || by_metrics(e, node, ret);
}

/* ---- of several kernels ---- */

void units_looked_add(struct units_looked *looked, const struct units *units)
{
	*(units->by_samples ? &looked->samples : &looked->launches) += units->n;
}

bool units_looked_enough(const struct units_looked *looked)
{
	return looked->launches > 0 || looked->samples >= LEAST_SAMPLES;
}

const char *units_looked_text(const struct units_looked *looked, char out[UNITS_LOOKED_TEXT])
{
	char samples[HUMAN_THINGS_MAX] = "", launches[HUMAN_THINGS_MAX] = "";

	if (looked->samples > 0)
		human_things(samples, looked->samples, "sample");
	if (looked->launches > 0)
		human_things(launches, looked->launches, "measured kernel");
	snprintf(out, UNITS_LOOKED_TEXT, "%s%s%s", samples, *samples && *launches ? " and " : "",
		 launches);
	return out;
}

/* ---- of a device ---- */

double tensor_speedup(const struct evidence *e, uint32_t device)
{
	return peaks_flops(e->peaks, e->s, device, SINGLE) /
	       peaks_core_flops(e->peaks, e->s, device, SINGLE);
}
