/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include <time.h>
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/internal.h"
#include "core/fold.h"
#include "wire/wire.h"

/* ---- the mappings ---- */

enum {
	PAGE = 1 << 16,      /* of every architecture: arrays begin at one */
	FILL_NAP_NS = 20000, /* between two looks whether another thread has filled an entry … */
	FILL_NAPS = 500,     /* … of so many */

	BUCKET = 16,       /* cells of an index: a line of the cache */
	CELLS_1 = 1 << 12, /* of the first level, in buckets … */
	CELLS_2 = 1 << 16, /* … and of the second */
	CELLS_BEFORE = CELLS_1 + CELLS_2,
};

/* An index has three levels of cells: an entry's id + 1, and above it bits of its hash, so that one that
 * is not meant need not be looked at. 0 is free, and no cell ever becomes free again.
 *
 *     hash ─> a bucket of level 1 ── full ──> one of level 2 ── full ──> level 3, from a place of it on
 *
 * So a table with few entries touches few pages, however many it has room for, and who looks for a key
 * goes the way of whoever put it there: what was full once is full for all. Level 3 has room for twice
 * what the table has. */
#define CELL_IDS UINT32_C(0xfffff) /* of a cell: the id; the others are of the hash */
_Static_assert(MAX_ID <= CELL_IDS, "ids fit cells");

/* Arrays that struct collector points to: where the pointer is, and how many bytes. */
static const struct piece {
	size_t at, size;
} pieces[] = {
#define PIECE(name, max)                                                                           \
	{                                                                                          \
		offsetof(struct collector, name), (max) * sizeof(*collector->name)                 \
	}
	PIECE(text, MAX_TEXT),          PIECE(string, MAX_STRINGS),
	PIECE(module, MAX_MODULES),     PIECE(frame, MAX_FRAMES),
	PIECE(node, MAX_NODES),         PIECE(context, MAX_CONTEXTS),
	PIECE(lane, MAX_LANES),         PIECE(slot, MAX_SLOTS),
	PIECE(hist, MAX_HISTS),         PIECE(crowd, MAX_CROWDS),
	PIECE(folded, MAX_FOLDED / 64), PIECE(value, MAX_VALUES),
	PIECE(dirty, MAX_SLOTS / 64),   PIECE(hist_dirty, MAX_HISTS / 64),
	PIECE(config, MAX_CONFIGS),     PIECE(config_dirty, MAX_CONFIGS / 64),
	PIECE(thread, MAX_THREADS),     PIECE(intervals.cell, MAX_INTERVALS),
	PIECE(session, MAX_SESSIONS),   PIECE(epochs, MAX_EPOCHS),
#undef PIECE
#define INDEX(name, max)                                                                           \
	{                                                                                          \
		offsetof(struct collector, name.index),                                            \
			((size_t)(max)*2 + CELLS_BEFORE) * sizeof(*collector->name.index)          \
	}
	INDEX(strings, MAX_STRINGS),    INDEX(modules, MAX_MODULES),
	INDEX(frames, MAX_FRAMES),      INDEX(nodes, MAX_NODES),
	INDEX(contexts, MAX_CONTEXTS),  INDEX(lanes, MAX_LANES),
	INDEX(slots, MAX_SLOTS),        INDEX(hists, MAX_HISTS),
	INDEX(configs, MAX_CONFIGS),    INDEX(crowds, MAX_CROWDS),
#undef INDEX
};

static size_t whole_pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

/* The struct and its arrays in one mapping. */
static struct collector *pieces_map(void)
{
	size_t at = whole_pages(sizeof(struct collector)), size = at, i;
	char *base, *p;

	for (i = 0; i < ARRAY_SIZE(pieces); i++)
		size += whole_pages(pieces[i].size);
	base = pages_reserve(size);
	for (i = 0; base && i < ARRAY_SIZE(pieces); i++) {
		p = base + at;
		memcpy(base + pieces[i].at, &p, sizeof(p));
		at += whole_pages(pieces[i].size);
	}
	return (struct collector *)base;
}

static void table_init(struct table *t, uint32_t max)
{
	t->max = max;
	t->mask = max * 2 - 1;
}

static struct collector *tables_map(void)
{
	struct collector *c = pieces_map();

	if (!c)
		return NULL;
	table_init(&c->strings, MAX_STRINGS);
	table_init(&c->modules, MAX_MODULES);
	table_init(&c->frames, MAX_FRAMES);
	table_init(&c->nodes, MAX_NODES);
	table_init(&c->contexts, MAX_CONTEXTS);
	table_init(&c->lanes, MAX_LANES);
	table_init(&c->slots, MAX_SLOTS);
	table_init(&c->hists, MAX_HISTS);
	table_init(&c->configs, MAX_CONFIGS);
	table_init(&c->crowds, MAX_CROWDS);
	return c;
}

#define METRIC_OF(name) METRIC_##name,
#define SET_OF_STEPS(set)                                                                          \
	[SET_ID_STEPS + STEP_SET_##set] = {STEP_N_##set, {STEP_VALUES_##set(METRIC_OF)}},

/* Metrics of the sets that are always there. */
static const struct {
	uint8_t n, metrics[SET_MAX];
} built_in_sets[] = {
	[SET_ID_KERNEL] = {4, {METRIC_TIME, METRIC_COUNT, METRIC_TIME_MIN, METRIC_TIME_MAX}},
	[SET_ID_TRANSFER] =
		{7,
		 {METRIC_TIME, METRIC_COUNT, METRIC_TIME_MIN,
		  METRIC_TIME_MAX, [TRANSFER_BYTES] = METRIC_BYTES, [TRANSFER_ASYNC] = METRIC_ASYNC,
		  [TRANSFER_DIRECTION] = METRIC_DIRECTION}},
	[SET_ID_HOST] = {2, {METRIC_CPU_TIME, METRIC_CPU_COUNT}},
	[SET_ID_ALLOC] = {5,
			  {METRIC_ALLOCS, METRIC_ALLOCATED, METRIC_FREES, METRIC_FREED,
			   METRIC_NOT_FREED}},
	[SET_ID_MEMORY] = {3, {METRIC_MEM_LIVE, METRIC_MEM_PEAK, METRIC_AT_PEAK}},
	[SET_ID_LEFT] = {3, {METRIC_LEFT_BYTES, METRIC_LEFT_BLOCKS, METRIC_LEFT_TIMES}},
	[SET_ID_LEFT_HELD] = {2, {METRIC_LEFT_HELD, METRIC_LEFT_MOST}},
	[SET_ID_PEAK] = {2, {METRIC_MEM_PEAK, METRIC_PEAK_AT}},
	[SET_ID_POOL] = {5,
			 {METRIC_POOL_SIZE, METRIC_POOL_USED, METRIC_POOL_PEAK,
			  METRIC_POOL_USED_PEAK, METRIC_POOL_UNUSED}},
	[SET_ID_GROWTH] = {3, {METRIC_POOL_GROWN, METRIC_FRAGMENTED, METRIC_FRAGMENTED_TIMES}},
	[SET_ID_GRAPH_KERNEL] = {5,
				 {METRIC_TIME, METRIC_COUNT, METRIC_TIME_MIN,
				  METRIC_TIME_MAX, [KERNEL_GRAPH_NODES] = METRIC_GRAPH_NODES}},
	[SET_ID_GRAPH_TRANSFER] =
		{8,
		 {METRIC_TIME, METRIC_COUNT, METRIC_TIME_MIN,
		  METRIC_TIME_MAX, [TRANSFER_BYTES] = METRIC_BYTES, [TRANSFER_ASYNC] = METRIC_ASYNC,
		  [TRANSFER_DIRECTION] = METRIC_DIRECTION,
		  [TRANSFER_GRAPH_NODES] = METRIC_GRAPH_NODES}},
	[SET_ID_GRAPH] = {6,
			  {METRIC_TIME, METRIC_COUNT, METRIC_TIME_MIN,
			   METRIC_TIME_MAX, [KERNEL_GRAPH_NODES] = METRIC_GRAPH_NODES,
			   [GRAPH_KERNELS] = METRIC_GRAPH_KERNELS}},
	[SET_ID_MOVED] = {7,
			  {METRIC_MIGRATIONS, METRIC_MIGRATING, METRIC_TO_DEVICE, METRIC_TO_HOST,
			   METRIC_TO_PEER, METRIC_ASKED_FOR, METRIC_EVICTED}},
	[SET_ID_MISSED] = {5,
			   {METRIC_CPU_FAULTS, METRIC_GPU_FAULTS, METRIC_THRASHES, METRIC_THROTTLED,
			    METRIC_REMOTE}},
	[SET_ID_IDLE] = {8,
			 {METRIC_IDLE_GAPS, METRIC_IDLE, METRIC_IDLE_LATE, METRIC_IDLE_SYNC,
			  METRIC_IDLE_COPY, METRIC_IDLE_LAUNCH, METRIC_IDLE_QUEUED,
			  METRIC_IDLE_GRAPH}},
	[SET_ID_LATENCY] = {3, {METRIC_LATENCY, METRIC_LATENCY_N, METRIC_LATENCY_MAX}},
	[SET_ID_SCOPES] = {5,
			   {METRIC_CYCLES, METRIC_NORMALIZED_CYCLES, METRIC_SCOPE_ENTRIES,
			    METRIC_CYCLES_MIN, METRIC_CYCLES_MAX}},
	[SET_ID_SCOPE_SUMS] = {3, {METRIC_CYCLES, METRIC_NORMALIZED_CYCLES, METRIC_SCOPE_ENTRIES}},
	[SET_ID_MARKS] = {1, {METRIC_SCOPE_ENTRIES}},
	[SET_ID_VALUES] = {4,
			   {METRIC_SCOPE_ENTRIES, METRIC_SCOPE_VALUE, METRIC_SCOPE_VALUE_MIN,
			    METRIC_SCOPE_VALUE_MAX}},
	[SET_ID_CALL] = {4, {METRIC_API_TIME, METRIC_API_CALLS, METRIC_API_MIN, METRIC_API_MAX}},
	[SET_ID_WAIT] = {6,
			 {METRIC_API_TIME, METRIC_API_CALLS, METRIC_API_MIN, METRIC_API_MAX,
			  [WAIT_HOST_NS] = METRIC_CPU_TIME, [WAIT_HOST_N] = METRIC_CPU_COUNT}},
	STEP_SETS(SET_OF_STEPS)};

static void set_seed_pc(struct set_entry *s)
{
	s->n = PC_VALUES;
	for (unsigned i = 0; i < s->n; i++)
		s->metrics[i] = (uint16_t)(METRIC_PC_SAMPLES + i);
}

static void set_seed(struct set_entry *s, unsigned id)
{
	unsigned i;

	if (id == SET_ID_PC) {
		set_seed_pc(s);
	} else if (id >= SET_ID_SIZES) {
		s->n = 2;
		s->metrics[0] = (uint16_t)metric_of_copies(id - SET_ID_SIZES);
		s->metrics[1] = (uint16_t)metric_of_copied_bytes(id - SET_ID_SIZES);
	} else {
		s->n = built_in_sets[id].n;
		for (i = 0; i < s->n; i++)
			s->metrics[i] = built_in_sets[id].metrics[i];
	}
	atomic_store(&s->key, UINT64_MAX); /* of no single metric */
	atomic_store(&s->state, ENTRY_READY);
}

/* The entries that the wire knows without saying: "", the root, lane 0, the built-in sets. */
static void tables_seed(struct collector *c)
{
	unsigned i;

	string_intern("", 0);
	frame_intern(FRAME_ROOT, string_intern("ROOT", 4));
	node_intern(WIRE_NONE, 0);
	lane_intern(WIRE_NONE, 0, 0, 0);
	context_intern(WIRE_NONE, 0, 0, 0, 0); /* id 0: unknown */
	context_intern(0, 0, 0, 0, 0);         /* id 1: the root, when contexts are full */
	atomic_store(&c->n_epochs, 1);
	/* Values that are strings must be on the wire before their slots: they are made first. */
	for (i = 0; i < COPY_N_DIRECTIONS; i++)
		string_intern(copy_direction_word(i), strlen(copy_direction_word(i)));
	for (i = 0; i < N_SETS_SEEDED; i++)
		set_seed(&c->set[i], i);
#define _(id, number, name_, type_, scope_, add_, unit_, title)                                    \
	c->metric[METRIC_##id].name = string_intern(name_, sizeof(name_) - 1);                     \
	c->metric[METRIC_##id].unit = string_intern(unit_, sizeof(unit_) - 1);                     \
	c->metric[METRIC_##id].type = METRIC_##type_;                                              \
	c->metric[METRIC_##id].scope = METRIC_##scope_;                                            \
	c->metric[METRIC_##id].add = METRIC_##add_;                                                \
	atomic_store(&c->metric[METRIC_##id].key, c->metric[METRIC_##id].name + UINT64_C(1));      \
	atomic_store(&c->metric[METRIC_##id].state, ENTRY_READY);
	METRICS_BUILTIN(_)
#undef _
}

struct collector *tables_new(void)
{
	struct collector *c = tables_map();

	if (!c)
		return NULL;
	collector = c;
	tables_seed(c);
	return c;
}

/* ---- the one insertion algorithm ---- */

/* Is entry `id` that of the key? Inlined, like all that is handed one: `k` is a constant there. */
struct keyed;
typedef bool equal_fn(const struct keyed *k, uint32_t id, const void *key);

static inline uint32_t cell_first(uint64_t hash)
{
	return (uint32_t)hash % (CELLS_1 / BUCKET) * BUCKET;
}

/* Where to look in the next level, behind the last cell of a bucket. */
static inline uint32_t cell_below(const struct table *t, uint64_t hash, uint32_t cell)
{
	if (cell <= CELLS_1)
		return CELLS_1 + (uint32_t)(hash >> 8) % (CELLS_2 / BUCKET) * BUCKET;
	return CELLS_BEFORE + ((uint32_t)(hash >> 16) & t->mask);
}

static inline uint32_t cell_next(const struct table *t, uint64_t hash, uint32_t cell)
{
	cell++;
	if (cell > CELLS_BEFORE)
		return CELLS_BEFORE + ((cell - CELLS_BEFORE) & t->mask);
	return cell % BUCKET ? cell : cell_below(t, hash, cell);
}

/* What marks entries with this hash. */
static inline uint32_t cell_mark(uint64_t hash)
{
	return (uint32_t)(hash >> 32) & ~CELL_IDS;
}

/* May a cell that is not free be that of an entry with this hash? */
static inline bool cell_fits(uint32_t cell, uint64_t hash)
{
	return (cell & ~CELL_IDS) == cell_mark(hash);
}

static inline uint32_t cell_id(uint32_t cell)
{
	return (cell & CELL_IDS) - 1;
}

/* An equal entry's id, or WIRE_NONE and the cell to fill. */
static inline __attribute__((always_inline)) uint32_t
table_find(struct table *t, uint64_t hash, equal_fn *equal, const struct keyed *k, const void *key,
	   uint32_t *ret_cell)
{
	uint32_t i, cell;

	for (i = cell_first(hash);; i = cell_next(t, hash, i)) {
		cell = atomic_load_explicit(&t->index[i], memory_order_acquire);
		*ret_cell = i;
		if (!cell)
			return WIRE_NONE;
		if (cell_fits(cell, hash) && equal(k, cell_id(cell), key))
			return cell_id(cell);
	}
}

/* A fresh id, or WIRE_NONE when the table is full. */
static uint32_t table_take(struct table *t, uint32_t max)
{
	uint32_t id;

	if (atomic_load_explicit(&t->n, memory_order_relaxed) >= max)
		return WIRE_NONE;
	id = atomic_fetch_add_explicit(&t->n, 1, memory_order_acq_rel);
	return id < t->max ? id : WIRE_NONE;
}

/* Publish entry id in the index from `cell` on. Returns id, or the id of the equal entry of a
 * thread that was faster: then ours is dead. */
static inline __attribute__((always_inline)) uint32_t
table_publish(struct table *t, uint64_t hash, uint32_t cell, uint32_t id, equal_fn *equal,
	      const struct keyed *k, const void *key, _Atomic uint8_t *state)
{
	uint32_t seen;

	for (;; cell = cell_next(t, hash, cell)) {
		seen = 0;
		if (atomic_compare_exchange_strong_explicit(
			    &t->index[cell], &seen, cell_mark(hash) | (id + 1),
			    memory_order_acq_rel, memory_order_acquire))
			break;
		if (cell_fits(seen, hash) && equal(k, cell_id(seen), key)) {
			atomic_store_explicit(state, ENTRY_DEAD, memory_order_release);
			return cell_id(seen);
		}
	}
	atomic_store_explicit(state, ENTRY_READY, memory_order_release);
	return id;
}

/* ---- strings ---- */

static bool string_equal(const struct keyed *unused, uint32_t id, const void *key)
{
	return string_is(id, key);
}

/* In a program that was built with TSan our memcpy() is TSan's, which sees the copy but not the
 * atomics that publish it: a race that is none, reported on the program's stderr. */
#ifndef __SANITIZE_THREAD__
__attribute__((weak)) void AnnotateIgnoreWritesBegin(const char *file, int line);
__attribute__((weak)) void AnnotateIgnoreWritesEnd(const char *file, int line);
#endif

static void copy_unseen(char *to, const char *from, size_t n)
{
#ifndef __SANITIZE_THREAD__
	if (AnnotateIgnoreWritesBegin && AnnotateIgnoreWritesEnd) {
		AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
		memcpy(to, from, n);
		AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
		return;
	}
#endif
	memcpy(to, from, n);
}

/* Bytes of the string in the arena, cut to the bound with its hash behind it; NULL: full. */
static const char *string_store(const struct string_key *k, uint32_t *ret_len)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t len = (uint32_t)MIN(k->len, (size_t)WIRE_TEXT_MAX), at, i;
	char *p;

	if (atomic_load(&collector->text_used) > MAX_TEXT - WIRE_TEXT_MAX - 1)
		return NULL;
	at = atomic_fetch_add(&collector->text_used, len + 1);
	if (at > MAX_TEXT - WIRE_TEXT_MAX - 1)
		return NULL;
	p = collector->text + at;
	copy_unseen(p, k->s, len);
	p[len] = '\0';
	if (k->len > WIRE_TEXT_MAX) {
		p[len - 17] = '#';
		for (i = 0; i < 16; i++)
			p[len - 16 + i] = digits[k->hash >> (60 - 4 * i) & 15];
	}
	*ret_len = len;
	return p;
}

uint32_t string_find(const struct string_key *k)
{
	uint32_t cell;

	return table_find(&collector->strings, k->hash, string_equal, NULL, k, &cell);
}

uint32_t string_intern(const char *s, size_t len)
{
	struct string_key k = string_key(s, len);
	struct table *t = &collector->strings;
	struct string_entry *e;
	uint32_t cell, id = table_find(t, k.hash, string_equal, NULL, &k, &cell);

	if (id != WIRE_NONE)
		return id;
	id = table_take(t, MAX_STRINGS);
	if (id == WIRE_NONE) {
		lose(LOSS_STRINGS_FULL, 1);
		return 0;
	}
	e = &collector->string[id];
	e->s = string_store(&k, &e->len);
	if (!e->s) {
		atomic_store(&e->state, ENTRY_DEAD);
		lose(LOSS_STRINGS_FULL, 1);
		return 0;
	}
	e->hash = k.hash;
	e->full_len = len;
	return table_publish(t, k.hash, cell, id, string_equal, NULL, &k, &e->state);
}

/* ---- tables whose entries begin with their key ---- */

struct keyed {
	size_t table, entries; /* in struct collector: the table, and the pointer to its entries */
	size_t words;          /* of 32 bits, in a key */
	size_t size, state;    /* of an entry, and where in it its state is */
};
#define KEYED(name, words)                                                                         \
	{                                                                                          \
		offsetof(struct collector, name##s), offsetof(struct collector, name), (words),    \
			sizeof(struct name##_entry), offsetof(struct name##_entry, state)          \
	}
static const struct keyed modules = KEYED(module, 2), frames = KEYED(frame, 4),
			  nodes = KEYED(node, 2), contexts = KEYED(context, 5),
			  lanes = KEYED(lane, 4), slots = KEYED(slot, 4), hists = KEYED(hist, 3),
			  configs = KEYED(config, 2 + LAUNCH_CONFIG_WORDS),
			  crowds = KEYED(crowd, 3);

static inline char *keyed_entry(const struct keyed *k, uint32_t id)
{
	return *(char **)((char *)collector + k->entries) + id * k->size;
}

static inline __attribute__((always_inline)) bool keyed_equal(const struct keyed *k, uint32_t id,
							      const void *key)
{
	const uint32_t *its = (const uint32_t *)keyed_entry(k, id), *wanted = key;
	uint32_t differ = 0;

#pragma GCC unroll 4
	for (size_t i = 0; i < k->words; i++)
		differ |= its[i] ^ wanted[i];
	return !differ;
}

/* The id of a key, with an entry made for it where there is none and room below max; else
 * WIRE_NONE. */
static inline __attribute__((always_inline)) uint32_t
keyed_make(const struct keyed *k, uint64_t hash, const uint32_t *key, uint32_t max, bool *ret_made)
{
	struct table *t = (struct table *)((char *)collector + k->table);
	uint32_t cell, id = table_find(t, hash, keyed_equal, k, key, &cell), its;
	char *entry;

	*ret_made = false;
	if (id != WIRE_NONE)
		return id;
	id = table_take(t, max);
	if (id == WIRE_NONE)
		return WIRE_NONE;
	entry = keyed_entry(k, id);
	memcpy(entry, key, k->words * sizeof(*key));
	its = table_publish(t, hash, cell, id, keyed_equal, k, key,
			    (_Atomic uint8_t *)(entry + k->state));
	*ret_made = its == id;
	return its;
}

static inline __attribute__((always_inline)) uint32_t
keyed_intern(const struct keyed *k, uint64_t hash, const uint32_t *key, uint32_t max)
{
	bool made;

	return keyed_make(k, hash, key, max, &made);
}

uint32_t frame_find(enum frame_kind kind, uint32_t string)
{
	const uint32_t key[] = {kind, string, WIRE_NONE, 0};
	uint32_t cell;

	return table_find(&collector->frames, hash_pair(kind, string), keyed_equal, &frames, key,
			  &cell);
}

uint32_t frame_intern(enum frame_kind kind, uint32_t string)
{
	const uint32_t key[] = {kind, string, WIRE_NONE, 0};

	return keyed_intern(&frames, hash_pair(kind, string), key, MAX_FRAMES);
}

uint32_t module_intern(uint32_t path, uint32_t build_id)
{
	const uint32_t key[] = {path, build_id};

	return keyed_intern(&modules, hash_pair(path, build_id), key, MAX_MODULES);
}

uint32_t frame_intern_place(enum frame_kind kind, uint32_t module, uint64_t offset)
{
	const uint32_t key[] = {kind, (uint32_t)(offset >> 32), module, (uint32_t)offset};

	return keyed_intern(&frames, hash_u64(hash_pair(kind, module) ^ offset), key, MAX_FRAMES);
}

uint32_t node_find(uint32_t parent, uint32_t frame)
{
	const uint32_t key[] = {parent, frame};
	uint32_t cell;

	return table_find(&collector->nodes, hash_pair(parent, frame), keyed_equal, &nodes, key,
			  &cell);
}

static uint32_t node_try(uint32_t parent, uint32_t frame, uint32_t max, bool *ret_made)
{
	const uint32_t key[] = {parent, frame};

	return keyed_make(&nodes, hash_pair(parent, frame), key, max, ret_made);
}

/* What there is no room for. What a program enters last, and where most of its work then is, begins at the
 * root: there it is never taken for the root's own. Elsewhere it may be the parent's, once many have one. */
static uint32_t node_other(uint32_t parent)
{
	uint32_t frame = frame_intern(FRAME_OTHER, string_intern("<other>", 7)), id;
	const struct node_entry *e = &collector->node[parent];
	bool at_root = parent == 0 || (e->parent == 0 && e->frame == frame), made;

	if (frame == WIRE_NONE)
		return parent;
	id = node_try(parent, frame, MAX_NODES - (at_root ? 0 : RESERVED_AT_ROOT), &made);
	return id == WIRE_NONE ? parent : id;
}

uint32_t node_intern_made(uint32_t parent, uint32_t frame, bool *ret_made)
{
	uint32_t id = WIRE_NONE;

	*ret_made = false;
	if (frame != WIRE_NONE)
		id = node_try(parent, frame, MAX_NODES - RESERVED_NODES, ret_made);
	if (id != WIRE_NONE)
		return id;
	lose(LOSS_NODES_FULL, 1);
	return node_other(parent);
}

uint32_t node_intern(uint32_t parent, uint32_t frame)
{
	bool made;

	return node_intern_made(parent, frame, &made);
}

uint32_t context_intern(uint32_t node, uint32_t thread, uint32_t flags, uint32_t epoch,
			uint32_t name)
{
	const uint32_t key[] = {node, thread, flags, epoch, name};
	uint64_t hash =
		hash_pair(node, thread) + flags + (epoch | name ? hash_pair(epoch, name) : 0);
	uint32_t id = keyed_intern(&contexts, hash, key, MAX_CONTEXTS);

	if (id != WIRE_NONE)
		return id;
	lose(LOSS_CONTEXTS_FULL, 1);
	return 1;
}

/* May this stream have lanes of its own? The first MAX_STREAMS of a device may. */
static bool stream_admitted(struct device_entry *d, uint32_t context, uint32_t stream)
{
	uint64_t key = ((uint64_t)context << 32 | stream) + 1, seen;
	unsigned i;

	for (i = 0; i < MAX_STREAMS; i++) {
		seen = atomic_load_explicit(&d->streams[i].key, memory_order_acquire);
		if (!seen && atomic_compare_exchange_strong(&d->streams[i].key, &seen, key))
			return true;
		if (seen == key)
			return true;
	}
	return false;
}

static uint64_t lane_hash(const uint32_t key[4])
{
	return hash_u64(hash_pair(key[0], key[1]) ^ hash_pair(key[2], key[3]));
}

uint32_t lane_intern(uint32_t device, uint32_t context, uint32_t stream, uint32_t thread)
{
	const uint32_t key[] = {device, context, stream, thread},
		       shared[] = {device, WIRE_NONE, WIRE_NONE, 0};
	uint64_t hash = lane_hash(key);
	uint32_t cell, id = table_find(&collector->lanes, hash, keyed_equal, &lanes, key, &cell);

	if (id != WIRE_NONE)
		return id;
	if (device >= MAX_DEVICES || stream_admitted(&collector->device[device], context, stream))
		id = keyed_intern(&lanes, hash, key, MAX_LANES - RESERVED_LANES);
	if (id != WIRE_NONE)
		return id;
	lose(LOSS_LANES_FULL, 1);
	id = keyed_intern(&lanes, lane_hash(shared), shared, MAX_LANES);
	return id == WIRE_NONE ? 0 : id;
}

uint32_t lane_of_no_stream(uint32_t device)
{
	return lane_intern(device, 0, device == WIRE_NONE ? 0 : STREAM_NONE, 0);
}

/* Minima start at the top, what begins absent with no number. */
static void slot_seed(const struct slot_entry *e)
{
	const struct set_entry *set = &collector->set[e->set];
	unsigned i;

	for (i = 0; i < set->n; i++)
		if (metric_seed(set->metrics[i]))
			atomic_store_explicit(&collector->value[e->values + i],
					      metric_seed(set->metrics[i]), memory_order_relaxed);
}

uint32_t slot_intern(uint32_t node, uint32_t lane, uint32_t set, uint32_t epoch)
{
	const uint32_t key[] = {node, lane, set, epoch};
	struct table *t = &collector->slots;
	uint64_t hash = hash_u64(hash_pair(node, lane) ^ hash_pair(epoch, set));
	struct slot_entry *e;
	uint32_t cell, id = table_find(t, hash, keyed_equal, &slots, key, &cell), n, at;

	if (id != WIRE_NONE)
		return id;
	n = collector->set[set].n;
	if (atomic_load(&collector->n_values) + n <= MAX_VALUES)
		id = table_take(t, MAX_SLOTS);
	if (id == WIRE_NONE) {
		lose(LOSS_SLOTS_FULL, 1);
		return WIRE_NONE;
	}
	e = &collector->slot[id];
	at = atomic_fetch_add(&collector->n_values, n);
	if (at + n > MAX_VALUES) {
		atomic_store(&e->state, ENTRY_DEAD);
		lose(LOSS_SLOTS_FULL, 1);
		return WIRE_NONE;
	}
	memcpy(e, key, sizeof(key));
	e->values = at;
	slot_seed(e);
	return table_publish(t, hash, cell, id, keyed_equal, &slots, key, &e->state);
}

uint32_t hist_intern(uint32_t node, uint32_t device, uint32_t octave)
{
	const uint32_t key[] = {node, device, octave};

	return keyed_intern(&hists, hash_u64(hash_pair(node, device) ^ octave), key, MAX_HISTS);
}

uint32_t config_intern(uint32_t node, uint32_t device, const struct launch_config *of, bool *made)
{
	uint32_t key[2 + LAUNCH_CONFIG_WORDS] = {node, device}, cell;
	bool may = *made;
	uint64_t hash;

	memcpy(key + 2, of, sizeof(*of));
	hash = hash_bytes(key, sizeof(key));
	*made = false;
	if (may)
		return keyed_make(&configs, hash, key, MAX_CONFIGS, made);
	return table_find(&collector->configs, hash, keyed_equal, &configs, key, &cell);
}

uint32_t crowd_intern(uint32_t parent, uint64_t pattern)
{
	const uint32_t key[] = {parent, (uint32_t)pattern, (uint32_t)(pattern >> 32)};

	return keyed_intern(&crowds, hash_u64(parent ^ pattern), key, MAX_CROWDS);
}

/* ---- small tables: a scan, and a claim of the first free entry by its key ---- */

/* An entry is its key's from the moment it is claimed: two threads with one key never make two entries
 * of it, however long one of them takes to fill it. */
struct small_table {
	size_t at, size, key, state; /* in struct collector; of an entry; in an entry */
	uint32_t max;
	void (*fill)(void *entry, const void *what);
	uint32_t n_seeded; /* the first ones have no key to be looked for by */
};
#define SMALL_TABLE(name, max, n_seeded)                                                           \
	{                                                                                          \
		offsetof(struct collector, name), sizeof(*collector->name),                        \
			offsetof(struct name##_entry, key), offsetof(struct name##_entry, state),  \
			(max), name##_fill, (n_seeded)                                             \
	}

static _Atomic uint8_t *small_state(const struct small_table *t, uint32_t id)
{
	return (_Atomic uint8_t *)((char *)collector + t->at + id * t->size + t->state);
}

/* The entry of a key (not 0), made when absent; WIRE_NONE: full. Another thread may be filling it. */
static uint32_t small_intern(const struct small_table *t, uint64_t key, const void *what)
{
	char *entry = (char *)collector + t->at + t->n_seeded * t->size;

	for (uint32_t i = t->n_seeded; i < t->max; i++, entry += t->size) {
		_Atomic uint64_t *its = (_Atomic uint64_t *)(entry + t->key);
		uint64_t seen = atomic_load_explicit(its, memory_order_acquire);

		if (!seen && atomic_compare_exchange_strong(its, &seen, key)) {
			t->fill(entry, what);
			atomic_store(small_state(t, i), ENTRY_READY);
			return i;
		}
		if (seen == key)
			return i;
	}
	return WIRE_NONE;
}

/* … for who looks into it. Not waited for for ever: that thread may be the one that our signal handler
 * interrupted. */
static uint32_t small_intern_filled(const struct small_table *t, uint64_t key, const void *what)
{
	const struct timespec nap = {0, FILL_NAP_NS};
	uint32_t id = small_intern(t, key, what);

	for (int i = 0; id != WIRE_NONE && i < FILL_NAPS; i++) {
		if (atomic_load_explicit(small_state(t, id), memory_order_acquire) == ENTRY_READY)
			return id;
		nanosleep(&nap, NULL);
	}
	return WIRE_NONE;
}

struct metric_what {
	uint32_t name;
	const char *unit;
	uint8_t type, scope, add;
	uint16_t weight;
};

static void metric_fill(void *entry, const void *what)
{
	const struct metric_what *w = what;
	struct metric_entry *m = entry;

	m->name = w->name;
	m->unit = string_intern(w->unit, strlen(w->unit));
	m->type = w->type;
	m->scope = w->scope;
	m->add = w->add;
	m->weight = w->weight;
}

struct set_what {
	const uint16_t *metrics;
	unsigned n;
};

static void set_fill(void *entry, const void *what)
{
	const struct set_what *w = what;
	struct set_entry *s = entry;

	s->n = (uint8_t)w->n;
	memcpy(s->metrics, w->metrics, w->n * sizeof(*s->metrics));
}

struct device_what {
	uint8_t source;
	int32_t index;
};

static void device_fill(void *entry, const void *what)
{
	const struct device_what *w = what;
	const char *type = backend_of(w->source)->device_type;
	struct device_entry *d = entry;
	uint32_t none = 0;

	d->source = w->source;
	d->index = w->index;
	/* The program knows devices of one type and number for the same. The backend may have said
	 * more of it already, in another thread. */
	atomic_compare_exchange_strong(&d->type, &none, string_intern(type, strlen(type)));
	atomic_fetch_add(&d->version, 1);
}

struct note_what {
	uint32_t text;
	uint8_t level;
};

static void note_fill(void *entry, const void *what)
{
	const struct note_what *w = what;
	struct note_entry *n = entry;

	n->text = w->text;
	n->level = w->level;
}

enum { SMALL_METRICS, SMALL_SETS, SMALL_DEVICES, SMALL_NOTES };
static const struct small_table small_tables[] = {
	[SMALL_METRICS] = SMALL_TABLE(metric, MAX_METRICS, 0),
	[SMALL_SETS] = SMALL_TABLE(set, MAX_SETS, N_SETS_SEEDED),
	[SMALL_DEVICES] = SMALL_TABLE(device, MAX_DEVICES, 0),
	[SMALL_NOTES] = SMALL_TABLE(note, MAX_NOTES, 0),
};

uint32_t metric_intern(const char *name, const char *unit, uint8_t type, uint8_t scope, uint8_t add)
{
	struct metric_what w = {string_intern(name, strlen(name)), unit, type, scope, add, 0};

	return small_intern_filled(&small_tables[SMALL_METRICS], w.name + UINT64_C(1), &w);
}

uint32_t set_intern_one(uint32_t metric)
{
	uint16_t id = (uint16_t)metric;
	struct set_what w = {&id, 1};

	return small_intern_filled(&small_tables[SMALL_SETS], metric + UINT64_C(1), &w);
}

uint32_t metric_intern_weighed(const char *name, const char *unit, uint8_t add, uint32_t weight)
{
	struct metric_what w = {string_intern(name, strlen(name)),
				unit,
				METRIC_F64,
				METRIC_INCLUSIVE,
				add,
				(uint16_t)(weight + 1)};

	return small_intern_filled(&small_tables[SMALL_METRICS], w.name + UINT64_C(1), &w);
}

/* The key of a set of one is below all these. */
uint32_t set_intern(const uint16_t *metrics, unsigned n)
{
	struct set_what w = {metrics, n};

	return small_intern_filled(&small_tables[SMALL_SETS], UINT64_C(1) << 32 | metrics[0], &w);
}

static uint32_t small_ready(const struct small_table *t, uint32_t id)
{
	return id != WIRE_NONE && atomic_load(small_state(t, id)) == ENTRY_READY ? id : WIRE_NONE;
}

uint32_t set_folded(void)
{
	const struct small_table *metrics = &small_tables[SMALL_METRICS],
				 *sets = &small_tables[SMALL_SETS];
	struct metric_what w = {string_intern(FOLD_METRIC, strlen(FOLD_METRIC)),
				"",
				METRIC_U64,
				METRIC_EXCLUSIVE,
				METRIC_MAX,
				0};
	uint32_t id = small_ready(metrics, small_intern(metrics, w.name + UINT64_C(1), &w));
	uint16_t metric = (uint16_t)id;
	struct set_what set = {&metric, 1};

	if (id == WIRE_NONE)
		return WIRE_NONE;
	return small_ready(sets, small_intern(sets, metric + UINT64_C(1), &set));
}

static uint64_t device_key(uint8_t source, int32_t index)
{
	return (uint64_t)(source + 1) << 32 | (uint32_t)index;
}

uint32_t device_intern(uint8_t source, int32_t index)
{
	struct device_what w = {source, index};
	uint32_t id = small_intern(&small_tables[SMALL_DEVICES], device_key(source, index), &w);

	return id == WIRE_NONE ? MAX_DEVICES - 1 : id;
}

void note_add(int level, const char *text)
{
	struct note_what w = {string_intern(text, strlen(text)), (uint8_t)level};

	small_intern(&small_tables[SMALL_NOTES], w.text + UINT64_C(1), &w);
}

/* ---- forgetting ---- */

static void slot_forget(struct collector *c, const struct slot_entry *e)
{
	const struct set_entry *set = &c->set[e->set];

	for (unsigned i = 0; i < set->n; i++) {
		uint8_t add = c->metric[set->metrics[i]].add;

		if (add != METRIC_GAUGE && add != METRIC_PEAK)
			atomic_store_explicit(&c->value[e->values + i], 0, memory_order_relaxed);
	}
	slot_seed(e);
}

void tables_forget_values(struct collector *c, bool now)
{
	uint32_t i, j, n = MIN(atomic_load(&c->n_values), (uint32_t)MAX_VALUES);

	for (i = 0; now && i < n; i++)
		atomic_store_explicit(&c->value[i], 0, memory_order_relaxed);
	for (i = 0; i < table_n(&c->slots); i++)
		if (atomic_load(&c->slot[i].state) == ENTRY_READY)
			slot_forget(c, &c->slot[i]);
	for (i = 0; i < table_n(&c->hists); i++)
		for (j = 0; j < HIST_WIDTH; j++)
			atomic_store_explicit(&c->hist[i].n[j], 0, memory_order_relaxed);
	for (i = 0; i < table_n(&c->configs); i++) {
		atomic_store_explicit(&c->config[i].count, 0, memory_order_relaxed);
		atomic_store_explicit(&c->config[i].time_ns, 0, memory_order_relaxed);
	}
}

/* Lanes may name a device that is not filled yet: it is now. Nothing names the others. Notes are the parent's, who
 * tells them. */
void tables_forget_claims(struct collector *c)
{
	for (size_t t = 0; t < ARRAY_SIZE(small_tables); t++) {
		const struct small_table *table = &small_tables[t];

		for (uint32_t i = 0; i < table->max; i++) {
			char *entry = (char *)c + table->at + i * table->size;
			_Atomic uint64_t *key = (_Atomic uint64_t *)(entry + table->key);
			uint64_t its = atomic_load(key);
			struct device_what w = {(uint8_t)((its >> 32) - 1), (int32_t)(uint32_t)its};

			if (!its ||
			    (t != SMALL_NOTES && atomic_load(small_state(table, i)) == ENTRY_READY))
				continue;
			if (t != SMALL_DEVICES) {
				atomic_store(small_state(table, i), ENTRY_EMPTY);
				atomic_store(key, 0);
				continue;
			}
			table->fill(entry, &w);
			atomic_store(small_state(table, i), ENTRY_READY);
		}
	}
}
