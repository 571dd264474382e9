/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/levels.h"
#include <stdatomic.h>
#include "base/clock.h"
#include "base/util.h"
#include "collect/internal.h"
#include "wire/encode.h"

enum {
	LEVELS_MAX = 1 << 18, /* as many as may be settled at a time (allocations.c) */
	SEND_MAX = 256,
};

struct level {
	uint64_t at_ns, bytes;
	uint32_t device;
};

static struct {
	struct level v[LEVELS_MAX];
	_Atomic uint32_t head, tail; /* head: of who changes; tail: of the sender */
	uint64_t n;                  /* ever */
} levels;

void level_change(uint32_t device, uint64_t at_ns, uint64_t bytes)
{
	uint32_t head = atomic_load_explicit(&levels.head, memory_order_relaxed);

	if (_likely_(!is_run_traced()))
		return;
	if (levels.n >= collector->control->wanted.trace_max ||
	    head - atomic_load_explicit(&levels.tail, memory_order_acquire) >= LEVELS_MAX) {
		lose(LOSS_LEVELS, 1);
		return;
	}
	levels.v[head % LEVELS_MAX] = (struct level){at_ns, bytes, device};
	levels.n++;
	atomic_store_explicit(&levels.head, head + 1, memory_order_release);
}

int levels_send(struct wire_encoder *e, uint32_t n_devices)
{
	uint32_t tail = atomic_load_explicit(&levels.tail, memory_order_relaxed),
		 head = atomic_load_explicit(&levels.head, memory_order_acquire), n;
	uint64_t to_monotonic_ns;

	if (tail == head)
		return 0;
	to_monotonic_ns = clock_to_monotonic_ns();
	for (; tail != head; tail += n) {
		for (n = 0; n < MIN(SEND_MAX, head - tail); n++) {
			const struct level *l = &levels.v[(tail + n) % LEVELS_MAX];
			const struct wire_sample w = {l->at_ns + to_monotonic_ns, l->device,
						      METRIC_MEM_LIVE, (double)l->bytes};

			if (l->device >= n_devices)
				break;
			wire_put(e, WIRE_SAMPLES, &w, sizeof(w));
		}
		if (!n)
			break;
		if (wire_encoder_flush(e) < 0)
			return e->error;
		atomic_store_explicit(&levels.tail, tail + n, memory_order_release);
	}
	return 0;
}

void levels_forked(void)
{
	atomic_store(&levels.head, 0);
	atomic_store(&levels.tail, 0);
	levels.n = 0;
}
