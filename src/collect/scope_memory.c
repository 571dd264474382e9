/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/scope_memory.h"
#include <string.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/host_clock.h"
#include "collect/memory_places.h"
#include "collect/slots.h"

enum {
	MAX_RANGES = 1 << 16,
	MAX_ENDS = 1 << 16,   /* that wait */
	MAX_BLOCKS = 1 << 22, /* that are in scopes */
	MAX_SUMS = 1 << 15,
	CACHE_RANGES = 1024,
	STEPS_MAX = MAX_BLOCKS, /* over blocks, between two looks */
	NONE = 0,               /* of numbers here: they begin with 1 */
};

/* A scope of a thread, whichever instance of it. */
struct range {
	uint32_t node, owner;
	uint32_t parent;      /* the one around it; NONE: there is none */
	uint32_t first, last; /* blocks, by their times */
	uint32_t finger;      /* the newest that was put before others; NONE: none is there */
};

struct range_end {
	uint64_t at_ns;
	uint32_t range;
	bool is_uncounted;                         /* collection paused: it may go on by now */
	uint64_t has_left[MEMORY_MAX_TOTALS / 64]; /* a bit a kind on a device: counted already */
};

struct block {
	uint64_t bytes, at_ns;
	uint64_t released_ns; /* 0: it is there */
	uint32_t older, newer;
	uint32_t own, now; /* ranges: that it was allocated in, that holds it */
	uint32_t next_released;
	uint32_t total : 24;
	uint32_t is_gone : 1; /* with its context: it was not released */
	uint32_t is_out : 1; /* released before a range ended that held it: in its list no longer */
};

/* Of a scope, whichever thread's, and a kind on a device. */
struct sums {
	uint32_t node, total;
	uint32_t slot, held_slot; /* WIRE_NONE: none */
	uint64_t held, most;
};

static struct {
	struct range range[MAX_RANGES];
	uint32_t of_range[MAX_RANGES * 2]; /* by hash */
	struct range_end end[MAX_ENDS];
	struct sums sums[MAX_SUMS];
	uint32_t of_sums[MAX_SUMS * 2];
	struct {
		uint32_t launch, range;
	} cache[CACHE_RANGES];
} left; /* without values of its own: the library's file has no room for it */

static struct {
	uint32_t n_ranges, n_sums, n_blocks;
	uint32_t first_end, n_ended; /* numbers: those in between wait */
	uint32_t first_released,
		last_released; /* blocks that wait until all that ended before is over */
	struct block *block;   /* MAX_BLOCKS; NULL: none yet */
	uint32_t free_block;
	uint32_t n_steps; /* since the last look */
	bool is_refused;
} has = {.n_ranges = 1, .n_sums = 1, .n_blocks = 1, .first_end = 1, .n_ended = 1};

/* ---- scopes ---- */

static bool is_scope(uint32_t node)
{
	uint32_t kind = collector->frame[collector->node[node].frame].kind;

	return kind == FRAME_SCOPE || kind == FRAME_NVTX;
}

/* The innermost of a calling context; 0: it has none. */
static uint32_t scope_of(uint32_t node)
{
	while (node && node != WIRE_NONE && !is_scope(node))
		node = collector->node[node].parent;
	return node == WIRE_NONE ? 0 : node;
}

/* The place of a number in a table of numbers: where it is, or belongs. */
static uint32_t *range_cell(uint32_t node, uint32_t owner)
{
	uint32_t i = (uint32_t)hash_pair(node, owner) % ARRAY_SIZE(left.of_range);

	for (;; i = (i + 1) % ARRAY_SIZE(left.of_range)) {
		const struct range *r = &left.range[left.of_range[i]];

		if (!left.of_range[i] || (r->node == node && r->owner == owner))
			return &left.of_range[i];
	}
}

/* Those around it are made with it. NONE: there is no room. */
static uint32_t range_of(uint32_t node, uint32_t owner)
{
	uint32_t first = NONE, *inner = &first, *cell;

	for (; node; node = scope_of(collector->node[node].parent)) {
		cell = range_cell(node, owner);
		if (*cell) {
			*inner = *cell;
			return first;
		}
		if (has.n_ranges == MAX_RANGES)
			return NONE;
		*cell = *inner = has.n_ranges++;
		left.range[*inner] = (struct range){.node = node, .owner = owner};
		inner = &left.range[*inner].parent;
	}
	return first;
}

/* Where a thread without scopes works for the main thread, that one's end them. */
static uint32_t range_of_launch(uint32_t launch)
{
	const struct context_entry *e = &collector->context[launch];
	uint32_t i = launch % CACHE_RANGES, node, owner;

	if (_likely_(left.cache[i].launch == launch))
		return left.cache[i].range;
	node = scope_of(e->node);
	owner = e->flags & CONTEXT_ADOPTED ? (uint32_t)atomic_load(&collector->pid) : e->thread;
	left.cache[i].launch = launch;
	left.cache[i].range = node && owner ? range_of(node, owner) : NONE;
	if (node && owner && !left.cache[i].range) {
		left.cache[i].launch = 0;
		lose(LOSS_SLOTS_FULL, 1);
	}
	return left.cache[i].range;
}

/* ---- what they have left ---- */

static struct sums *sums_of(uint32_t node, uint32_t total)
{
	uint32_t i = (uint32_t)hash_pair(node, total) % ARRAY_SIZE(left.of_sums), lane, leaf;
	struct sums *s;

	for (; left.of_sums[i]; i = (i + 1) % ARRAY_SIZE(left.of_sums)) {
		s = &left.sums[left.of_sums[i]];
		if (s->node == node && s->total == total)
			return s;
	}
	if (has.n_sums == MAX_SUMS)
		return NULL;
	s = &left.sums[has.n_sums];
	leaf = memory_total_leaf(node, total, &lane);
	*s = (struct sums){.node = node,
			   .total = total,
			   .slot = slot_intern(leaf, lane, SET_ID_LEFT, 0),
			   .held_slot = slot_intern(leaf, lane, SET_ID_LEFT_HELD, 0)};
	left.of_sums[i] = has.n_sums++;
	return s;
}

static void hold(const struct block *b, uint32_t range, uint64_t more, uint64_t less)
{
	struct sums *s = sums_of(left.range[range].node, b->total);

	if (!s || s->held_slot == WIRE_NONE)
		return;
	s->held += more - less;
	s->most = MAX(s->most, s->held);
	slot_store(s->held_slot, LEFT_HELD, s->held);
	slot_store(s->held_slot, LEFT_MOST, s->most);
	slot_touch(s->held_slot);
}

static void count_left(const struct block *b, struct range_end *e)
{
	struct sums *s = sums_of(left.range[e->range].node, b->total);
	uint64_t *has_left = &e->has_left[b->total / 64], bit = UINT64_C(1) << b->total % 64;

	if (!s)
		lose(LOSS_SLOTS_FULL, 1);
	if (!s || s->slot == WIRE_NONE || e->is_uncounted)
		return;
	slot_add_u64(s->slot, LEFT_BYTES, b->bytes);
	slot_add_u64(s->slot, LEFT_BLOCKS, 1);
	slot_add_u64(s->slot, LEFT_TIMES, !(*has_left & bit));
	slot_touch(s->slot);
	*has_left |= bit;
}

/* ---- blocks of a range ---- */

static void take_out(uint32_t id)
{
	struct block *b = &has.block[id];
	struct range *r = &left.range[b->now];

	if (r->finger == id)
		r->finger = b->older;
	*(b->older ? &has.block[b->older].newer : &r->first) = b->newer;
	*(b->newer ? &has.block[b->newer].older : &r->last) = b->older;
}

static bool may_step(void)
{
	return has.n_steps++ < STEPS_MAX;
}

/* The newest of a range that is not newer; NONE: all are. What comes late, and what goes on from scopes within, comes by
 * its time, too: so the next one's place is soon found from the last one's. False: it was too far away. */
static bool find_older(const struct range *r, uint64_t at_ns, uint32_t *ret)
{
	uint32_t at = r->last, next;

	if (at && has.block[at].at_ns > at_ns && r->finger)
		at = r->finger;
	while (at && has.block[at].at_ns > at_ns) {
		if (!may_step())
			return false;
		at = has.block[at].older;
	}
	for (; (next = at ? has.block[at].newer : r->first); at = next) {
		if (has.block[next].at_ns > at_ns)
			break;
		if (!may_step())
			return false;
	}
	*ret = at;
	return true;
}

/* Where its time is; one that is too far away is taken to be as new as the newest, so that all others stay in order. */
static void put_in(uint32_t id, uint32_t range)
{
	struct block *b = &has.block[id];
	struct range *r = &left.range[range];
	uint32_t at = r->last;

	b->now = range;
	if (!range)
		return;
	if (!find_older(r, b->at_ns, &at)) {
		b->at_ns = has.block[at].at_ns;
		lose(LOSS_LEFT_ORDER, 1);
	}
	b->older = at;
	b->newer = at ? has.block[at].newer : r->first;
	if (b->newer)
		r->finger = id;
	*(b->older ? &has.block[b->older].newer : &r->first) = id;
	*(b->newer ? &has.block[b->newer].older : &r->last) = id;
}

static uint32_t block_new(void)
{
	uint32_t id = has.free_block;

	if (id) {
		has.free_block = has.block[id].newer;
		return id;
	}
	if (!has.block && !has.is_refused) {
		has.block = pages_reserve(MAX_BLOCKS * sizeof(*has.block));
		has.is_refused = !has.block;
	}
	return has.is_refused || has.n_blocks == MAX_BLOCKS ? 0 : has.n_blocks++;
}

uint32_t scope_memory_allocated(const struct memory_event *e, uint32_t total)
{
	bool is_known = e->launch && e->launch < table_n(&collector->contexts);
	uint32_t range = is_known ? range_of_launch(e->launch) : NONE, id;

	if (!range)
		return 0;
	id = block_new();
	if (!id) {
		lose(LOSS_NO_MEMORY, 1);
		return 0;
	}
	has.block[id] =
		(struct block){.bytes = e->bytes, .at_ns = e->at_ns, .own = range, .total = total};
	put_in(id, range);
	return id;
}

/* ---- releases ---- */

/* By whom it was left, it is not there any longer. */
static void forget(uint32_t id)
{
	struct block *b = &has.block[id];

	if (b->now && !b->is_out)
		take_out(id);
	for (uint32_t i = b->own; !b->is_gone && i != b->now; i = left.range[i].parent)
		hold(b, i, 0, b->bytes);
	b->newer = has.free_block;
	has.free_block = id;
}

static void forget_oldest(void)
{
	uint32_t id = has.first_released;

	has.first_released = has.block[id].next_released;
	if (!has.first_released)
		has.last_released = NONE;
	forget(id);
}

static bool any_waits(void)
{
	return has.first_end != has.n_ended;
}

void scope_memory_released(uint32_t block, uint64_t at_ns, bool is_gone)
{
	struct block *b = block ? &has.block[block] : NULL;

	if (!b)
		return;
	b->released_ns = MAX(at_ns, 1U);
	b->is_gone = is_gone;
	if (!any_waits()) {
		forget(block);
		return;
	}
	*(has.last_released ? &has.block[has.last_released].next_released : &has.first_released) =
		block;
	has.last_released = block;
}

/* ---- ends ---- */

static struct range_end *end_at(uint32_t number)
{
	return &left.end[number % MAX_ENDS];
}

/* It is there at the end of the range that holds it. */
static void leave(uint32_t id, struct range_end *e)
{
	struct block *b = &has.block[id];

	count_left(b, e);
	hold(b, e->range, b->bytes, 0);
	take_out(id);
	put_in(id, left.range[e->range].parent);
}

/* The oldest that waits. */
static void end_apply(void)
{
	struct range_end *e = end_at(has.first_end);
	struct range *r = &left.range[e->range];
	uint32_t id;

	while (has.first_released && has.block[has.first_released].released_ns < e->at_ns)
		forget_oldest();
	while ((id = r->first) && has.block[id].at_ns <= e->at_ns) {
		struct block *b = &has.block[id];

		if (b->released_ns && b->released_ns < e->at_ns) {
			take_out(id);
			b->is_out = true;
		} else {
			leave(id, e);
		}
	}
	if (++has.first_end == 0)
		has.first_end = 1;
}

/* What was allocated in it may not have been told of yet. */
void scope_memory_ended(const struct memory_event *e)
{
	uint32_t range = range_of(e->context, e->stream);

	if (!range)
		return;
	if (has.n_ended - has.first_end >= MAX_ENDS - 1)
		end_apply();
	*end_at(has.n_ended) =
		(struct range_end){.at_ns = e->at_ns, .range = range, .is_uncounted = is_paused()};
	if (++has.n_ended == 0)
		has.n_ended = 1;
}

/* One of the future, where the clock was set back, does not wait for it. */
static bool is_over(uint64_t at_ns, uint64_t until_ns)
{
	return until_ns == UINT64_MAX || at_ns + SCOPE_MEMORY_WAIT_NS <= until_ns ||
	       at_ns > until_ns + SCOPE_MEMORY_WAIT_NS;
}

void scope_memory_settle(uint64_t until_ns)
{
	while (any_waits() && (until_ns == UINT64_MAX ||
			       end_at(has.first_end)->at_ns + SCOPE_MEMORY_WAIT_NS <= until_ns))
		end_apply();
	while (has.first_released &&
	       (!any_waits() || is_over(has.block[has.first_released].released_ns, until_ns)))
		forget_oldest();
	has.n_steps = 0;
}

/* What the parent's scopes left is not the child's. Pages that were never touched stay so. */
void scope_memory_forked(void)
{
	memset(left.of_range, 0, has.n_ranges > 1 ? sizeof(left.of_range) : 0);
	memset(left.of_sums, 0, has.n_sums > 1 ? sizeof(left.of_sums) : 0);
	memset(left.cache, 0, sizeof(left.cache));
	has.n_ranges = has.n_sums = has.n_blocks = has.first_end = has.n_ended = 1;
	has.free_block = has.first_released = has.last_released = 0;
	has.is_refused = false;
}
