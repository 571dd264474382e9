/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "collect/slots.h"

static double as_f64(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static bool is_less(const struct metric_entry *m, uint64_t a, uint64_t b)
{
	return m->type == METRIC_F64 ? as_f64(a) < as_f64(b) : a < b;
}

static uint64_t sum(const struct metric_entry *m, uint64_t a, uint64_t b)
{
	double v;

	if (m->type != METRIC_F64)
		return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
	v = as_f64(a) + as_f64(b);
	memcpy(&a, &v, sizeof(a));
	return a;
}

/* What a slot has of a metric of its set. */
static double value_of(uint32_t slot, uint32_t metric)
{
	const struct slot_entry *e = &collector->slot[slot];
	const struct set_entry *set = &collector->set[e->set];

	for (uint32_t i = 0; i < set->n; i++)
		if (set->metrics[i] == metric)
			return (double)atomic_load(&collector->value[e->values + i]);
	return 0;
}

static uint64_t combined(const struct metric_entry *m, uint64_t a, uint64_t b)
{
	if (m->type == METRIC_TEXT)
		return b ? b : a;
	switch (metric_add_plain(m->add)) {
	case METRIC_SUM:
		return sum(m, a, b);
	case METRIC_MIN:
		return is_less(m, b, a) ? b : a;
	case METRIC_MAX:
		return is_less(m, a, b) ? b : a;
	default:
		return b;
	}
}

/* Of one that weighs what it has: nothing of its values counts where that is 0. */
static uint64_t weighed(const struct metric_entry *m, uint64_t a, double wa, uint64_t b, double wb)
{
	double v;

	if (wa <= 0 || wb <= 0)
		return wa > 0 ? a : b;
	v = (as_f64(a) * wa + as_f64(b) * wb) / (wa + wb);
	if (m->add != METRIC_WMEAN)
		return combined(m, a, b);
	memcpy(&a, &v, sizeof(a));
	return a;
}

void slot_move(uint32_t from, uint32_t into)
{
	const struct slot_entry *f = &collector->slot[from];
	const struct set_entry *set = &collector->set[f->set];

	/* The last first: what weighs others stands before them. */
	for (uint32_t i = set->n; i-- > 0;) {
		const struct metric_entry *m = &collector->metric[set->metrics[i]];
		uint64_t none = metric_seed(set->metrics[i]), v, old;
		_Atomic uint64_t *to;

		v = atomic_exchange(&collector->value[f->values + i], none);
		if (into == WIRE_NONE || (metric_begins_absent(set->metrics[i]) && v == none))
			continue;
		to = &collector->value[collector->slot[into].values + i];
		old = atomic_load(to);
		if (metric_begins_absent(set->metrics[i]) && old == none) {
			atomic_store(to, v);
			continue;
		}
		if (m->weight) {
			atomic_store(to, weighed(m, old, value_of(into, m->weight - 1u), v,
						 value_of(from, m->weight - 1u)));
			continue;
		}
		while (!atomic_compare_exchange_weak(to, &old, combined(m, old, v)))
			;
	}
}
