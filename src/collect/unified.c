/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/unified.h"
#include <string.h>
#include "backends/pages.h"
#include "base/util.h"
#include "collect/host_clock.h"
#include "collect/slots.h"
#include "core/pages.h"

enum { RANGES_MAX = 1 << 16 };

/* Of these no two have an address in common; in their order. */
struct range {
	uint64_t begin, end;
	uint32_t node;
};

static struct {
	struct range *range; /* RANGES_MAX of them; NULL: none yet */
	uint32_t n;
	uint32_t node; /* what has no range; 0: not made yet */
} unified;

/* ---- who has what ---- */

/* The first one that ends behind an address. */
static uint32_t range_at(uint64_t address)
{
	uint32_t from = 0;

	BISECT(from, unified.n, middle, unified.range[middle].end <= address)
	return from;
}

/* Those from one on become n others. */
static void ranges_replace(uint32_t at, uint32_t n_old, const struct range *new, uint32_t n)
{
	memmove(&unified.range[at + n], &unified.range[at + n_old],
		(unified.n - at - n_old) * sizeof(*unified.range));
	if (n)
		memcpy(&unified.range[at], new, n * sizeof(*new));
	unified.n += n - n_old;
}

/* What was there before ends with it, also where only a part of it is anew. Without room what has the new one's
 * addresses belongs to the process. */
void unified_allocated(uint64_t address, uint64_t bytes, uint32_t node)
{
	const struct range new = {address, address + bytes, node};
	uint32_t at, n_old = 0;

	if (!collector->control->wanted.backends.unified || !bytes || new.end < address)
		return;
	if (!unified.range)
		unified.range = pages_reserve(RANGES_MAX * sizeof(*unified.range));
	if (!unified.range) {
		lose(LOSS_NO_MEMORY, 1);
		return;
	}
	at = range_at(address);
	while (at + n_old < unified.n && unified.range[at + n_old].begin < new.end)
		n_old++;
	ranges_replace(at, n_old, &new, unified.n - n_old < RANGES_MAX);
}

static uint32_t unknown_node(void)
{
	static const char name[] = "unified memory";

	if (!unified.node)
		unified.node = node_intern(
			0, frame_intern(FRAME_ALLOC, string_intern(name, sizeof(name) - 1)));
	return unified.node;
}

/* What moves may begin before the first of what is in it. */
static uint32_t node_of(const struct memory_event *e)
{
	uint32_t at = unified.range ? range_at(e->address) : 0;

	if (at < unified.n && unified.range[at].begin < e->address + MAX(e->bytes, UINT64_C(1)))
		return unified.range[at].node;
	return unknown_node();
}

/* ---- when it happened ---- */

/* Below whom it is charged to. */
static uint32_t node_in_trace(uint32_t node, const struct memory_event *e)
{
	char name[PAGES_NAME_MAX];

	pages_name(e->what, e->cause, name);
	return node_intern(node, frame_intern(FRAME_PAGES, string_intern(name, strlen(name))));
}

/* More than a device has: a nonsense amount must not keep who delivers it, nor fill the trace. */
#define TRACED_MOST (UINT64_C(1) << 40)

/* An amount that has no place in one operation has it in several. */
static void trace(uint8_t source, uint32_t slot, const struct memory_event *e)
{
	const struct slot_entry *of = &collector->slot[slot];
	const struct wire_interval v = {e->at_ns, e->at_ns + e->took_ns, node_in_trace(of->node, e),
					of->lane};
	enum pages_unit unit = pages_unit(e->what);
	uint64_t left = unit == PAGES_BYTES ? e->bytes : unit == PAGES_NUMBER ? e->n : 0;
	uint32_t amount;

	left = MIN(left, TRACED_MOST);
	do {
		amount = (uint32_t)MIN(left, UINT32_MAX);
		interval_deliver_pages(source, amount, &v);
		left -= amount;
	} while (left);
}

/* ---- what happened ---- */

static uint32_t slot_of(uint8_t source, const struct memory_event *e, unsigned set)
{
	uint32_t device = e->device == DEVICE_HOST ? WIRE_NONE : device_intern(source, e->device);

	return slot_intern(node_of(e), lane_of_no_stream(device), set, 0);
}

static void add_moved(uint32_t slot, const struct memory_event *e)
{
	static const uint8_t where[] = {[UNIFIED_TO_DEVICE] = MOVED_TO_DEVICE,
					[UNIFIED_TO_HOST] = MOVED_TO_HOST,
					[UNIFIED_TO_PEER] = MOVED_TO_PEER};

	slot_add_u64(slot, MOVED_N, 1);
	slot_add_u64(slot, MOVED_TIME, e->took_ns);
	slot_add_u64(slot, where[e->what], e->bytes);
	if (e->cause == UNIFIED_AS_ASKED)
		slot_add_u64(slot, MOVED_ASKED, e->bytes);
	else if (e->cause == UNIFIED_EVICTED)
		slot_add_u64(slot, MOVED_EVICTED, e->bytes);
}

static void add_missed(uint32_t slot, const struct memory_event *e)
{
	static const uint8_t where[] = {[UNIFIED_CPU_FAULT] = MISSED_CPU,
					[UNIFIED_GPU_FAULT] = MISSED_GPU,
					[UNIFIED_THRASH] = MISSED_THRASHES,
					[UNIFIED_THROTTLE] = MISSED_THROTTLED,
					[UNIFIED_REMOTE] = MISSED_REMOTE};

	slot_add_u64(slot, where[e->what], e->what == UNIFIED_THROTTLE ? e->took_ns : e->n);
}

void unified_add(uint8_t source, const struct memory_event *e)
{
	bool has_moved = e->what <= UNIFIED_TO_PEER;
	uint32_t slot;

	if (is_paused() || e->what > UNIFIED_REMOTE)
		return;
	slot = slot_of(source, e, has_moved ? SET_ID_MOVED : SET_ID_MISSED);
	if (slot == WIRE_NONE)
		return;
	if (has_moved)
		add_moved(slot, e);
	else
		add_missed(slot, e);
	slot_touch(slot);
	if (is_run_traced() && e->at_ns)
		trace(source, slot, e);
}

void unified_forked(void)
{
	unified.n = unified.node = 0;
}
