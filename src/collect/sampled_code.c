/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/sampled_code.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/epochs.h"
#include "collect/internal.h"
#include "collect/late_values.h"
#include "collect/slots.h"
#include "collect/whole_file.h"

enum {
	RUNS = 1 << 17,    /* kernels, each in a context; a power of two */
	RUN_PROBES = 64,   /* cells that are looked at for one */
	ITEMS = 1 << 16,   /* instructions that wait; a power of two */
	SHARERS = 1 << 12, /* contexts among which one kernel is divided at a time */
	PLACES = 1 << 15,  /* nodes for instructions */
	PC_WAIT_READS = 50,
	LAG_READS = 8,  /* that samples may come after the record of their kernel */
	LATE_READS = 2, /* that the last samples may have waited and be whose the kernel ever was */
	SLOTS_FOR_CODE = MAX_SLOTS / 2, /* as long as no more are taken, by whomever */
	VALUES_FOR_CODE = MAX_VALUES / 2,
};
#define CUBIN_BYTES_MAX (UINT64_C(512) << 20) /* of a process, in the session's directory */

#define USE_CHANGES     UINT32_MAX /* none: a thread is about to say how much was before */

/* A kernel in a context. */
struct run {
	_Atomic uint64_t key; /* string of its symbol << 32 | slot, + 1; 0: free */
	_Atomic uint64_t time_ns;
	_Atomic uint64_t before_ns; /* … of it, that ran in uses of its epoch before this one */
	_Atomic uint32_t use;       /* of its epoch; USE_CHANGES */
	uint64_t told_ns
		[LAG_READS]; /* how much of it there was at the last reads; the last at [0] */
	double credit;       /* samples that are owed to it */
	uint32_t next;       /* another one of the symbol, + 1 */
};

/* Of an instruction, not divided yet. */
struct item {
	uint32_t module, device, launch;
	uint32_t next; /* of the module, + 1 */
	uint64_t offset;
	uint64_t n_not_issued, n[PC_N_REASONS];
};

/* A function of a cubin that has items. */
struct code {
	uint32_t first; /* item + 1 */
	uint32_t symbol;
	uint32_t waited; /* times that they were read and no kernel had run */
};

struct sharer {
	uint32_t run, use; /* of the run's epoch */
	uint64_t ns;
	uint64_t gets;
};

struct state {
	struct run run[RUNS];
	_Atomic uint32_t used[RUNS]; /* runs in the order that they were made, + 1 */
	_Atomic uint32_t n_used;
	uint32_t n_chained;
	uint32_t of_symbol[MAX_STRINGS]; /* run + 1 */
	struct item item[ITEMS];
	uint32_t n_items, n_codes, n_places;
	struct code code[MAX_MODULES];
	uint32_t due[MAX_MODULES]; /* modules with items */
	uint32_t item_of[2 * ITEMS];
	struct item kept[ITEMS]; /* that wait longer */
	struct sharer sharer[SHARERS];
	size_t n_sharers, first; /* first: whose turn it is to have what does not divide */
	_Atomic uint64_t cubin_bytes;
};

static _Atomic(void *) pages;

static struct state *state(void)
{
	return pages_once_sparse(&pages, sizeof(struct state));
}

/* ---- kernels that ran ---- */

static struct run *run_of(struct state *st, uint32_t symbol, uint32_t slot)
{
	uint64_t key = ((uint64_t)symbol << 32 | slot) + 1, free_key;
	uint32_t at = (uint32_t)hash_u64(key) & (RUNS - 1), n;

	for (unsigned i = 0; i < RUN_PROBES; i++, at = (at + 1) & (RUNS - 1)) {
		struct run *r = &st->run[at];

		free_key = 0;
		if (atomic_load_explicit(&r->key, memory_order_acquire) == key)
			return r;
		if (!atomic_compare_exchange_strong(&r->key, &free_key, key)) {
			if (free_key == key)
				return r;
			continue;
		}
		n = atomic_fetch_add(&st->n_used, 1);
		atomic_store_explicit(&st->used[n], at + 1, memory_order_release);
		return r;
	}
	return NULL;
}

/* The slot's epoch may have been taken anew, for other phases: what ran until then is not theirs. */
static void note_use(struct run *r, uint32_t epoch)
{
	uint64_t time_ns = atomic_load(&r->time_ns);
	uint32_t use = epoch_use(epoch), was = atomic_load(&r->use);

	if (was == use || was == USE_CHANGES ||
	    !atomic_compare_exchange_strong(&r->use, &was, USE_CHANGES))
		return;
	atomic_store(&r->before_ns, time_ns);
	atomic_store(&r->use, use);
}

void sampled_code_ran(uint32_t slot, const struct activity *a)
{
	struct state *st = state();
	struct run *r;

	if (!st || !a->name)
		return;
	r = run_of(st, string_intern(a->name, strlen(a->name)), slot);
	if (!r) {
		lose(LOSS_PC_RUNS, 1);
		return;
	}
	note_use(r, collector->slot[slot].epoch);
	atomic_fetch_add(&r->time_ns, a->end_ns - a->start_ns);
}

/* New ones, below their symbols. */
static void chain_runs(struct state *st)
{
	uint32_t n = atomic_load(&st->n_used), at, symbol;

	while (st->n_chained < n && (at = atomic_load(&st->used[st->n_chained]))) {
		symbol = (uint32_t)((atomic_load(&st->run[at - 1].key) - 1) >> 32);
		st->run[at - 1].next = st->of_symbol[symbol];
		st->of_symbol[symbol] = at;
		st->n_chained++;
	}
}

/* ---- what was sampled ---- */

static uint32_t module_of(const struct pc_sampled *s)
{
	char file[40];

	snprintf(file, sizeof(file), PC_CUBIN_NAME, s->cubin);
	return module_intern(string_intern(file, strlen(file)),
			     string_intern(s->function, strlen(s->function)));
}

static struct item *item_of(struct state *st, uint32_t module, uint32_t device,
			    const struct pc_sampled *s)
{
	uint64_t hash = hash_u64(hash_pair(module, device) ^ hash_u64(s->offset << 20 ^ s->launch));
	uint32_t at = (uint32_t)hash & (2 * ITEMS - 1);
	struct item *i;

	for (; st->item_of[at]; at = (at + 1) & (2 * ITEMS - 1)) {
		i = &st->item[st->item_of[at] - 1];
		if (i->module == module && i->device == device && i->offset == s->offset &&
		    i->launch == s->launch)
			return i;
	}
	if (st->n_items == ITEMS)
		return NULL;
	i = &st->item[st->n_items++];
	*i = (struct item){module, device, s->launch, st->code[module].first, s->offset, 0, {0}};
	if (!i->next)
		st->due[st->n_codes++] = module;
	st->code[module].first = st->item_of[at] = st->n_items;
	return i;
}

static uint64_t n_of(const struct pc_sampled *s)
{
	uint64_t n = s->n_not_issued;

	for (unsigned i = 0; i < PC_N_REASONS; i++)
		n += s->n[i];
	return n;
}

void sampled_code_add(uint8_t source, const struct pc_sampled *s)
{
	struct state *st = state();
	uint32_t module = st ? module_of(s) : WIRE_NONE;
	struct item *i = NULL;

	if (module != WIRE_NONE) {
		st->code[module].symbol = string_intern(s->function, strlen(s->function));
		i = item_of(st, module, device_intern(source, s->device), s);
	}
	if (!i) {
		lose(LOSS_PC_FULL, n_of(s));
		return;
	}
	i->n_not_issued += s->n_not_issued;
	for (unsigned k = 0; k < PC_N_REASONS; k++)
		i->n[k] += s->n[k];
}

/* ---- where it belongs ---- */

/* Each stream and each phase has values of its own of an instruction. What kernels took must find room beside them. */
static bool is_roomy(void)
{
	return table_n(&collector->slots) < SLOTS_FOR_CODE &&
	       atomic_load(&collector->n_values) < VALUES_FOR_CODE;
}

/* Of an instruction below a node; the node itself where there is no room for more. */
static uint32_t place_of(struct state *st, uint32_t node, const struct item *i, uint64_t n)
{
	uint32_t frame = frame_intern_place(FRAME_INSTRUCTION, i->module, i->offset), place;
	bool made = false, has_room = is_roomy();

	place = has_room ? node_find(node, frame) : WIRE_NONE;
	if (place != WIRE_NONE)
		return place;
	if (has_room && st->n_places < PLACES)
		place = node_intern_made(node, frame, &made);
	st->n_places += made;
	if (place != WIRE_NONE)
		return place;
	lose(LOSS_PC_PLACES, n);
	return node;
}

static void put(uint32_t node, uint32_t lane, uint32_t epoch, uint64_t not_issued,
		const uint64_t n[PC_N_REASONS])
{
	uint32_t slot = slot_intern(node, lane, SET_ID_PC, epoch);
	uint64_t stalled = 0;

	if (slot == WIRE_NONE)
		return;
	for (unsigned i = 0; i < PC_N_REASONS; i++) {
		if (n[i])
			slot_add_u64(slot, PC_REASON + i, n[i]);
		stalled += n[i];
	}
	slot_add_u64(slot, PC_SAMPLES, stalled + not_issued);
	slot_add_u64(slot, PC_STALLED, stalled);
	slot_touch(slot);
}

/* … of a kernel that ran in this use of its epoch. */
static void put_late(uint32_t node, const struct slot_entry *of, uint32_t use, uint64_t not_issued,
		     const uint64_t n[PC_N_REASONS])
{
	bool has_begun = late_values_begin();

	put(node, of->lane, epoch_told_late(of->epoch, use), not_issued, n);
	late_values_end(has_begun);
}

/* ---- dividing ---- */

static uint32_t slot_of(const struct run *r)
{
	return (uint32_t)((atomic_load(&r->key) - 1) & UINT32_MAX);
}

/* Is it below the context of this launch? */
static bool is_launched_at(uint32_t node, uint32_t launch)
{
	uint32_t of = launch < table_n(&collector->contexts) ? collector->context[launch].node
							     : WIRE_NONE;

	while (node != WIRE_NONE && node != of)
		node = collector->node[node].parent;
	return node != WIRE_NONE;
}

enum since { SINCE_LAST_READ, SINCE_LAG, SINCE_EVER };

static void add_sharer(struct state *st, uint32_t run, uint32_t use, uint64_t ns)
{
	if (ns && st->n_sharers < SHARERS)
		st->sharer[st->n_sharers++] = (struct sharer){run, use, ns, 0};
}

/* What ran in earlier uses of its epoch is told as that of none. */
static void share_in(struct state *st, uint32_t run, enum since since)
{
	const struct run *r = &st->run[run];
	uint64_t told_ns[] = {
		[SINCE_LAST_READ] = r->told_ns[0],
		[SINCE_LAG] = r->told_ns[LAG_READS - 1],
		[SINCE_EVER] = 0,
	};
	uint32_t use = atomic_load(&r->use);
	uint64_t before_ns = atomic_load(&r->before_ns), ns = atomic_load(&r->time_ns);

	if (use == USE_CHANGES)
		before_ns = ns;
	before_ns = MIN(MAX(before_ns, told_ns[since]), ns);
	add_sharer(st, run, USE_CHANGES, before_ns - told_ns[since]);
	add_sharer(st, run, use, ns - before_ns);
}

/* Who had the symbol run on the device since then. */
static void find_sharers(struct state *st, uint32_t symbol, const struct item *i, enum since since)
{
	st->n_sharers = 0;
	for (uint32_t at = st->of_symbol[symbol]; at && st->n_sharers < SHARERS;
	     at = st->run[at - 1].next) {
		const struct slot_entry *e = &collector->slot[slot_of(&st->run[at - 1])];

		if (collector->lane[e->lane].device == i->device &&
		    (!i->launch || is_launched_at(e->node, i->launch)))
			share_in(st, at - 1, since);
	}
}

/* In which contexts samples of a kernel are told: those where it ran since the last read; else where it ran lately, for
 * samples may come later than records, but not where replays of graphs have no records, whose samples they would be;
 * with the last ones, or where they name a launch, also where it ran before. */
static void find_sharers_of(struct state *st, uint32_t symbol, const struct item *i, bool last)
{
	find_sharers(st, symbol, i, SINCE_LAST_READ);
	if (!st->n_sharers && collector->control->wanted.backends.graphs == GRAPHS_NODES)
		find_sharers(st, symbol, i, SINCE_LAG);
	if (!st->n_sharers && (last || i->launch))
		find_sharers(st, symbol, i, SINCE_EVER);
}

/* One more to each, while there are any, from whose turn it is on, of those that are owed so much. */
static uint64_t hand_out(struct state *st, uint64_t left, double owed)
{
	for (size_t k = 0; left && k < st->n_sharers; k++) {
		size_t at = (st->first + k) % st->n_sharers;
		struct run *r = &st->run[st->sharer[at].run];

		if (r->credit < owed)
			continue;
		st->sharer[at].gets++;
		r->credit -= 1;
		left--;
	}
	return left;
}

/* n samples, of one kind, among the sharers. */
static void divide(struct state *st, uint64_t n, uint64_t whole_ns)
{
	uint64_t left = n;

	for (size_t k = 0; k < st->n_sharers; k++) {
		struct sharer *s = &st->sharer[k];
		struct run *r = &st->run[s->run];
		double is = r->credit + (double)n * ((double)s->ns / (double)whole_ns);

		s->gets = is >= 1 ? MIN((uint64_t)is, left) : 0;
		r->credit = is - (double)s->gets;
		left -= s->gets;
	}
	for (double owed = 0.5; left; owed -= 0.5)
		left = hand_out(st, left, owed);
	st->first++;
}

/* An instruction's, to the sharers. */
static void share(struct state *st, const struct item *i)
{
	enum { KINDS = PC_N_REASONS + 1 };
	uint64_t whole_ns = 0, n;

	for (size_t k = 0; k < st->n_sharers; k++)
		whole_ns += st->sharer[k].ns;
	for (unsigned kind = 0; kind < KINDS; kind++) {
		n = kind < PC_N_REASONS ? i->n[kind] : i->n_not_issued;
		if (!n)
			continue;
		divide(st, n, whole_ns);
		for (size_t k = 0; k < st->n_sharers; k++) {
			const struct sharer *to = &st->sharer[k];
			const struct slot_entry *e = &collector->slot[slot_of(&st->run[to->run])];
			uint64_t one[PC_N_REASONS] = {0}, not_issued = 0, gets = to->gets;

			if (!gets)
				continue;
			if (kind < PC_N_REASONS)
				one[kind] = gets;
			else
				not_issued = gets;
			put_late(place_of(st, e->node, i, gets), e, to->use, not_issued, one);
		}
	}
}

/* Where no kernel is known: below its name, in a place of their own. */
static void put_nowhere(struct state *st, const struct item *i, uint32_t symbol)
{
	static const char word[] = PC_SAMPLES_NOWHERE;
	uint32_t node =
		node_intern(0, frame_intern(FRAME_OTHER, string_intern(word, strlen(word))));
	uint64_t n = i->n_not_issued;

	for (unsigned k = 0; k < PC_N_REASONS; k++)
		n += i->n[k];
	node = node_intern(node, frame_intern(FRAME_KERNEL, symbol));
	put(place_of(st, node, i, n), lane_of_no_stream(i->device), 0, i->n_not_issued, i->n);
}

/* Those of a function. Some wait for the end of their kernel: they are kept. */
static void divide_code(struct state *st, uint32_t module, bool last, uint32_t *n_kept)
{
	struct code *c = &st->code[module];
	bool is_patient = !last && ++c->waited < PC_WAIT_READS;
	bool has_shared = false;
	const struct item *before = NULL;
	struct item *i;

	for (uint32_t at = c->first; at; at = i->next) {
		i = &st->item[at - 1];
		if (!before || before->device != i->device || before->launch != i->launch)
			find_sharers_of(st, c->symbol, i, last && c->waited <= LATE_READS);
		if (st->n_sharers) {
			share(st, i);
			has_shared = true;
		} else if (is_patient || (!last && st->of_symbol[c->symbol])) {
			st->kept[(*n_kept)++] = *i;
		} else {
			put_nowhere(st, i, c->symbol);
		}
		before = i;
	}
	c->first = 0;
	if (has_shared)
		c->waited = 0;
}

static void forget_items(struct state *st)
{
	memset(st->item_of, 0, sizeof(st->item_of));
	st->n_items = st->n_codes = 0;
}

/* What was kept waits as items again. */
static void keep(struct state *st, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		struct pc_sampled s = {.offset = st->kept[k].offset, .launch = st->kept[k].launch};
		struct item *i = item_of(st, st->kept[k].module, st->kept[k].device, &s);

		i->n_not_issued = st->kept[k].n_not_issued;
		memcpy(i->n, st->kept[k].n, sizeof(i->n));
	}
}

void sampled_code_divide(bool last)
{
	struct state *st = state();
	uint32_t n_kept = 0;

	if (!st)
		return;
	chain_runs(st);
	if (st->n_items) {
		for (uint32_t k = 0; k < st->n_codes; k++)
			divide_code(st, st->due[k], last, &n_kept);
		forget_items(st);
		keep(st, n_kept);
	}
	for (uint32_t k = 0; k < st->n_chained; k++) {
		struct run *r = &st->run[st->used[k] - 1];

		memmove(r->told_ns + 1, r->told_ns, sizeof(r->told_ns) - sizeof(*r->told_ns));
		r->told_ns[0] = atomic_load(&r->time_ns);
	}
}

/* ---- code ---- */

/* One that is too large takes none away from others. */
static bool take_bytes(struct state *st, uint64_t size)
{
	uint64_t taken = atomic_load(&st->cubin_bytes);

	do {
		if (size > CUBIN_BYTES_MAX - taken)
			return false;
	} while (!atomic_compare_exchange_weak(&st->cubin_bytes, &taken, taken + size));
	return true;
}

void sampled_code_cubin(uint64_t cubin, const void *data, size_t size)
{
	char name[WHOLE_FILE_NAME_MAX];
	struct state *st = state();

	if (!st || !*collector->dir)
		return;
	snprintf(name, sizeof(name), PC_CUBIN_NAME, cubin);
	if (whole_file_is_there(name))
		return;
	if (!take_bytes(st, size) ||
	    (whole_file_write(name, data, size) < 0 && !whole_file_is_there(name)))
		lose(LOSS_PC_CUBINS, 1);
}

void sampled_code_forked(void)
{
	struct state *st = atomic_load(&pages);

	if (st)
		forget_items(st);
}
