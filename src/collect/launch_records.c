/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/launch_records.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include "backends/pages.h"
#include "collect/kept_warps.h"

enum { RECORDS = 1 << 16 }; /* a power of two */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct launch_record *records; /* RECORDS of them, by correlation */
static _Atomic bool wanted;

void launch_records_want(void)
{
	atomic_store(&wanted, true);
}

bool launch_records_are_wanted(void)
{
	return atomic_load_explicit(&wanted, memory_order_relaxed);
}

static struct launch_record *record_at(uint32_t correlation)
{
	return &records[correlation & (RECORDS - 1)];
}

void launch_records_add(const struct activity *a, uint32_t node)
{
	const struct launch_record record = {.correlation = a->correlation,
					     .number = a->number,
					     .start_ns = a->start_ns,
					     .end_ns = a->end_ns};

	kept_warps_ran(node, a->device, a->start_ns);
	pthread_mutex_lock(&lock);
	if (!records)
		records = pages_reserve_sparse(RECORDS * sizeof(*records));
	if (records)
		*record_at(a->correlation) = record;
	pthread_mutex_unlock(&lock);
}

bool launch_records_find(uint32_t correlation, struct launch_record *ret)
{
	bool is = false;

	pthread_mutex_lock(&lock);
	if (records && correlation) {
		*ret = *record_at(correlation);
		is = ret->correlation == correlation;
	}
	pthread_mutex_unlock(&lock);
	return is;
}

void launch_records_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	records = NULL;
}
