/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/memory_places.h"
#include <stdio.h>
#include <string.h>
#include "base/util.h"
#include "collect/host_clock.h"
#include "collect/levels.h"
#include "collect/pool_growth.h"
#include "collect/slots.h"
#include "collect/step_ran.h"
#include "collect/torch_totals.h"

enum {
	MAX_PLACES = 1 << 16,
	MAX_POOLS = 256,
	POOL_NAME_MAX = 24,
	NAME_MAX_PLACE = 192,
	CACHE_PLACES = 1024,
	TORCH_ADDRESS = 1, /* of no pool of CUDA's */
};
/* One that is older than this is of a clock that was set back. */
#define LATE_NS (5 * NSEC_PER_SEC)

struct place {
	uint32_t node, lane, total;
	uint32_t slot;      /* of what there is */
	uint32_t sums;      /* slot of sums; WIRE_NONE: none yet */
	uint32_t peak_seen; /* the total's peak that at_peak is of */
	bool is_changed;
	uint64_t live, peak, at_peak;
};

/* All memory of a kind on a device, or of the host. */
struct total {
	uint32_t device; /* WIRE_NONE: the host's */
	uint8_t kind;
	uint32_t slot;
	uint32_t n_peaks, n_peaks_told;
	uint64_t live, peak, peak_ns;
};

struct pool {
	uint64_t address;
	uint32_t device, number, slot; /* number: of this device, from 1 */
	struct pool_level now;
	uint64_t now_ns; /* of the record that told it */
	struct pool_peaks peaks;
};

/* All that decides which place an allocation has. */
struct place_key {
	uint64_t pool;
	uint32_t launch, context, stream;
	int32_t device;
	uint32_t kind; /* + 1, for 0 is nothing */
	uint16_t source, is_static;
};

static struct {
	struct place place[MAX_PLACES];
	uint32_t n_places;
	struct total total[MEMORY_MAX_TOTALS]; /* kinds of memory on devices */
	uint32_t n_totals;
	struct pool pool[MAX_POOLS];
	uint32_t n_pools;
	uint64_t of_device[MAX_DEVICES], of_devices; /* bytes that are held now */
	uint32_t of_slot[MAX_SLOTS];                 /* place + 1 of a slot */
	bool is_changed;
	struct {
		struct place_key key;
		uint32_t place;
	} cache[CACHE_PLACES];
} memory;

/* ---- slots ---- */

static uint32_t leaf(uint32_t parent, const char *name)
{
	return node_intern(parent, frame_intern(FRAME_ALLOC, string_intern(name, strlen(name))));
}

static bool is_of_host(unsigned kind)
{
	return kind == MEMORY_PINNED || kind == MEMORY_PAGEABLE;
}

static uint32_t stream_of(const struct memory_event *e)
{
	return e->async ? e->stream : STREAM_NONE;
}

static uint32_t device_of(uint8_t source, const struct memory_event *e)
{
	return is_of_host(e->kind) ? WIRE_NONE : device_intern(source, e->device);
}

static uint32_t total_new(uint32_t device, uint8_t kind, const char *name)
{
	uint32_t i = memory.n_totals, lane = lane_of_no_stream(device);

	if (i == MEMORY_MAX_TOTALS)
		return MEMORY_MAX_TOTALS - 1;
	memory.total[i] = (struct total){.device = device,
					 .kind = kind,
					 .slot = slot_intern(leaf(0, name), lane, SET_ID_PEAK, 0)};
	memory.n_totals++;
	return i;
}

static void kind_name(uint8_t kind, char out[NAME_MAX_PLACE])
{
	snprintf(out, NAME_MAX_PLACE, ALLOC_WORD "%s", memory_kind_word(kind));
}

static uint32_t total_of(uint32_t device, uint8_t kind)
{
	char name[NAME_MAX_PLACE];

	for (uint32_t i = 0; i < memory.n_totals; i++)
		if (memory.total[i].device == device && memory.total[i].kind == kind)
			return i;
	kind_name(kind, name);
	return total_new(device, kind, name);
}

/* ---- pools ---- */

static void pool_name(const struct pool *p, char *out, size_t size)
{
	if (p->address == TORCH_ADDRESS)
		snprintf(out, size, "%s", TORCH_POOL);
	else if (p->number == 1)
		snprintf(out, size, "pool");
	else
		snprintf(out, size, "pool %u", p->number);
}

/* NULL: too many. */
static struct pool *pool_of(uint32_t device, uint64_t address)
{
	struct pool *p = &memory.pool[memory.n_pools];
	char name[NAME_MAX_PLACE];
	uint32_t number = 1;

	for (uint32_t i = 0; i < memory.n_pools; i++) {
		if (memory.pool[i].device == device && memory.pool[i].address == address)
			return &memory.pool[i];
		number +=
			memory.pool[i].device == device && memory.pool[i].address != TORCH_ADDRESS;
	}
	if (memory.n_pools == MAX_POOLS)
		return NULL;
	*p = (struct pool){.address = address, .device = device, .number = number};
	pool_name(p, name, sizeof(name));
	p->slot = slot_intern(leaf(0, name), lane_of_no_stream(device), SET_ID_POOL, 0);
	memory.n_pools++;
	return p;
}

static void pool_store(const struct pool *p, const struct pool_level *now,
		       const struct pool_peaks *peaks)
{
	slot_store(p->slot, POOL_RESERVED, now->reserved);
	slot_store(p->slot, POOL_USED, now->used);
	slot_store(p->slot, POOL_PEAK, peaks->reserved);
	slot_store(p->slot, POOL_USED_PEAK, peaks->used);
	slot_store(p->slot, POOL_UNUSED, peaks->unused);
	slot_touch(p->slot);
}

void memory_pools_unseen(void)
{
	for (uint32_t i = 0; i < memory.n_pools; i++)
		memory.pool[i].now.is_known = false;
}

/* ---- places ---- */

/* " from " whoever allocates; "": that is not known. */
static const char *allocator_of(const struct context_entry *ctx)
{
	const char *name = ctx->name ? collector->string[ctx->name].s : "";

	return strncmp(name, ALLOC_FROM, strlen(ALLOC_FROM)) ? "" : name;
}

static void place_name(uint8_t source, const struct memory_event *e, const char *allocator,
		       char out[NAME_MAX_PLACE])
{
	const struct pool *p = e->pool ? pool_of(device_intern(source, e->device), e->pool) : NULL;
	char pool[POOL_NAME_MAX] = "";

	if (p)
		pool_name(p, pool, sizeof(pool));
	snprintf(out, NAME_MAX_PLACE, ALLOC_WORD "%s%s%s%s%.128s", memory_kind_word(e->kind),
		 e->is_static ? ALLOC_STATIC : "", p ? " " : "", pool, allocator);
}

static uint32_t place_new(const struct place *like)
{
	uint32_t i = memory.n_places;

	if (i == MAX_PLACES) {
		lose(LOSS_SLOTS_FULL, 1);
		return WIRE_NONE;
	}
	memory.place[i] = *like;
	memory.of_slot[like->slot] = i + 1;
	memory.n_places++;
	return i;
}

static uint32_t place_at(uint32_t node, uint32_t lane, uint32_t total)
{
	uint32_t slot = slot_intern(node, lane, SET_ID_MEMORY, 0);

	if (slot == WIRE_NONE)
		return WIRE_NONE;
	if (memory.of_slot[slot])
		return memory.of_slot[slot] - 1;
	return place_new(&(struct place){
		.node = node, .lane = lane, .total = total, .slot = slot, .sums = WIRE_NONE});
}

static uint32_t place_find(uint8_t source, const struct memory_event *e)
{
	uint32_t launch = e->launch && e->launch < table_n(&collector->contexts) ? e->launch : 1;
	const struct context_entry *ctx = &collector->context[launch];
	uint32_t device = device_of(source, e);
	bool on_host = device == WIRE_NONE;
	char name[NAME_MAX_PLACE];

	place_name(source, e, allocator_of(ctx), name);
	return place_at(leaf(ctx->node, name),
			lane_intern(device, on_host ? 0 : e->context, on_host ? 0 : stream_of(e),
				    ctx->thread),
			total_of(device, e->kind));
}

uint32_t memory_place(uint8_t source, const struct memory_event *e)
{
	const struct place_key key = {e->pool,   e->launch,    e->context, stream_of(e),
				      e->device, e->kind + 1u, source,     e->is_static};
	uint32_t i = (uint32_t)hash_u64(e->pool ^ (uint64_t)e->launch << 32 ^
					(uint64_t)e->context << 16 ^ (uint64_t)stream_of(e) << 8 ^
					e->kind) %
		     CACHE_PLACES,
		 place;

	if (_likely_(!memcmp(&memory.cache[i].key, &key, sizeof(key))))
		return memory.cache[i].place;
	place = place_find(source, e);
	if (place == WIRE_NONE) /* counted each time */
		return place;
	memory.cache[i].place = place;
	memory.cache[i].key = key;
	return place;
}

uint32_t memory_place_unknown(uint8_t source, const struct memory_event *e)
{
	uint32_t device = device_of(source, e);

	return place_at(leaf(0, "alloc before proton"), lane_of_no_stream(device),
			total_of(device, e->kind));
}

uint32_t memory_place_node(uint32_t place)
{
	return memory.place[place].node;
}

uint32_t memory_place_total(uint32_t place)
{
	return memory.place[place].total;
}

uint32_t memory_total_leaf(uint32_t node, uint32_t total, uint32_t *ret_lane)
{
	const struct total *t = &memory.total[total];
	char name[NAME_MAX_PLACE];

	kind_name(t->kind, name);
	*ret_lane = lane_of_no_stream(t->device);
	return leaf(node, name);
}

/* ---- how pools grow ---- */

/* What there is no place for is counted as lost already. */
static void add_growth(uint32_t place, struct pool_growth growth)
{
	uint32_t slot;

	if (place == WIRE_NONE || is_paused())
		return;
	slot = slot_intern(memory.place[place].node, memory.place[place].lane, SET_ID_GROWTH, 0);
	if (slot == WIRE_NONE)
		return;
	slot_add_u64(slot, GROWTH_BYTES, growth.bytes);
	slot_add_u64(slot, GROWTH_FRAGMENTED, growth.was_enough ? growth.bytes : 0);
	slot_add_u64(slot, GROWTH_TIMES, growth.was_enough);
	slot_touch(slot);
}

void memory_pool_grown(uint8_t source, const struct memory_event *e)
{
	add_growth(memory_place(source, e), (struct pool_growth){e->bytes, e->n > 0});
}

void memory_pool(uint8_t source, const struct memory_event *e)
{
	const struct pool_level now = {e->pool_bytes, e->pool_used, true};
	struct pool *p = e->pool ? pool_of(device_intern(source, e->device), e->pool) : NULL;
	struct pool_growth growth;

	if (!p && e->pool)
		lose(LOSS_SLOTS_FULL, 1);
	if (!p || p->slot == WIRE_NONE)
		return;
	pool_peaks_add(&p->peaks, &now);
	if (!(e->at_ns < p->now_ns && p->now_ns - e->at_ns < LATE_NS)) {
		growth =
			pool_growth(&p->now, &now, e->operation == MEMORY_ALLOCATED ? e->bytes : 0);
		if (growth.bytes)
			add_growth(memory_place(source, e), growth);
		p->now = now;
		p->now_ns = e->at_ns;
	}
	pool_store(p, &p->now, &p->peaks);
}

/* ---- PyTorch ---- */

/* All tensors of a device, where they are not told of one by one. */
static void tensors(uint32_t device, const struct torch_totals *m)
{
	const struct total *t = &memory.total[total_of(device, MEMORY_TENSORS)];
	uint64_t start_ns = collector->start_ns, at_ns = m->used_at_ns;
	uint32_t place = place_at(leaf(0, ALLOC_TENSORS), lane_of_no_stream(device),
				  total_of(device, MEMORY_TENSORS));

	if (place == WIRE_NONE || t->slot == WIRE_NONE)
		return;
	slot_store(t->slot, PEAK_BYTES, m->peaks.used);
	slot_store(t->slot, PEAK_AT, at_ns > start_ns ? at_ns - start_ns : 0);
	slot_touch(t->slot);
	slot_store(memory.place[place].slot, MEMORY_LIVE, m->now.used);
	slot_store(memory.place[place].slot, MEMORY_PEAK, m->peaks.used);
	slot_store(memory.place[place].slot, MEMORY_AT_PEAK, m->peaks.used);
	slot_touch(memory.place[place].slot);
}

void memory_torch(uint8_t source)
{
	struct torch_totals m;
	struct pool *p;
	uint32_t device;

	for (int32_t at = 0; torch_totals_changed(&at, &m);) {
		device = device_intern(source, m.device);
		p = pool_of(device, TORCH_ADDRESS);
		if (!p || p->slot == WIRE_NONE) {
			lose(LOSS_SLOTS_FULL, 1);
			continue;
		}
		pool_store(p, &m.now, &m.peaks);
		if (!collector->control->wanted.backends.tensors)
			tensors(device, &m);
	}
}

/* ---- what changes ---- */

/* Of no session: its file has the rows that Triton's Proton has, and no others. WIRE_NONE: collection pauses, or there
 * is no room. */
static uint32_t sums_of(struct place *p)
{
	if (is_paused())
		return WIRE_NONE;
	if (p->sums == WIRE_NONE)
		p->sums = slot_intern(p->node, p->lane, SET_ID_ALLOC, 0);
	return p->sums;
}

static void add(struct place *p, unsigned count, unsigned bytes_at, uint64_t bytes)
{
	uint32_t slot = sums_of(p);

	if (slot == WIRE_NONE)
		return;
	slot_add_u64(slot, count, 1);
	slot_add_u64(slot, bytes_at, bytes);
	slot_touch(slot);
}

/* Before it changes: what it held at the last peak is what it holds. */
static void settle_peak(struct place *p)
{
	const struct total *t = &memory.total[p->total];

	if (p->peak_seen == t->n_peaks)
		return;
	p->at_peak = p->live;
	p->peak_seen = t->n_peaks;
}

/* What of a device's memory is known to be there: managed memory may be anywhere, and tensors lie in what was counted. */
static void note_level(const struct total *t, uint64_t at_ns, uint64_t more_or_less)
{
	if (t->device >= MAX_DEVICES || t->kind == MEMORY_MANAGED || t->kind == MEMORY_TENSORS)
		return;
	memory.of_device[t->device] += more_or_less;
	memory.of_devices += more_or_less;
	step_ran_held(at_ns, memory.of_devices);
	level_change(t->device, at_ns, memory.of_device[t->device]);
}

/* More, or less: as much below 0. */
static void hold(struct place *p, uint64_t at_ns, uint64_t more_or_less)
{
	struct total *t = &memory.total[p->total];

	settle_peak(p);
	p->live += more_or_less;
	t->live += more_or_less;
	note_level(t, at_ns, more_or_less);
	p->peak = MAX(p->peak, p->live);
	p->is_changed = memory.is_changed = true;
}

void memory_allocated(uint32_t place, uint64_t bytes, uint64_t at_ns)
{
	struct place *p = &memory.place[place];
	struct total *t = &memory.total[p->total];

	add(p, ALLOC_ALLOCS, ALLOC_BYTES, bytes);
	hold(p, at_ns, bytes);
	if (t->live <= t->peak)
		return;
	t->peak = t->live;
	t->peak_ns = at_ns;
	t->n_peaks++;
}

void memory_released(uint32_t place, uint64_t bytes, uint64_t at_ns, bool is_gone)
{
	struct place *p = &memory.place[place];

	if (!is_gone)
		add(p, ALLOC_FREES, ALLOC_FREED, bytes);
	else if (sums_of(p) != WIRE_NONE) {
		slot_add_u64(p->sums, ALLOC_LEFT, bytes);
		slot_touch(p->sums);
	}
	hold(p, at_ns, -bytes);
}

void memory_released_unknown(uint32_t place, uint64_t bytes)
{
	add(&memory.place[place], ALLOC_FREES, ALLOC_FREED, bytes);
}

/* ---- for the sender ---- */

static void total_publish(struct total *t)
{
	uint64_t start_ns = collector->start_ns;

	if (t->n_peaks == t->n_peaks_told || t->slot == WIRE_NONE)
		return;
	slot_store(t->slot, PEAK_BYTES, t->peak);
	slot_store(t->slot, PEAK_AT, t->peak_ns > start_ns ? t->peak_ns - start_ns : 0);
	slot_touch(t->slot);
}

static bool place_publish(struct place *p)
{
	const struct total *t = &memory.total[p->total];

	if (!p->is_changed && t->n_peaks == t->n_peaks_told)
		return false;
	settle_peak(p);
	slot_store(p->slot, MEMORY_LIVE, p->live);
	slot_store(p->slot, MEMORY_PEAK, p->peak);
	slot_store(p->slot, MEMORY_AT_PEAK, p->at_peak);
	slot_touch(p->slot);
	p->is_changed = false;
	return true;
}

void memory_places_publish(void)
{
	if (!memory.is_changed)
		return;
	memory.is_changed = false;
	for (uint32_t i = 0; i < memory.n_places; i++)
		place_publish(&memory.place[i]);
	for (uint32_t i = 0; i < memory.n_totals; i++) {
		total_publish(&memory.total[i]);
		memory.total[i].n_peaks_told = memory.total[i].n_peaks;
	}
}

void memory_places_forked(void)
{
	for (uint32_t i = 0; i < memory.n_places; i++)
		memory.of_slot[memory.place[i].slot] = 0;
	memset(memory.cache, 0, sizeof(memory.cache));
	memset(memory.of_device, 0, sizeof(memory.of_device));
	memory.of_devices = 0;
	memory.n_places = memory.n_totals = memory.n_pools = 0;
	memory.is_changed = false;
}
