/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/kernel_slices.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cuda_arena.h"
#include "backends/pages.h"
#include "base/hash.h"
#include "base/util.h"
#include "collect/epochs.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/late_values.h"
#include "collect/scope_slots.h"
#include "intra/scope_sums.h"
#include "intra/warp_slices.h"

enum {
	RUNS = 1 << 16,     /* launches that are remembered; a power of two */
	OPEN_MAX = 1 << 14, /* … whose slices wait for their records */
	SCOPES = 1 << WARP_SCOPE_BITS,
	THREADS_OF_WARP = 32,
	TURNS_MAX = 64, /* flushes that slices wait for a record */
};

/* A launch, where its number says: the latest of those there. */
struct run {
	uint64_t launch;
	uint32_t context, epoch, use;
	uint32_t node, lane; /* the slot's, which may be another's by the time */
	double n_warps;
};

struct open_launch {
	uint64_t launch;
	uint32_t context, n_turns;
	struct scope_sums sums;
};

static pthread_mutex_t runs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct run *runs;
static _Atomic(void *) names; /* by scope: _Atomic uint32_t, a frame; 0: none */
/* Under the lock of who reads (backends/cuda_arena.h), as all that is below. */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct open_launch *open_launches; /* OPEN_MAX of them */
static size_t n_open;
static uint64_t n_unfinished; /* rings that warps were writing into, at the last look */

/* ---- names ---- */

void kernel_slices_name(uint32_t scope, const char *name, size_t len)
{
	static const struct flushed_beside ours = {kernel_slices_flush, cuda_arena_is_used};
	_Atomic uint32_t *frames = pages_once_sparse(&names, SCOPES * sizeof(*frames));
	uint32_t frame, seen = 0;
	char text[256];

	backends_flush_beside(&ours);
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

void kernel_slices_ran(const struct activity *a, uint32_t slot)
{
	const struct launch_shape *shape = &a->config.shape;
	uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
	const struct slot_entry *e = &collector->slot[slot];
	const struct run run = {
		.launch = a->number,
		.context = a->context,
		.epoch = e->epoch,
		.use = epoch_use(e->epoch),
		.node = e->node,
		.lane = e->lane,
		.n_warps = (double)shape->grid[0] * shape->grid[1] * shape->grid[2] *
			   (double)((threads + THREADS_OF_WARP - 1) / THREADS_OF_WARP),
	};

	pthread_mutex_lock(&runs_lock);
	if (!runs)
		runs = pages_reserve_sparse(RUNS * sizeof(*runs));
	if (runs)
		*run_at(a->number, a->context) = run;
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

static void close_launch(struct open_launch *o)
{
	scope_sums_done(&o->sums);
	*o = open_launches[--n_open];
}

/* Its record will not come, or there are too many. */
static void give_up(struct open_launch *o)
{
	scopes_lose(1, "their launches have no records");
	close_launch(o);
}

/* NULL: no memory. */
static struct open_launch *open_launch(uint32_t context, uint64_t launch)
{
	struct open_launch *o;

	if (!open_launches)
		open_launches = pages_reserve_sparse(OPEN_MAX * sizeof(*open_launches));
	if (!open_launches)
		return NULL;
	for (size_t i = n_open; i-- > 0;)
		if (open_launches[i].launch == launch && open_launches[i].context == context)
			return &open_launches[i];
	if (n_open == OPEN_MAX)
		give_up(&open_launches[0]);
	o = &open_launches[n_open];
	*o = (struct open_launch){.launch = launch, .context = context};
	if (scope_sums_init(&o->sums) < 0)
		return NULL;
	n_open++;
	return o;
}

static int add_slice(const struct warp_ring *ring, uint64_t at, const struct warp_slice *slice,
		     uint32_t context, struct warp_losses *losses)
{
	struct open_launch *o = open_launch(context, slice->launch);
	struct warp_scope *scopes;
	size_t n;
	int r;

	if (!o || warp_slice_scopes(ring, at, slice, &scopes, &n, losses) < 0)
		return -ENOMEM;
	r = scope_sums_add(&o->sums, scopes, n);
	free(scopes);
	return r;
}

static uint64_t take(void *ctx, const struct cuda_slices *s)
{
	const struct warp_ring ring = {s->ring, s->ring_size};
	struct warp_losses losses = {0};
	struct warp_slice slice;
	uint64_t at = s->at;

	(void)ctx;
	while (at < s->end && warp_slice_read(&ring, at, &slice)) {
		if (add_slice(&ring, at, &slice, s->context, &losses) < 0)
			lose(LOSS_NO_MEMORY, 1);
		at += slice.bytes;
	}
	n_unfinished += at < s->end;
	lose(LOSS_WARP_RECORDS, losses.overwritten);
	lose(LOSS_WARP_UNMATCHED, losses.unmatched + losses.others);
	lose(LOSS_WARPS, s->n_dropped);
	return at;
}

static void put(const struct open_launch *o, const struct run *run)
{
	bool has_begun = late_values_begin();
	const struct scope_place at = {run->node, run->lane, epoch_told_late(run->epoch, run->use)};

	if (scope_slots_put(&at, &o->sums, run->n_warps, frame_of, NULL) < 0)
		lose(LOSS_NO_MEMORY, 1);
	late_values_end(has_begun);
}

static void put_known(enum flush how)
{
	struct run run;

	for (size_t i = n_open; i-- > 0;) {
		struct open_launch *o = &open_launches[i];

		if (find_run(o, &run)) {
			put(o, &run);
			close_launch(o);
		} else if (how == FLUSH_LAST || o->n_turns++ == TURNS_MAX) {
			give_up(o);
		}
	}
}

void kernel_slices_flush(enum flush how)
{
	if (!cuda_arena_is_used())
		return;
	pthread_mutex_lock(&open_lock);
	n_unfinished = 0;
	collect_hide(true);
	cuda_arena_read(take, NULL);
	collect_hide(false);
	if (how == FLUSH_LAST && n_unfinished)
		scopes_lose(n_unfinished, "they were not over at its end");
	put_known(how);
	pthread_mutex_unlock(&open_lock);
}

void kernel_slices_forked(void)
{
	pthread_mutex_init(&runs_lock, NULL);
	pthread_mutex_init(&open_lock, NULL);
	runs = NULL;
	atomic_store(&names, NULL);
	n_open = 0;
	cuda_arena_forked();
}
