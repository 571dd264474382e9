/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/launch_configs.h"
#include <string.h>
#include "base/util.h"
#include "collect/local_memory.h"
#include "wire/wire.h"

/* ---- counting ---- */

/* The place of those that are not told apart. */
static uint32_t others(const struct slot_entry *e, uint32_t device)
{
	static const struct launch_config none;
	bool made = true;

	return config_intern(e->node, device, &none, &made);
}

/* Where some were found, so that a kernel that is launched in several ways by turns need not look for each: id + 1. What
 * is there may be another's. */
enum { N_RECENT = 1024 };
static _Atomic uint32_t recent[N_RECENT];

static _Atomic uint32_t *recent_of(uint32_t slot, const struct launch_config *c)
{
	uint64_t hash = ((uint64_t)slot << 32 | c->shape.grid[0]) * UINT64_C(0x9e3779b97f4a7c15) +
			((uint64_t)c->shape.grid[1] << 32 | c->shape.block[0]) *
				UINT64_C(0xd6e8feb86659fd93);

	return &recent[hash >> 54];
}

static bool is_of(uint32_t id, const struct slot_entry *e, uint32_t device,
		  const struct launch_config *config)
{
	const struct config_entry *c = &collector->config[id];

	return c->node == e->node && c->device == device && launch_config_equal(&c->of, config);
}

/* Looked for in the table, or made. WIRE_NONE: there is no room. */
static uint32_t find(struct slot_entry *e, uint32_t device, const struct launch_config *config)
{
	bool made = atomic_load_explicit(&e->n_configs, memory_order_relaxed) < MAX_SLOT_CONFIGS;
	uint32_t id = config_intern(e->node, device, config, &made);

	if (made)
		atomic_fetch_add_explicit(&e->n_configs, 1, memory_order_relaxed);
	return id == WIRE_NONE ? others(e, device) : id;
}

/* It is the last one of the slot from now on. */
void launch_configs_change(uint32_t slot, const struct launch_config *config, uint64_t ns)
{
	struct slot_entry *e = &collector->slot[slot];
	uint32_t device = collector->lane[e->lane].device;
	_Atomic uint32_t *seen = recent_of(slot, config);
	uint32_t id = atomic_load_explicit(seen, memory_order_acquire) - 1;

	if (device == WIRE_NONE)
		return; /* no lane was left for it */
	if (id == WIRE_NONE || !is_of(id, e, device, config))
		id = find(e, device, config);
	if (id == WIRE_NONE) {
		lose(LOSS_CONFIGS_FULL, 1);
		return;
	}
	launch_configs_add(id, ns);
	atomic_store_explicit(seen, id + 1, memory_order_release);
	atomic_store_explicit(&e->config, id + 1, memory_order_release);
}

/* ---- telling ---- */

void launch_configs_mark_all(void)
{
	for (uint32_t i = 0; i < table_n(&collector->configs); i++)
		if (atomic_load(&collector->config[i].state) == ENTRY_READY)
			bitmap_set(collector->config_dirty, i);
}

#define LOCAL_LOOKED_FOR UINT32_C(2) /* so that none, known or not, is 0 */
_Static_assert((uint32_t)(LAUNCH_LOCAL_UNKNOWN + LOCAL_LOOKED_FOR) != 0,
	       "not known is looked for, too");

/* The kernel's, where no record says it: once, for what was told with it before must not become another row. */
static uint32_t local_of(struct config_entry *c)
{
	const struct frame_entry *f = &collector->frame[collector->node[c->node].frame];

	if (c->of.local != LAUNCH_LOCAL_UNKNOWN || f->kind != FRAME_KERNEL)
		return c->of.local;
	if (!c->local)
		c->local = local_memory_of(collector->string[f->string].s) + LOCAL_LOOKED_FOR;
	return c->local - LOCAL_LOOKED_FOR;
}

static void encode(struct wire_encoder *e, uint32_t id)
{
	struct config_entry *c = &collector->config[id];
	struct wire_config *w = wire_encode(e, WIRE_CONFIGS, sizeof(*w));

	if (!w)
		return;
	*w = (struct wire_config){.node = c->node,
				  .device = c->device,
				  .count = atomic_load_explicit(&c->count, memory_order_relaxed),
				  .time_ns =
					  atomic_load_explicit(&c->time_ns, memory_order_relaxed)};
	_Static_assert(offsetof(struct wire_config, pad) - offsetof(struct wire_config, grid) ==
			       sizeof(c->of),
		       "the same words");
	memcpy(w->grid, &c->of, sizeof(c->of));
	w->local = local_of(c);
}

/* A frame is full, or the last one: did it go out? If not, what was in it is due again. */
static int flush(struct wire_encoder *e, const uint32_t *ids, uint32_t n)
{
	int r = wire_encoder_flush(e);

	for (uint32_t i = 0; r < 0 && i < n; i++)
		bitmap_set(collector->config_dirty, ids[i]);
	return r;
}

static bool take(uint32_t id, uint32_t n_devices)
{
	uint64_t bit = UINT64_C(1) << (id & 63);
	_Atomic uint64_t *word = &collector->config_dirty[id / 64];

	if (!(atomic_load(word) & bit) || collector->config[id].device >= n_devices)
		return false;
	atomic_fetch_and(word, ~bit);
	return true;
}

int launch_configs_send(struct wire_encoder *e, uint32_t limit, uint32_t n_devices)
{
	uint32_t ids[WIRE_PAYLOAD_MAX / sizeof(struct wire_config)], n = 0;
	int r = 0;

	for (uint32_t id = 0; id < limit && r == 0; id++) {
		if (!take(id, n_devices))
			continue;
		encode(e, id);
		ids[n++] = id;
		if (n < ARRAY_SIZE(ids))
			continue;
		r = flush(e, ids, n);
		n = 0;
	}
	return r == 0 && n ? flush(e, ids, n) : r;
}
