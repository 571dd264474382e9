/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "backends/cupti_pool.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/pages.h"
#include "base/util.h"

#define FAULT_AHEAD (512u << 10)
#define PAGE_BYTES  4096u

struct cupti_pool_cell {       /* of a buffer's first KiB */
	_Atomic uint32_t next; /* on the free list: index + 1 */
	_Atomic uint32_t turn; /* how often it was taken */
	_Atomic uint32_t used; /* bytes, when it last came back */
	_Atomic uint64_t taken_ns;
	atomic_bool out;
	_Atomic uint8_t class;
};

int cupti_pool_init(struct cupti_pool *pool, size_t bytes_max)
{
	size_t size = MAX(bytes_max, POOL_BYTES_MIN) & ~(POOL_BYTES_MIN - 1);

	if (pool->base)
		return 0;
	pool->cells = pages_reserve_sparse((size >> POOL_SHIFT_MIN) * sizeof(*pool->cells));
	if (!pool->cells)
		return -ENOMEM;
	pool->base = pages_reserve_sparse(size);
	if (!pool->base) {
		munmap(pool->cells, (size >> POOL_SHIFT_MIN) * sizeof(*pool->cells));
		pool->cells = NULL;
		return -ENOMEM;
	}
	pool->size = size;
	return 0;
}

static size_t class_bytes(unsigned class)
{
	return POOL_BYTES_MIN << class;
}

static unsigned class_for(uint64_t bytes)
{
	unsigned class = 0;

	while (class < POOL_N_CLASSES - 1 && class_bytes(class) < bytes)
		class ++;
	return class;
}

/* The tag in the list head counts pops, so that a head that went away and came back differs. */
static struct cupti_pool_cell *pop(struct cupti_pool *pool, unsigned class)
{
	uint64_t head = atomic_load_explicit(&pool->free[class], memory_order_acquire);
	struct cupti_pool_cell *cell;
	uint64_t next;

	do {
		if (!(uint32_t)head)
			return NULL;
		cell = &pool->cells[(uint32_t)head - 1];
		next = ((head >> 32) + 1) << 32 |
		       atomic_load_explicit(&cell->next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(
		&pool->free[class], &head, next, memory_order_acquire, memory_order_acquire));
	return cell;
}

static void push(struct cupti_pool *pool, struct cupti_pool_cell *cell)
{
	uint64_t head = atomic_load_explicit(&pool->free[cell->class], memory_order_relaxed);
	uint64_t next;

	do {
		atomic_store_explicit(&cell->next, (uint32_t)head, memory_order_relaxed);
		next = (head >> 32) << 32 | (uint32_t)(cell - pool->cells + 1);
	} while (!atomic_compare_exchange_weak_explicit(
		&pool->free[cell->class], &head, next, memory_order_release, memory_order_relaxed));
}

static struct cupti_pool_cell *carve(struct cupti_pool *pool, unsigned class)
{
	size_t at = atomic_load_explicit(&pool->carved, memory_order_relaxed);
	struct cupti_pool_cell *cell;

	do {
		if (pool->size - at < class_bytes(class))
			return NULL;
	} while (!atomic_compare_exchange_weak(&pool->carved, &at, at + class_bytes(class)));
	cell = &pool->cells[at >> POOL_SHIFT_MIN];
	cell->class = (uint8_t) class;
	return cell;
}

/* The wanted class; when there is none left of it, a larger one before a smaller one. */
static struct cupti_pool_cell *find(struct cupti_pool *pool, unsigned class)
{
	struct cupti_pool_cell *cell = pop(pool, class);

	if (!cell)
		cell = carve(pool, class);
	for (unsigned i = class + 1; !cell && i < POOL_N_CLASSES; i++)
		cell = pop(pool, i);
	for (unsigned i = class; !cell && i-- > 0;) {
		cell = pop(pool, i);
		if (!cell)
			cell = carve(pool, i);
	}
	return cell;
}

/* How many bytes of records the last buffer took. False: another thread has it by now. */
static bool lease_used(const struct cupti_pool *pool, const struct cupti_lease *lease,
		       uint32_t *ret_used)
{
	const struct cupti_pool_cell *cell = &pool->cells[lease->cell];
	uint32_t used = atomic_load_explicit(&cell->used, memory_order_relaxed);

	if (atomic_load_explicit(&cell->out, memory_order_acquire)) /* full: so it asks again */
		used = (uint32_t)class_bytes(cell->class);
	*ret_used = used;
	return atomic_load_explicit(&cell->turn, memory_order_relaxed) == lease->turn;
}

static unsigned wanted_class(const struct cupti_pool *pool, const struct cupti_lease *lease,
			     uint64_t now_ns)
{
	uint64_t elapsed_ns = MAX(now_ns - lease->taken_ns, 1u);
	uint32_t used;

	if (!lease->taken_ns)
		return 0;
	if (!lease_used(pool, lease, &used))
		return pool->cells[lease->cell].class;
	return class_for(used * POOL_FILL_NS / elapsed_ns);
}

uint8_t *cupti_pool_take(struct cupti_pool *pool, struct cupti_lease *lease, uint64_t now_ns,
			 size_t *ret_size)
{
	struct cupti_pool_cell *cell = find(pool, wanted_class(pool, lease, now_ns));

	if (!cell)
		return NULL;
	lease->cell = (uint32_t)(cell - pool->cells);
	lease->taken_ns = now_ns;
	atomic_store_explicit(&cell->taken_ns, now_ns, memory_order_relaxed);
	lease->turn = atomic_fetch_add_explicit(&cell->turn, 1, memory_order_relaxed) + 1;
	atomic_store_explicit(&cell->out, true, memory_order_release);
	atomic_fetch_add_explicit(&pool->n_out, 1, memory_order_relaxed);
	*ret_size = class_bytes(cell->class);
	return pool->base + ((size_t)lease->cell << POOL_SHIFT_MIN);
}

bool cupti_pool_owns(const struct cupti_pool *pool, const uint8_t *buffer)
{
	return pool->base && buffer >= pool->base && (size_t)(buffer - pool->base) < pool->size;
}

bool cupti_pool_return(struct cupti_pool *pool, uint8_t *buffer, size_t used)
{
	size_t at = (size_t)(buffer - pool->base);
	struct cupti_pool_cell *cell;

	if (!cupti_pool_owns(pool, buffer))
		return false;
	cell = &pool->cells[at >> POOL_SHIFT_MIN];
	if (!atomic_load_explicit(&cell->out, memory_order_relaxed))
		return false;
	memset(buffer, 0, class_bytes(cell->class));
	atomic_store_explicit(&cell->used, (uint32_t)used, memory_order_relaxed);
	atomic_store_explicit(&cell->out, false, memory_order_release);
	push(pool, cell);
	atomic_fetch_sub_explicit(&pool->n_out, 1, memory_order_release);
	return true;
}

/* A buffer is carved behind the one before, and keeps its size: of one that is just being carved nothing is known
 * yet, but CUPTI does not hold it yet either. */
uint64_t cupti_pool_oldest_ns(const struct cupti_pool *pool)
{
	size_t carved = atomic_load_explicit(&pool->carved, memory_order_acquire), at;
	uint64_t oldest_ns = UINT64_MAX;

	for (at = 0; at < carved; at += class_bytes(pool->cells[at >> POOL_SHIFT_MIN].class)) {
		const struct cupti_pool_cell *cell = &pool->cells[at >> POOL_SHIFT_MIN];

		if (atomic_load_explicit(&cell->out, memory_order_acquire))
			oldest_ns = MIN(oldest_ns, atomic_load_explicit(&cell->taken_ns,
									memory_order_relaxed));
	}
	return oldest_ns;
}

/* CUPTI may be writing there meanwhile, which ThreadSanitizer takes for a race. */
__attribute__((no_sanitize("thread"))) void cupti_pool_fault_in(struct cupti_pool *pool)
{
	size_t carved = atomic_load_explicit(&pool->carved, memory_order_relaxed);
	size_t from = MAX(atomic_load(&pool->faulted), carved & ~(size_t)(PAGE_BYTES - 1));
	size_t to = MIN(carved + FAULT_AHEAD, pool->size);

	if (!pool->base)
		return;
	/* Adding nothing makes the page ours and leaves what a faster thread wrote there. */
	for (; from < to; from += PAGE_BYTES)
		atomic_fetch_add((_Atomic uint64_t *)(pool->base + from), 0);
	atomic_store(&pool->faulted, from);
}

size_t cupti_pool_bytes(const struct cupti_pool *pool)
{
	return atomic_load_explicit(&pool->carved, memory_order_relaxed);
}
