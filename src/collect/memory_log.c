/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/memory_log.h"
#include <stdatomic.h>
#include "backends/pages.h"
#include "base/util.h"
#include "collect/internal.h"

static struct {
	struct memory_record *_Atomic v; /* NULL: nobody asked */
	_Atomic uint64_t n;              /* ever */
} operations;

bool collect_memory_log(void)
{
	struct memory_record *v, *none = NULL;

	if (!collect_on || collector->control->wanted.backends.no_memory)
		return false;
	if (atomic_load(&operations.v))
		return true;
	v = pages_reserve(MEMORY_LOG_MAX * sizeof(*v));
	/* One that another thread has made meanwhile is as good; ours takes no memory. */
	return v && (atomic_compare_exchange_strong(&operations.v, &none, v) || none);
}

static uint32_t cupti_kind(unsigned kind)
{
	static const uint8_t kinds[MEMORY_N_KINDS] = {
		[MEMORY_PAGEABLE] = 1, [MEMORY_PINNED] = 2,  [MEMORY_DEVICE] = 3,
		[MEMORY_ARRAY] = 4,    [MEMORY_MANAGED] = 5,
	};

	return kind < MEMORY_N_KINDS ? kinds[kind] : 0;
}

void memory_log_put(const struct memory_event *e)
{
	struct memory_record *v = atomic_load_explicit(&operations.v, memory_order_acquire);
	uint64_t n = atomic_load_explicit(&operations.n, memory_order_relaxed);

	if (_likely_(!v) || (e->operation != MEMORY_ALLOCATED && e->operation != MEMORY_RELEASED))
		return;
	v[n % MEMORY_LOG_MAX] = (struct memory_record){
		.at_ns = e->at_ns,
		.address = e->address,
		.bytes = e->bytes,
		.operation = e->operation == MEMORY_ALLOCATED ? 1 : 2,
		.kind = cupti_kind(e->kind),
		.correlation = e->correlation,
		.device = (uint32_t)e->device,
		.context = e->context,
		.stream = e->stream,
		.async = e->async,
	};
	atomic_store_explicit(&operations.n, n + 1, memory_order_release);
}

/* The first one that nobody writes over, were one more being written now. */
static uint64_t first_kept(void)
{
	uint64_t n = atomic_load(&operations.n);

	return n < MEMORY_LOG_MAX ? 0 : n - MEMORY_LOG_MAX + 1;
}

static size_t read_some(uint64_t *from, struct memory_record *ret, size_t n)
{
	const struct memory_record *v = atomic_load(&operations.v);
	uint64_t end = atomic_load_explicit(&operations.n, memory_order_acquire), kept;

	*from = MAX(*from, first_kept());
	if (!v || *from >= end)
		return 0;
	n = MIN(n, end - *from);
	for (size_t i = 0; i < n; i++)
		ret[i] = v[(*from + i) % MEMORY_LOG_MAX];
	/* Some of them may have been written over meanwhile. */
	kept = first_kept();
	if (kept <= *from)
		return n;
	*from = kept;
	return 0;
}

/* Once more where all that was read may have been written over. */
size_t collect_memory_read(uint64_t *from, void *ret, size_t n)
{
	size_t n_read = read_some(from, ret, n);

	return n_read ? n_read : read_some(from, ret, n);
}

void memory_log_forked(void)
{
	atomic_store(&operations.n, 0);
}
