/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "backends/cupti_range_joins.h"
#include <pthread.h>
#include <string.h>
#include "backends/cupti.h"
#include "backends/pages.h"
#include "core/ranges_wanted.h"

enum { JOINS = 1 << 16 }; /* kernels whose record or values are awaited */

/* Half a kernel that waits for the other half. */
struct join {
	uint32_t correlation;
	bool has_record, has_values, is_timed;
	bool is_placed;
	uint64_t at_ns; /* when it was launched, with values */
	struct activity record;
	struct range_place place;
};

static struct {
	const struct ranges_wanted *wanted;
	pthread_mutex_t lock; /* of all that follows */
	struct join *kernels;
	double *values; /* of each of them, metric by metric */
	size_t duration; /* which metric it is that tells how long a kernel ran, in ns; as many as there are: none */
	uint64_t n, n_given_up;
} joins = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool range_joins_begin(const struct ranges_wanted *w)
{
	size_t bytes = JOINS * sizeof(*joins.kernels);
	char *p = pages_reserve_sparse(bytes + JOINS * w->n * sizeof(*joins.values));

	if (!p)
		return false;
	joins.kernels = (void *)p;
	joins.values = (void *)(p + bytes);
	joins.duration = w->n;
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->metrics[i].name, RANGES_DURATION))
			joins.duration = i;
	joins.wanted = w;
	return true;
}

/* How long it ran, as its range says; 0: nobody counted it. */
static uint64_t counted_ns(const double *values)
{
	double ns = joins.duration < joins.wanted->n ? values[joins.duration] : 0;

	return ns >= 1 && ns < 1e18 ? (uint64_t)ns : 0;
}

/* A record without times, of a kernel that CUPTI replays: it ran as long as its range says, from its launch on. */
static bool complete(struct join *j, const double *values)
{
	j->record.start_ns = j->at_ns;
	j->record.end_ns = j->at_ns + counted_ns(values);
	return j->record.end_ns > j->record.start_ns;
}

static void lose_times(struct cupti *c, const struct activity *a)
{
	c->sink->ops->lose(c->sink, LOSS_ZERO_TIME, 1);
	if (!a->uncounted)
		c->sink->ops->unlaunch(c->sink, 1);
}

/* Both halves are there. */
static void join_tell(struct cupti *c, struct join *j)
{
	size_t at = (size_t)(j - joins.kernels) * joins.wanted->n;
	const double *values = joins.values + at;
	bool has_times = j->is_timed || complete(j, values);

	if (!j->is_timed && has_times)
		c->sink->ops->record(c->sink, &j->record);
	else if (!has_times)
		lose_times(c, &j->record);
	if (j->is_placed)
		c->sink->ops->measured(c->sink, &j->place,
				       has_times ? j->record.end_ns - j->record.start_ns : 0,
				       values);
	*j = (struct join){.correlation = 0};
}

/* Half a kernel, whose other half did not come. */
static void join_give_up(struct cupti *c, struct join *j)
{
	joins.n_given_up += j->has_values;
	if (j->has_record && !j->is_timed)
		lose_times(c, &j->record);
	*j = (struct join){.correlation = 0};
}

/* The place for a launch; what another one left there is lost. */
static struct join *join_of(struct cupti *c, uint32_t correlation)
{
	struct join *j = &joins.kernels[correlation & (JOINS - 1)];

	if (j->correlation == correlation)
		return j;
	join_give_up(c, j);
	j->correlation = correlation;
	return j;
}

void range_join(struct cupti *c, uint32_t correlation, uint64_t at_ns, const double *values)
{
	struct join *j;

	pthread_mutex_lock(&joins.lock);
	joins.n++;
	j = join_of(c, correlation);
	memcpy(joins.values + (size_t)(j - joins.kernels) * joins.wanted->n, values,
	       joins.wanted->n * sizeof(*values));
	j->at_ns = at_ns;
	j->has_values = true;
	if (j->has_record)
		join_tell(c, j);
	pthread_mutex_unlock(&joins.lock);
}

/* If it were told of more than once, as often as it was replayed, the first one would be the kernel's. */
bool range_join_record(struct cupti *c, const struct activity *a, uint32_t correlation,
		       bool is_timed)
{
	struct join *j;
	bool is_kept;

	if (!joins.wanted || joins.wanted->of != RANGES_OF_KERNELS || !correlation ||
	    (!is_timed && joins.wanted->replay != RANGES_KERNELS))
		return false;
	pthread_mutex_lock(&joins.lock);
	j = join_of(c, correlation);
	is_kept = !is_timed;
	if (!j->has_record) {
		j->record = *a;
		j->is_timed = is_timed;
		j->is_placed = c->sink->ops->measured_at(c->sink, a, &j->place);
		j->has_record = true;
	}
	if (j->has_values)
		join_tell(c, j);
	pthread_mutex_unlock(&joins.lock);
	return is_kept;
}

void range_joins_end(struct cupti *c)
{
	pthread_mutex_lock(&joins.lock);
	for (size_t i = 0; i < JOINS; i++)
		if (joins.kernels[i].correlation)
			join_give_up(c, &joins.kernels[i]);
	pthread_mutex_unlock(&joins.lock);
}

uint64_t range_joins_n(void)
{
	return joins.n;
}

uint64_t range_joins_n_given_up(void)
{
	return joins.n_given_up;
}
