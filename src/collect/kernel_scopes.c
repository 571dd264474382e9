/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/kernel_scopes.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cuda_copies.h"
#include "backends/ptrmap.h"
#include "base/util.h"
#include "collect/epochs.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/kept_warps.h"
#include "collect/launch_records.h"
#include "collect/late_values.h"
#include "collect/scope_slots.h"
#include "collect/slots.h"
#include "collect/traced_warps.h"
#include "collect/waiting_warps.h"
#include "intra/scope_sums.h"
#include "intra/warp_events.h"

struct kernel {
	_Atomic uint32_t n_users; /* the table, and copies that were not read */
	uint32_t name;            /* string */
	uint32_t shift;
	struct warp_layout layout;    /* but for how many blocks */
	uint32_t frames[WARP_SCOPES]; /* 0: of an id that was not told */
	uint32_t n_scopes;
	struct {
		uint32_t id;
		int32_t parent;
	} scopes[WARP_SCOPES];
	uint32_t recording[WARP_MOST];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table */
static struct ptrmap kernels;

/* ---- kernels ---- */

static void kernel_leave(struct kernel *k)
{
	if (k && atomic_fetch_sub(&k->n_users, 1) == 1)
		free(k);
}

/* The caller is a user of it; NULL: it is not known. */
static struct kernel *kernel_of(uint64_t function)
{
	struct kernel *k = NULL;
	uint64_t value;

	pthread_mutex_lock(&lock);
	if (ptrmap_get(&kernels, (void *)(uintptr_t)function, &value)) {
		k = (struct kernel *)(uintptr_t)value;
		atomic_fetch_add(&k->n_users, 1);
	}
	pthread_mutex_unlock(&lock);
	return k;
}

/* In all the ways that decoding one depends on. */
static bool is_kernel(const struct scoped_kernel *from)
{
	struct scope_sums sums;
	bool is = from->n_scopes <= WARP_SCOPES && from->n_recording &&
		  from->n_recording <= WARP_MOST && scope_sums_init(&sums) == 0;

	if (!is)
		return false;
	for (uint32_t i = 0; i < from->n_scopes; i++)
		is = is && scope_sums_place(&sums, from->scopes[i].id, from->scopes[i].parent) == 0;
	scope_sums_done(&sums);
	return is;
}

static struct kernel *kernel_new(const struct scoped_kernel *from)
{
	struct kernel *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->n_users = 1;
	k->name = string_intern(from->name, strlen(from->name));
	k->shift = from->shift;
	k->n_scopes = from->n_scopes;
	memcpy(k->recording, from->recording, from->n_recording * sizeof(*k->recording));
	k->layout = (struct warp_layout){.n_warps = from->n_warps,
					 .block_bytes = from->block_bytes,
					 .recording = k->recording,
					 .n_recording = from->n_recording};
	for (uint32_t i = 0; i < from->n_scopes; i++) {
		const struct kernel_scope *scope = &from->scopes[i];

		k->scopes[i].id = scope->id;
		k->scopes[i].parent = scope->parent;
		k->frames[scope->id] = scope_frame(scope->name);
	}
	return k;
}

int proton_kernel_scopes(uint64_t function, const struct scoped_kernel *from)
{
	void *key = (void *)(uintptr_t)function;
	struct kernel *k = NULL;
	uint64_t before;
	bool had, has = true;

	if (!collect_on)
		return 0;
	if (from && !is_kernel(from))
		return -EINVAL;
	if (from && !(k = kernel_new(from)))
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	had = ptrmap_take(&kernels, key, &before);
	if (k)
		has = ptrmap_add(&kernels, key, (uintptr_t)k);
	pthread_mutex_unlock(&lock);
	kernel_leave(had ? (struct kernel *)(uintptr_t)before : NULL);
	if (!has)
		kernel_leave(k);
	return has ? 0 : -ENOMEM;
}

/* ---- reading ---- */

struct reading {
	const struct kernel *kernel;
	struct scope_sums sums;
	struct warp_events events;
	struct kept_warps *kept;
	struct warp_launch *traced;
};

static uint32_t frame_of(const void *ctx, uint32_t scope)
{
	const struct kernel *k = ctx;

	return k->frames[scope] ? k->frames[scope] : scope_frame_unnamed(scope);
}

/* Events may end in another warp. */
static int add_up(struct reading *r, const struct warp_block *block,
		  const struct warp_contents *contents)
{
	const struct warp_slice at = {.block = block->block,
				      .multiprocessor = block->multiprocessor};
	int error = scope_sums_add_warp(&r->sums, contents);

	return error ? error : warp_events_add(&r->events, &at, contents);
}

static int on_warp(void *ctx, const struct warp_block *block, uint32_t warp,
		   struct warp_contents *contents)
{
	struct reading *r = ctx;
	uint32_t shift = r->kernel->shift;
	int error = shift ? warp_contents_shift(contents, shift) : 0;

	const struct warp_trace_warp kept = {
		.warp = warp,
		.multiprocessor = block->multiprocessor,
		.block = block->block,
		.entered_ns = block->entered_ns,
		.left_ns = block->left_ns,
		.copied_ns = block->copied_ns,
	};

	if (error == 0)
		kept_warps_add(r->kept, &kept, contents, frame_of, r->kernel);
	if (error == 0 && r->traced)
		error = warp_launch_add(r->traced, &kept, contents, frame_of, r->kernel);
	return error ? error : add_up(r, block, contents);
}

static uint32_t epoch_of(const struct cuda_copied *c)
{
	return epoch_told_late(c->tag.numbers[1], c->tag.numbers[2]);
}

static uint32_t n_blocks(const struct kernel *k, const struct cuda_copied *c)
{
	return (uint32_t)(c->size / k->layout.block_bytes);
}

static int decode(const struct kernel *k, const struct cuda_copied *c, struct reading *ret)
{
	struct warp_layout layout = k->layout;
	struct warp_losses losses = {0};
	int r = scope_sums_init(&ret->sums);

	layout.n_blocks = n_blocks(k, c);
	layout.clock_khz = collector->device[device_intern(SOURCE_CUPTI, c->device)].clock_khz;
	for (uint32_t i = 0; r == 0 && i < k->n_scopes; i++)
		r = scope_sums_place(&ret->sums, k->scopes[i].id, k->scopes[i].parent);
	if (r == 0)
		r = warp_records_decode(c->data, c->size, &layout, on_warp, ret, &losses);
	if (r == 0)
		r = MIN(warp_events_join(&ret->events, &ret->sums), 0);
	lose(LOSS_WARP_RECORDS, losses.overwritten);
	lose(LOSS_WARP_UNMATCHED,
	     losses.unmatched + losses.others + warp_events_left(&ret->events));
	lose(LOSS_WARP_BLOCKS, losses.broken);
	lose(LOSS_WARP_WRAPS, losses.wraps);
	return r;
}

/* Below the kernel, and in the traces of its sessions; 0, or -ENOMEM. */
static int put(const struct kernel *k, const struct cuda_copied *c, const struct scope_sums *sums,
	       const struct buf *trace)
{
	bool has_begun = late_values_begin();
	const struct scope_place at = {
		.node = c->tag.numbers[0],
		.lane = lane_of_no_stream(device_intern(SOURCE_CUPTI, c->device)),
		.epoch = epoch_of(c)};
	int r = scope_slots_put(&at, sums, (double)k->layout.n_warps * n_blocks(k, c), frame_of, k);

	traced_warps_write(at.epoch, trace);
	late_values_end(has_begun);
	return r;
}

static int read_data(const struct kernel *k, const struct cuda_copied *c)
{
	const struct kept_launch launch = {.node = c->tag.numbers[0],
					   .symbol = k->name,
					   .device = c->device,
					   .n_blocks = n_blocks(k, c),
					   .n_block_warps = k->layout.n_warps,
					   .epoch = c->tag.numbers[1],
					   .use = c->tag.numbers[2]};
	struct reading reading = {
		.kernel = k, .kept = kept_warps_new(), .traced = traced_warps_new(epoch_of(c))};
	struct buf trace;
	int r = decode(k, c, &reading);

	buf_init(&trace, 0);
	if (r == 0) {
		traced_warps_encode(reading.traced, epoch_of(c), &launch, &trace);
		r = put(k, c, &reading.sums, &trace);
	}
	if (r == 0) {
		waiting_warps_add(reading.kept, &launch, c->tag.numbers[3]);
		reading.kept = NULL;
	}
	buf_done(&trace);
	warp_events_done(&reading.events);
	scope_sums_done(&reading.sums);
	kept_warps_free(reading.kept);
	traced_warps_free(reading.traced);
	return r;
}

static void read_copy(const struct cuda_copied *c)
{
	struct kernel *k = c->tag.what;
	int r;

	if (!c->data) {
		scopes_lose(1, "what they recorded did not reach the host");
	} else {
		r = read_data(k, c);
		if (r == -ENOMEM)
			lose(LOSS_NO_MEMORY, 1);
		if (r < 0)
			scopes_lose(1, r == -ENOMEM
					       ? "there is no memory to read them"
					       : "their buffers are not as they were compiled");
	}
	kernel_leave(k);
}

int proton_kernel_scopes_read(uint32_t wait_ms)
{
	return cuda_copies_take(read_copy, wait_ms);
}

static void flush(enum flush how)
{
	static const uint32_t wait_ms[] = {[FLUSH_COMPLETE] = 0,
					   [FLUSH_MEASURED] = 100,
					   [FLUSH_ALL] = 300,
					   [FLUSH_LAST] = 300};
	size_t n;

	cuda_copies_take(read_copy, wait_ms[how]);
	n = how == FLUSH_LAST ? cuda_copies_pending() : 0;
	if (n)
		scopes_lose(n, "they were not over at its end");
	waiting_warps_flush(how);
	kept_warps_write();
}

static bool is_due(void)
{
	return cuda_copies_pending() > 0 || waiting_warps_are_there();
}

/* ---- launches ---- */

void kernel_scopes_enter(void)
{
	static const struct flushed_beside ours = {flush, is_due};

	if (!collect_on)
		return;
	backends_flush_beside(&ours);
	backends_attribute();
	sender_start();
	if (kept_warps_are_wanted()) {
		launch_records_want();
		thread_state()->launched = backends_launched();
	}
}

/* The launch that came after enter(), as its record will have it; 0: it is not known. */
static uint32_t correlation_of(const struct thread_state *t)
{
	uint32_t launched = kept_warps_are_wanted() ? backends_launched() : 0;

	return launched != t->launched ? launched : 0;
}

/* What the kernel is in the calling context of the launch that was this thread's last. */
static struct cuda_copy_tag tag_of(struct kernel *k)
{
	struct thread_state *t = thread_state();
	uint32_t launch = t->context ? t->context : thread_context(t, NULL);
	const struct context_entry *e = &collector->context[launch];
	uint32_t node =
		node_intern(e->node, frame_intern(FRAME_KERNEL, e->name ? e->name : k->name));

	return (struct cuda_copy_tag){k, {node, e->epoch, epoch_use(e->epoch), correlation_of(t)}};
}

/* Hidden as launch metadata are. */
static int copy(const struct scoped_launch *l, const struct cuda_copy_tag *tag, size_t size,
		const char **ret_why)
{
	int r;

	collect_hide(true);
	r = cuda_copy_begin((void *)(uintptr_t)l->stream, l->buffer, size, tag, ret_why);
	collect_hide(false);
	return r;
}

void kernel_scopes_leave(const struct scoped_launch *l, bool (*make_room)(void *ctx), void *ctx)
{
	const char *why = "their functions are not known";
	struct cuda_copy_tag tag;
	struct kernel *k;
	size_t size;
	int r = -EINVAL;

	if (!collect_on || !l->buffer || !l->size || is_paused())
		return;
	k = kernel_of(l->function);
	if (k && !k->layout.block_bytes) { /* the buffer is that of a launch before */
		kernel_leave(k);
		return;
	}
	size = k ? l->size - l->size % k->layout.block_bytes : 0;
	if (size) {
		tag = tag_of(k);
		while ((r = copy(l, &tag, size, &why)) == -EAGAIN && make_room(ctx))
			;
	} else if (k) {
		why = "their buffers are smaller than a thread block's";
	}
	if (r == -EAGAIN)
		why = "earlier ones were not over in time";
	if (r < 0) {
		scopes_lose(1, why);
		kernel_leave(k);
	}
}

void kernel_scopes_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	ptrmap_clear(&kernels);
	waiting_warps_forked();
	launch_records_forked();
	cuda_copies_forked();
}
