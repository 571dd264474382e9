/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/kernel_slices.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cuda_arena.h"
#include "backends/pages.h"
#include "base/hash.h"
#include "base/idindex.h"
#include "base/util.h"
#include "collect/epochs.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/kept_warps.h"
#include "collect/late_values.h"
#include "collect/scope_slots.h"
#include "intra/record_cost.h"
#include "intra/scope_sums.h"
#include "intra/warp_events.h"
#include "intra/warp_slices.h"

enum {
	RUNS = 1 << 16,     /* launches that are remembered; a power of two */
	OPEN_MAX = 1 << 14, /* … whose slices wait for their records */
	SCOPES = 1 << WARP_SCOPE_BITS,
	THREADS_OF_WARP = 32,
	GIVEN_UP = OPEN_MAX / 4, /* of too many, at once */
	TURNS_MAX = 64,          /* flushes that slices wait for a record */
};

/* A launch, where its number says: the latest of those there. */
struct run {
	uint64_t launch;
	uint32_t context, epoch, use;
	uint32_t node, lane; /* the slot's, which may be another's by the time; WIRE_NONE: none */
	uint32_t n_block_warps;
	uint32_t n_reads; /* how often rings were read when its record came */
	uint64_t n_blocks;
	uint64_t start_ns, end_ns;
	double n_warps; /* that record */
};

struct open_launch {
	uint64_t launch;
	uint32_t context, n_turns;
	int32_t device;
	uint64_t n_slices;
	struct scope_sums sums;
	struct warp_events events;
	bool has_waited; /* for ends of events, which slices to come may have */
	struct kept_warps *kept;
	bool is_left_out;        /* nothing of it is kept */
	uint64_t n_warps, n_due; /* that are kept; of all, 0: not known */
};

static pthread_mutex_t runs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct run *runs;
static _Atomic uint32_t n_reads; /* of rings, that have begun */
static _Atomic(void *) names;    /* by scope: _Atomic uint32_t, a frame; 0: none */
/* Under the lock of who reads (backends/cuda_arena.h), as all that is below. */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_launch *open_launches; /* OPEN_MAX of them */
static size_t n_open;
static struct idindex open_index; /* of them, by launch */
static uint64_t n_unfinished;     /* rings that warps were writing into, at the last look */

/* ---- names ---- */

/* Who records: what the run wants, and nobody while it pauses. */
static void choose(void)
{
	cuda_arena_choose(&collector->control->wanted.scopes, !is_paused());
}

void kernel_slices_begin(void)
{
	if (collector->control->wanted.scopes.asked)
		cuda_arena_follow();
}

void kernel_slices_name(uint32_t scope, const char *name, size_t len)
{
	static const struct flushed_beside ours = {kernel_slices_flush, cuda_arena_is_used};
	_Atomic uint32_t *frames = pages_once_sparse(&names, SCOPES * sizeof(*frames));
	uint32_t frame, seen = 0;
	char text[256];

	backends_flush_beside(&ours);
	choose();
	if (!frames || scope >= SCOPES)
		return;
	frame = frame_intern(FRAME_INSTRUMENT, string_intern(name, len));
	if (atomic_compare_exchange_strong(&frames[scope], &seen, frame) || seen == frame)
		return;
	snprintf(
		text, sizeof(text),
		"two scopes within kernels cannot be told from one another, '%.64s' and '%.*s': call one of them "
		"otherwise",
		collector->string[collector->frame[seen].string].s, (int)MIN(len, 64), name);
	collect_note(NOTE_WARNING, text);
}

static uint32_t frame_of(const void *ctx, uint32_t scope)
{
	_Atomic uint32_t *frames = atomic_load(&names);
	uint32_t frame = frames ? atomic_load(&frames[scope]) : 0;

	(void)ctx;
	return frame ? frame : scope_frame_unnamed(scope);
}

/* ---- launches ---- */

/* Numbers are of a context each. */
static struct run *run_at(uint64_t launch, uint32_t context)
{
	return &runs[(launch + hash_u64(context)) & (RUNS - 1)];
}

/* How many of a number's multiples there are, of n: of blocks, say. */
static double part_of(double n, struct every_nth of)
{
	return of.modulus ? n / of.modulus : n;
}

static uint32_t n_block_warps(const struct launch_shape *shape)
{
	uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];

	return (uint32_t)((threads + THREADS_OF_WARP - 1) / THREADS_OF_WARP);
}

/* Warps of a launch, but those that were told not to record. */
static double n_recording(const struct launch_shape *shape)
{
	const struct scopes_wanted *wanted = &collector->control->wanted.scopes;
	uint64_t warps = n_block_warps(shape),
		 mask = warps < 32 ? (UINT64_C(1) << warps) - 1 : UINT32_MAX;
	double blocks = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];

	if (wanted->warps)
		warps = (uint64_t)__builtin_popcountll(mask & wanted->warps);
	return part_of(part_of(blocks, wanted->blocks), wanted->multiprocessors) * (double)warps;
}

void kernel_slices_ran(const struct activity *a, uint32_t slot)
{
	const struct launch_shape *shape = &a->config.shape;
	struct run run = {
		.launch = a->number,
		.context = a->context,
		.node = WIRE_NONE,
		.n_block_warps = n_block_warps(shape),
		.n_reads = atomic_load(&n_reads),
		.n_blocks = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2],
		.start_ns = a->start_ns,
		.end_ns = a->end_ns,
		.n_warps = n_recording(shape),
	};

	if (slot != WIRE_NONE) {
		const struct slot_entry *e = &collector->slot[slot];

		run.epoch = e->epoch;
		run.use = epoch_use(e->epoch);
		run.node = e->node;
		run.lane = e->lane;
		kept_warps_ran(e->node, a->device, a->start_ns);
	}
	pthread_mutex_lock(&runs_lock);
	if (!runs)
		runs = pages_reserve_sparse(RUNS * sizeof(*runs));
	if (runs) {
		struct run *at = run_at(a->number, a->context);

		/* Of several kernels of one number, as a graph has them, it is not known whose slices are whose. */
		if (at->launch == run.launch && at->context == run.context)
			run.start_ns = run.end_ns = 0;
		*at = run;
	}
	pthread_mutex_unlock(&runs_lock);
}

/* False: its record is not there, or it is too long ago. */
static bool find_run(const struct open_launch *o, struct run *ret)
{
	bool is = false;

	pthread_mutex_lock(&runs_lock);
	if (runs) {
		*ret = *run_at(o->launch, o->context);
		is = ret->launch == o->launch && ret->context == o->context && ret->n_warps > 0;
	}
	pthread_mutex_unlock(&runs_lock);
	return is;
}

/* ---- slices ---- */

static void open_launch_done(struct open_launch *o)
{
	lose(LOSS_WARP_UNMATCHED, warp_events_left(&o->events));
	warp_events_done(&o->events);
	scope_sums_done(&o->sums);
	kept_warps_free(o->kept);
}

/* Its record will not come, or there are too many. */
static void give_up(struct open_launch *o)
{
	scopes_lose(1, "their launches have no records");
	open_launch_done(o);
}

static uint64_t hash_launch(uint64_t launch, uint32_t context)
{
	return hash_u64(launch ^ hash_u64(context));
}

struct launch_key {
	uint64_t launch;
	uint32_t context;
};

static bool is_launch(const void *ctx, uint32_t id, const void *key)
{
	const struct launch_key *of = key;

	(void)ctx;
	return open_launches[id].launch == of->launch && open_launches[id].context == of->context;
}

static int index_launch(uint32_t i)
{
	const struct open_launch *o = &open_launches[i];

	return idindex_add(&open_index, hash_launch(o->launch, o->context), i);
}

/* The first n are those that are left. */
static void open_launches_left(size_t n)
{
	if (n == n_open)
		return;
	n_open = n;
	idindex_clear(&open_index);
	for (uint32_t i = 0; i < n; i++)
		(void)index_launch(i); /* it had more */
}

/* NULL: no memory. */
static struct open_launch *open_launch_new(const struct cuda_slices *s, uint64_t launch)
{
	struct open_launch *o = &open_launches[n_open];

	*o = (struct open_launch){.launch = launch, .context = s->context, .device = s->device};
	if (scope_sums_init(&o->sums) < 0)
		return NULL;
	if (index_launch((uint32_t)n_open) < 0) {
		scope_sums_done(&o->sums);
		return NULL;
	}
	n_open++;
	return o;
}

static void make_room(void);

/* NULL: no memory. */
static struct open_launch *open_launch(const struct cuda_slices *s, uint64_t launch)
{
	const struct launch_key key = {launch, s->context};
	uint32_t at =
		idindex_find(&open_index, hash_launch(launch, s->context), is_launch, NULL, &key);

	if (at != IDINDEX_NONE)
		return &open_launches[at];
	if (!open_launches)
		open_launches = pages_reserve_sparse(OPEN_MAX * sizeof(*open_launches));
	if (!open_launches)
		return NULL;
	if (n_open == OPEN_MAX)
		make_room();
	return open_launch_new(s, launch);
}

static struct kept_launch kept_launch(const struct open_launch *o, const struct run *run)
{
	return (struct kept_launch){
		.node = run->node,
		.device = o->device,
		.launch = o->launch,
		.start_ns = run->start_ns,
		.end_ns = run->end_ns,
		.n_blocks = run->n_blocks,
		.n_block_warps = run->n_block_warps,
		.epoch = run->epoch,
		.use = run->use,
	};
}

static void choose_launch(struct open_launch *o, const struct run *run)
{
	const struct kept_launch launch = kept_launch(o, run);

	kept_warps_choose(o->kept, &launch);
	o->kept = NULL;
}

/* False: it is not kept. */
static bool begin_keeping(struct open_launch *o)
{
	struct run run;
	struct kept_launch launch = {.end_ns = 0};

	if (o->is_left_out || !kept_warps_are_wanted())
		return false;
	if (find_run(o, &run))
		launch = kept_launch(o, &run);
	o->kept = kept_warps_begin(&launch, &o->is_left_out);
	o->n_warps = 0;
	return o->kept;
}

/* The record was there before rings were read: all of its slices are, too. */
static bool is_read(const struct run *run)
{
	return run->n_reads != atomic_load(&n_reads);
}

/* How many slices it has, of all warps. */
static uint64_t n_slices_due(const struct run *run)
{
	return run->n_blocks * run->n_block_warps;
}

/* A launch whose record is there is chosen as soon as all of its warps are: what is not kept need not wait in memory. */
static void choose_whole(struct open_launch *o)
{
	struct run run;

	if (o->n_warps == 1)
		o->n_due = find_run(o, &run) && is_read(&run) && run.node != WIRE_NONE
				   ? n_slices_due(&run)
				   : 0;
	if (o->n_warps == o->n_due && find_run(o, &run))
		choose_launch(o, &run);
}

static void keep_slice(struct open_launch *o, const struct warp_slice *slice,
		       const struct warp_contents *contents)
{
	const struct warp_trace_warp warp = {
		.warp = slice->warp,
		.multiprocessor = slice->multiprocessor,
		.block = slice->block,
		.entered_ns = slice->entered_ns,
		.left_ns = slice->left_ns,
		.entered_clock = slice->entered_clock,
		.left_clock = slice->left_clock,
		.n_lost = slice->written - slice->n_units,
	};

	if (!o->kept && !begin_keeping(o))
		return;
	kept_warps_add(o->kept, &warp, contents, frame_of, NULL);
	o->n_warps++;
	choose_whole(o);
}

/* What records cost, where it is to be taken out of times, and is known. */
static struct record_cost cost_of(uint32_t capability)
{
	struct record_cost cost = {0};
	char text[160];

	if (!collector->control->wanted.scopes.time_shift || record_cost_of(capability, &cost))
		return cost;
	snprintf(
		text, sizeof(text),
		"what records within kernels cost is not known of devices of compute capability %" PRIu32
		".%" PRIu32 ": their times are as they were recorded",
		capability / 10, capability % 10);
	collect_note(NOTE_WARNING, text);
	return cost;
}

/* How many records would have kept all, each time that it is more. */
static void tell_records(uint32_t written)
{
	static uint32_t told;
	uint32_t records = 1;
	char text[192];

	while (records < written && records < UINT32_MAX / 2)
		records *= 2;
	if (records <= told)
		return;
	told = records;
	snprintf(text, sizeof(text),
		 "warps wrote up to %" PRIu32
		 " records within a kernel: PROTON_KERNEL_RECORDS=%" PRIu32
		 " would have kept them, PROTON_KERNEL_ACCUMULATE added them up",
		 written, records);
	collect_note(NOTE_WARNING, text);
}

/* A look at a ring. */
struct reading {
	const struct cuda_slices *of;
	struct warp_ring ring;
	struct record_cost cost; /* 0: it stays in times */
	struct warp_losses losses;
};

static int add_warp(struct open_launch *o, const struct warp_slice *slice,
		    const struct warp_contents *warp)
{
	int r = scope_sums_add_warp(&o->sums, warp);

	return r < 0 ? r : warp_events_add(&o->events, slice, warp);
}

static int add_slice(struct reading *reading, uint64_t at, const struct warp_slice *slice)
{
	struct open_launch *o = open_launch(reading->of, slice->launch);
	struct warp_contents warp;
	int r = 0;

	if (!o || warp_slice_decode(&reading->ring, at, slice, &warp, &reading->losses) < 0)
		return -ENOMEM;
	o->n_slices++;
	if (slice->written > slice->n_units && !(slice->how & WARP_SLICE_SUMS))
		tell_records(slice->written);
	if (reading->cost.record)
		r = record_cost_take(&reading->cost, &warp);
	if (r == 0)
		r = add_warp(o, slice, &warp);
	keep_slice(o, slice, &warp);
	warp_contents_done(&warp);
	return r;
}

static void lose_all(const struct warp_losses *losses, const struct cuda_slices *s)
{
	lose(LOSS_WARP_RECORDS, losses->overwritten);
	lose(LOSS_WARP_UNMATCHED, losses->unmatched + losses->others);
	lose(LOSS_WARP_WRAPS, losses->wraps);
	lose(LOSS_WARP_ROWS, losses->rowless);
	lose(LOSS_WARPS, s->n_dropped);
	lose(LOSS_WARPS_BEYOND, s->n_beyond);
}

static uint64_t take(void *ctx, const struct cuda_slices *s)
{
	struct reading reading = {
		.of = s, .ring = {s->ring, s->ring_size}, .cost = cost_of(s->capability)};
	struct warp_slice slice;
	uint64_t at = s->at;

	(void)ctx;
	/* A kernel that writes where it should not may have made it longer than what was read. */
	while (at < s->end && warp_slice_read(&reading.ring, at, &slice) &&
	       slice.bytes <= s->end - at) {
		if (add_slice(&reading, at, &slice) < 0)
			lose(LOSS_NO_MEMORY, 1);
		at += slice.bytes;
	}
	n_unfinished += at < s->end;
	lose_all(&reading.losses, s);
	return at;
}

static void put(struct open_launch *o, const struct run *run)
{
	bool has_begun = late_values_begin();
	const struct scope_place at = {run->node, run->lane, epoch_told_late(run->epoch, run->use)};

	if (scope_slots_put(&at, &o->sums, run->n_warps, frame_of, NULL) < 0)
		lose(LOSS_NO_MEMORY, 1);
	late_values_end(has_begun);
	choose_launch(o, run);
}

/* Ends of events are of warps whose slices may come with the next look, once. */
static bool is_complete(struct open_launch *o, enum flush how)
{
	int r = warp_events_join(&o->events, &o->sums);

	if (r < 0)
		lose(LOSS_NO_MEMORY, 1);
	if (r <= 0 || how == FLUSH_LAST || o->has_waited)
		return true;
	o->has_waited = true;
	return false;
}

/* False: it waits on. */
static bool settle(struct open_launch *o, enum flush how)
{
	struct run run;

	if (find_run(o, &run)) {
		if ((!is_read(&run) && how != FLUSH_LAST) || !is_complete(o, how))
			return false;
		if (run.node != WIRE_NONE)
			put(o, &run);
		open_launch_done(o);
		return true;
	}
	if (how != FLUSH_LAST && o->n_turns++ < TURNS_MAX)
		return false;
	give_up(o);
	return true;
}

/* In the order of their first slices, which is about that of launches. */
static void put_known(enum flush how)
{
	size_t n = 0;

	for (size_t i = 0; i < n_open; i++)
		if (!settle(&open_launches[i], how))
			open_launches[n++] = open_launches[i];
	open_launches_left(n);
}

static bool is_whole(const struct open_launch *o)
{
	struct run run;

	return find_run(o, &run) && o->n_slices >= n_slices_due(&run);
}

/* Within one look there are more of them: those go that are whole, or the oldest ones. */
static void make_room(void)
{
	size_t n = 0;

	for (size_t i = 0; i < n_open; i++)
		if (!is_whole(&open_launches[i]) || !settle(&open_launches[i], FLUSH_LAST))
			open_launches[n++] = open_launches[i];
	for (; n == OPEN_MAX; n -= GIVEN_UP) {
		for (size_t i = 0; i < GIVEN_UP; i++)
			give_up(&open_launches[i]);
		memmove(open_launches, &open_launches[GIVEN_UP],
			(OPEN_MAX - GIVEN_UP) * sizeof(*open_launches));
	}
	open_launches_left(n);
}

void kernel_slices_flush(enum flush how)
{
	if (!cuda_arena_is_used())
		return;
	pthread_mutex_lock(&open_lock);
	n_unfinished = 0;
	atomic_fetch_add(&n_reads, 1);
	collect_hide(true);
	choose();
	cuda_arena_read(take, NULL);
	collect_hide(false);
	if (how == FLUSH_LAST && n_unfinished)
		scopes_lose(n_unfinished, "they were not over at its end");
	put_known(how);
	pthread_mutex_unlock(&open_lock);
	kept_warps_write();
}

void kernel_slices_forked(void)
{
	pthread_mutex_init(&runs_lock, NULL);
	pthread_mutex_init(&open_lock, NULL);
	runs = NULL;
	atomic_store(&names, NULL);
	n_open = 0;
	open_index = (struct idindex){0};
	cuda_arena_forked();
}
