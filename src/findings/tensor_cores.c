/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include "base/human.h"
#include "findings/products.h"
#include "findings/units.h"

#define LEAST_SPEEDUP 4.0  /* of tensor cores: where they are hardly faster, nothing is lost */
#define IDLE_RATIO    0.01 /* of their time: they did nothing */
#define BUSY_SAMPLED  0.25 /* of its time: arithmetic of 32 bits is what the kernel does */
#define BUSY_COUNTED  0.9  /* … of its operations */

/* What it would take less, were it no more than as far from the peak of tensor cores as it is from that of the rest;
 * what device memory needs stays. */
static double cost_ns(const struct evidence *e, const struct own *own, const struct units *units)
{
	uint32_t row = session_first_row(e->s, own->node);
	double speedup = tensor_speedup(e, session_lane_at(e->s, e->s->rows[row].lane)->device);

	if (!(units->tensor < IDLE_RATIO) || !(speedup >= LEAST_SPEEDUP) ||
	    !(units->single >= (units->by_samples ? BUSY_SAMPLED : BUSY_COUNTED)))
		return 0;
	return own->sums.time_ns * (1 - fmin(fmax(1 / speedup, units->memory), 1));
}

static int tell(const struct evidence *e, struct findings *f, const struct sums *sums,
		const struct units_looked *looked, const struct most *most, double price_ns)
{
	char count[HUMAN_THINGS_MAX], time[HUMAN_MAX], text[UNITS_LOOKED_TEXT];
	struct finding *finding;

	if (!evidence_matters(e, price_ns) || !units_looked_enough(looked))
		return 0;
	finding = finding_add(f, FINDING_TENSOR_CORES, FINDING_LIKELY, price_ns);
	if (!finding)
		return -ENOMEM;
	finding->at_most = true;
	human_things(count, sums->count, "kernel");
	human_time_ns(time, sums->time_ns);
	finding_say(finding, "%s in %s multiply 32 bits without tensor cores, as %s say", count,
		    time, units_looked_text(looked, text));
	finding_name_most(finding, most);
	return 0;
}

static int find(const struct evidence *e, struct findings *f)
{
	struct units_looked looked = {0};
	struct most most = {.n = 0};
	struct sums sums = {0};
	double price_ns = 0;

	for (size_t i = 0; i < e->n_own; i++) {
		const struct own *own = &e->own[i];
		struct units units;
		double cost;

		if (own->kind != FRAME_KERNEL ||
		    !is_matrix_product(session_node_name(e->s, own->node)) ||
		    !units_of(e, own->node, &units))
			continue;
		cost = cost_ns(e, own, &units);
		if (!(cost > 0))
			continue;
		price_ns += cost;
		sums.time_ns += own->sums.time_ns;
		sums.count += own->sums.count;
		units_looked_add(&looked, &units);
		most_insert(&most, own->node, cost);
	}
	return tell(e, f, &sums, &looked, &most, price_ns);
}

const struct rule rule_TENSOR_CORES = {
	.title = "matrix products leave the tensor cores idle",
	.advice =
		"Where 10 bits of fraction will do, tensor cores take the same data as TF32 "
		"(torch.set_float32_matmul_precision('high'), CUBLAS_COMPUTE_32F_FAST_TF32), or as "
		"bf16 or fp16. Where all of single precision is needed, nothing is gained.",
	.find = find,
};
