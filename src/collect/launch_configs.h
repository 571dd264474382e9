/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_LAUNCH_CONFIGS_H
#define PROTON_COLLECT_LAUNCH_CONFIGS_H
/* How kernels are launched: in each context, on each device, how often in which way, and how long they ran so. What is
 * beyond MAX_SLOT_CONFIGS ways of one kernel in one stream counts as one, of which nothing else is known.
 *   thread  launch_configs_count() any; the others the sender */
#include <stdint.h>
#include "collect/internal.h"
#include "wire/encode.h"

void launch_configs_change(uint32_t slot, const struct launch_config *config, uint64_t ns);

static inline void launch_configs_add(uint32_t id, uint64_t ns)
{
	struct config_entry *e = &collector->config[id];

	atomic_fetch_add_explicit(&e->count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&e->time_ns, ns, memory_order_relaxed);
	bitmap_set(collector->config_dirty, id);
}

/* A kernel of this slot ran for so long. Most kernels are launched as they were before. */
static inline void launch_configs_count(uint32_t slot, const struct launch_config *config,
					uint64_t ns)
{
	uint32_t last = atomic_load_explicit(&collector->slot[slot].config, memory_order_acquire);

	if (_likely_(last && launch_config_equal(&collector->config[last - 1].of, config)))
		launch_configs_add(last - 1, ns);
	else if (launch_config_is_known(config))
		launch_configs_change(slot, config, ns);
}

/* Of the first `limit` what has changed, on devices that the reader knows. 0 or the encoder's error. */
int launch_configs_send(struct wire_encoder *e, uint32_t limit, uint32_t n_devices);
void launch_configs_mark_all(void); /* all of it, next time */

#endif
