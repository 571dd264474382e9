/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/steps.h"
#include "base/any_case.h"
#include "base/util.h"

/* ---- one that adds ---- */

static uint64_t get(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

static void put(_Atomic uint64_t *v, uint64_t to)
{
	atomic_store_explicit(v, to, memory_order_relaxed);
}

static double get_real(const _Atomic uint64_t *v)
{
	uint64_t bits = get(v);
	double real;

	memcpy(&real, &bits, sizeof(real));
	return real;
}

static void add_real(_Atomic uint64_t *v, double more)
{
	double sum = get_real(v) + more;
	uint64_t bits;

	memcpy(&bits, &sum, sizeof(bits));
	put(v, bits);
}

void steps_clear(struct steps *s)
{
	put(&s->n, 0);
	put(&s->first_ns, 0);
	put(&s->sum_ns, 0);
	put(&s->min_ns, 0);
	put(&s->max_ns, 0);
	put(&s->slowest, 0);
	put(&s->n_restarts, 0);
	put(&s->last, 0);
	put(&s->off_sum, 0);
	put(&s->off_squares, 0);
	put(&s->near_ns, 0);
	for (unsigned i = 0; i < HIST_BINS; i++)
		atomic_store_explicit(&s->bins[i], 0, memory_order_relaxed);
}

/* Squares of what is near zero lose nothing, as those of the times themselves would. */
static void add_off(struct steps *s, uint64_t ns)
{
	double off = (double)ns - (double)get(&s->near_ns);

	add_real(&s->off_sum, off);
	add_real(&s->off_squares, off * off);
}

static void add_number(struct steps *s, uint64_t number)
{
	uint64_t last = get(&s->last);

	if (last && number < last)
		put(&s->n_restarts, get(&s->n_restarts) + 1);
	put(&s->last, number + 1);
}

void steps_add(struct steps *s, uint64_t number, uint64_t ns)
{
	unsigned bin = hist_bin(ns);
	uint64_t n = get(&s->n);

	add_number(s, number);
	if (!get(&s->first_ns)) {
		put(&s->first_ns, ns + 1);
		return;
	}
	if (!n)
		put(&s->near_ns, ns);
	add_off(s, ns);
	if (!n || ns < get(&s->min_ns))
		put(&s->min_ns, ns);
	if (!n || ns > get(&s->max_ns)) {
		put(&s->max_ns, ns);
		put(&s->slowest, number);
	}
	put(&s->sum_ns, get(&s->sum_ns) + ns);
	atomic_store_explicit(&s->bins[bin],
			      atomic_load_explicit(&s->bins[bin], memory_order_relaxed) + 1,
			      memory_order_relaxed);
	put(&s->n, n + 1);
}

/* ---- whoever looks: without libm, which the collector has not ---- */

static uint64_t root(double square)
{
	double guess = square, before = 0;

	if (!(square > 0))
		return 0;
	for (int i = 0; i < 1100 && guess != before; i++) {
		before = guess;
		guess = (guess + square / guess) / 2;
	}
	return (uint64_t)(guess + 0.5);
}

static uint64_t deviation(const struct steps *s, uint64_t n)
{
	double mean = get_real(&s->off_sum) / (double)n;

	return root(get_real(&s->off_squares) / (double)n - mean * mean);
}

/* The duration that `share` of so many do not exceed. */
static uint64_t quantile(const struct steps *s, uint64_t n, double share)
{
	uint64_t least = get(&s->min_ns), most = get(&s->max_ns), seen = 0, ns = most;
	double wanted = share * (double)n;

	for (unsigned i = 0; i < HIST_BINS; i++) {
		uint32_t here = atomic_load_explicit(&s->bins[i], memory_order_relaxed);

		if (!here || (double)(seen + here) < wanted) {
			seen += here;
			continue;
		}
		ns = hist_bin_start(i);
		ns += (uint64_t)((double)(hist_bin_start(i + 1) - ns) * (wanted - (double)seen) /
				 (double)here);
		break;
	}
	return CLAMP(ns, least, most);
}

void steps_tell(const struct steps *s, struct steps_told *ret)
{
	uint64_t first = get(&s->first_ns);

	*ret = (struct steps_told){.n = get(&s->n),
				   .first_ns = first ? first - 1 : 0,
				   .sum_ns = get(&s->sum_ns),
				   .min_ns = get(&s->min_ns),
				   .max_ns = get(&s->max_ns),
				   .slowest = get(&s->slowest),
				   .n_restarts = get(&s->n_restarts)};
	if (!ret->n)
		return;
	ret->median_ns = quantile(s, ret->n, 0.5);
	ret->p95_ns = quantile(s, ret->n, 0.95);
	ret->deviation_ns = deviation(s, ret->n);
}

/* ---- names ---- */

unsigned steps_rank(const char *name, size_t len)
{
	static const char *const words[] = {"epoch", "batch", "iter", "step", "profilerstep#"};

	for (unsigned i = ARRAY_SIZE(words); i-- > 0;)
		if (find_any_case(name, len, words[i]))
			return i + 1;
	return 0;
}

/* Between epochs and all other words is what says nothing. */
unsigned steps_order(const char *name, size_t len)
{
	unsigned rank = steps_rank(name, len);

	return rank == 1 ? 1 : rank ? rank + 1 : 2;
}
