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
#include "collect/late_values.h"
#include "collect/scope_slots.h"
#include "collect/slots.h"
#include "intra/scope_sums.h"

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
};

static int on_warp(void *ctx, const struct warp_block *block, uint32_t warp,
		   struct warp_scope *scopes, size_t n)
{
	struct reading *r = ctx;
	uint32_t shift = r->kernel->shift;
	int error = shift ? warp_scopes_shift(scopes, n, shift) : 0;

	(void)block, (void)warp;
	return error ? error : scope_sums_add(&r->sums, scopes, n);
}

static int decode(const struct kernel *k, const struct cuda_copied *c, struct scope_sums *ret,
		  uint32_t *ret_n_blocks)
{
	struct reading reading = {.kernel = k};
	struct warp_layout layout = k->layout;
	struct warp_losses losses = {0};
	int r = scope_sums_init(&reading.sums);

	layout.n_blocks = *ret_n_blocks = (uint32_t)(c->size / layout.block_bytes);
	for (uint32_t i = 0; r == 0 && i < k->n_scopes; i++)
		r = scope_sums_place(&reading.sums, k->scopes[i].id, k->scopes[i].parent);
	if (r == 0)
		r = warp_records_decode(c->data, c->size, &layout, on_warp, &reading, &losses);
	lose(LOSS_WARP_RECORDS, losses.overwritten);
	lose(LOSS_WARP_UNMATCHED, losses.unmatched + losses.others);
	lose(LOSS_WARP_BLOCKS, losses.broken);
	*ret = reading.sums;
	return r;
}

static uint32_t frame_of(const void *ctx, uint32_t scope)
{
	const struct kernel *k = ctx;

	return k->frames[scope] ? k->frames[scope] : scope_frame_unnamed(scope);
}

/* Below the kernel; 0, or -ENOMEM. */
static int put_sums(const struct kernel *k, const struct cuda_copied *c,
		    const struct scope_sums *sums, uint32_t n_blocks)
{
	bool has_begun = late_values_begin();
	const struct scope_place at = {
		.node = c->tag.numbers[0],
		.lane = lane_of_no_stream(device_intern(SOURCE_CUPTI, c->device)),
		.epoch = epoch_told_late(c->tag.numbers[1], c->tag.numbers[2])};
	int r = scope_slots_put(&at, sums, (double)k->layout.n_warps * n_blocks, frame_of, k);

	late_values_end(has_begun);
	return r;
}

static void read_copy(const struct cuda_copied *c)
{
	struct kernel *k = c->tag.what;
	struct scope_sums sums;
	uint32_t n_blocks;
	int r;

	if (!c->data) {
		scopes_lose(1, "what they recorded did not reach the host");
	} else {
		r = decode(k, c, &sums, &n_blocks);
		if (r == 0)
			r = put_sums(k, c, &sums, n_blocks);
		scope_sums_done(&sums);
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
}

static bool is_due(void)
{
	return cuda_copies_pending() > 0;
}

/* ---- launches ---- */

void kernel_scopes_enter(void)
{
	static const struct flushed_beside ours = {flush, is_due};

	if (collect_on) {
		backends_flush_beside(&ours);
		backends_attribute();
		sender_start();
	}
}

/* What the kernel is in the calling context of the launch that was this thread's last. */
static struct cuda_copy_tag tag_of(struct kernel *k)
{
	struct thread_state *t = thread_state();
	uint32_t launch = t->context ? t->context : thread_context(t, NULL);
	const struct context_entry *e = &collector->context[launch];
	uint32_t node =
		node_intern(e->node, frame_intern(FRAME_KERNEL, e->name ? e->name : k->name));

	return (struct cuda_copy_tag){k, {node, e->epoch, epoch_use(e->epoch)}};
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
	cuda_copies_forked();
}
