/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/kept_warps.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "collect/epoch_file.h"
#include "collect/epochs.h"
#include "collect/internal.h"
#include "collect/late_values.h"
#include "collect/warp_launch.h"
#include "collect/whole_file.h"
#include "intra/launch_choice.h"
#include "intra/warp_file.h"
#include "wire/wire.h"

enum {
	LAUNCH_SHARE = 4, /* what one launch may take of it */
	LOST_FILE = 0,    /* number of the file that says how many are not kept */
};

struct kept_warps {
	struct warp_launch of;
	uint64_t held; /* of held_bytes */
};

/* One that is chosen and not written yet. */
struct queued {
	uint64_t number;
	struct kept_warps *warps;
};

struct queue {
	struct queued *items;
	size_t n, cap;
	uint64_t *gone; /* numbers of files */
	size_t n_gone, cap_gone;
	uint64_t n_lost; /* launches that are in no file, of all by now */
};

/* Bytes of warps of launches that are not chosen yet. */
static _Atomic uint64_t held_bytes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the next ones */
static struct launch_choice choice;
static struct queue queue;
static uint64_t n_numbers = LOST_FILE;
/* One thread writes at a time. */
static pthread_mutex_t write_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t n_unwritten, n_lost_written;

static const struct warps_wanted *wanted(void)
{
	static const struct warps_wanted none;

	return collector && collector->control ? &collector->control->wanted.warps : &none;
}

bool kept_warps_are_wanted(void)
{
	return wanted()->launches && *collector->dir;
}

/* ---- warps of a launch ---- */

struct kept_warps *kept_warps_new(void)
{
	struct kept_warps *k = kept_warps_are_wanted() ? calloc(1, sizeof(*k)) : NULL;

	if (k && warp_launch_init(&k->of, wanted()->bytes) < 0) {
		free(k);
		k = NULL;
	}
	return k;
}

struct kept_warps *kept_warps_free(struct kept_warps *k)
{
	if (!k)
		return NULL;
	atomic_fetch_sub(&held_bytes, k->held);
	warp_launch_done(&k->of);
	free(k);
	return NULL;
}

/* Launches share what may be held: none has more than a part of what others leave, so that each has some of it. */
static uint64_t share(const struct kept_warps *k)
{
	uint64_t others = atomic_load(&held_bytes) - k->held;

	return others < wanted()->bytes ? (wanted()->bytes - others) / LAUNCH_SHARE : 0;
}

/* Unless there is no memory. */
void kept_warps_add(struct kept_warps *k, const struct warp_trace_warp *warp,
		    const struct warp_contents *contents, scope_frame_fn *frame, const void *ctx)
{
	if (!k || block_choice_leaves_out(&k->of.sample, warp->block))
		return;
	k->of.sample.bytes_most = share(k);
	(void)warp_launch_add(&k->of, warp, contents, frame, ctx);
	atomic_fetch_add(&held_bytes, k->of.sample.bytes - k->held);
	k->held = k->of.sample.bytes;
}

/* ---- the choice ---- */

/* When it ran: as its warps have it, where there is no record. */
static void time_launch(const struct warp_trace *t, struct choice_launch *ret)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (size_t i = 0; i < t->n_warps && !t->launches->end_ns; i++) {
		from = MIN(from, t->warps[i].entered_ns);
		to = MAX(to, t->warps[i].left_ns);
	}
	ret->began_ns = t->launches->end_ns ? t->launches->start_ns : from;
	to = t->launches->end_ns ? t->launches->end_ns : to;
	ret->took_ns = to > ret->began_ns ? to - ret->began_ns : 0;
}

/* One that is not kept any more: it is in the queue, or in a file. */
static void let_go(void *ctx, uint64_t number)
{
	(void)ctx;
	queue.n_lost++;
	for (size_t i = 0; i < queue.n; i++)
		if (queue.items[i].number == number) {
			kept_warps_free(queue.items[i].warps);
			queue.items[i] = queue.items[--queue.n];
			return;
		}
	if (ARRAY_ROOM(queue.gone, queue.cap_gone, queue.n_gone + 1) == 0)
		queue.gone[queue.n_gone++] = number;
}

static uint64_t kernel_key(uint32_t node, int32_t device)
{
	return (uint64_t)(uint32_t)device << 32 |
	       collector->frame[collector->node[node].frame].string;
}

/* Under the lock. */
static struct launch_choice *choice_now(void)
{
	choice.most = wanted()->launches;
	choice.bytes_most = wanted()->bytes;
	choice.gone = let_go;
	return &choice;
}

void kept_warps_ran(uint32_t node, int32_t device, uint64_t began_ns)
{
	if (!kept_warps_are_wanted())
		return;
	pthread_mutex_lock(&lock);
	launch_choice_ran(choice_now(), kernel_key(node, device), began_ns);
	pthread_mutex_unlock(&lock);
}

static bool may_keep(const struct kept_launch *l)
{
	bool may;

	if (!l->end_ns)
		return true;
	pthread_mutex_lock(&lock);
	may = launch_choice_may_keep(choice_now(), kernel_key(l->node, l->device), l->start_ns,
				     l->end_ns - l->start_ns);
	queue.n_lost += !may;
	pthread_mutex_unlock(&lock);
	return may;
}

struct kept_warps *kept_warps_begin(const struct kept_launch *launch, bool *ret_is_over)
{
	*ret_is_over = kept_warps_are_wanted() && !may_keep(launch);
	return *ret_is_over ? NULL : kept_warps_new();
}

/* Sessions that are active find what is kept of theirs by it. */
static void tell_sessions(const struct kept_launch *l, uint64_t number)
{
	bool has_begun = late_values_begin();
	uint32_t epoch = epoch_told_late(l->epoch, l->use);

	if (epoch) {
		atomic_store(&collector->epochs[epoch].kept, true);
		pthread_mutex_lock(&write_lock);
		if (epoch_file_append(epoch, EPOCH_FILE_KEPT, &number, sizeof(number)) < 0)
			lose(LOSS_WARP_FILES, 1);
		pthread_mutex_unlock(&write_lock);
	}
	late_values_end(has_begun);
}

/* Under the lock. 0, or -ENOMEM: k is nobody's. */
static int choose(struct kept_warps *k, const struct kept_launch *l, uint64_t *ret_number)
{
	struct choice_launch launch = {.id = n_numbers + 1, .bytes = k->of.sample.bytes};

	time_launch(&k->of.sample.trace, &launch);
	if (ARRAY_ROOM(queue.items, queue.cap, queue.n + 1) < 0)
		return -ENOMEM;
	atomic_fetch_sub(&held_bytes, k->held);
	k->held = 0;
	queue.items[queue.n++] = (struct queued){launch.id, k};
	if (launch_choice_add(choice_now(), kernel_key(l->node, l->device), &launch) < 0) {
		queue.n--;
		return -ENOMEM;
	}
	*ret_number = ++n_numbers;
	return 0;
}

void kept_warps_choose(struct kept_warps *k, const struct kept_launch *launch)
{
	uint64_t number = 0;
	int r;

	if (!k)
		return;
	r = k->of.sample.trace.n_warps ? warp_launch_describe(&k->of, launch) : -ENOMEM;
	pthread_mutex_lock(&lock);
	if (r == 0)
		r = choose(k, launch, &number);
	queue.n_lost += r < 0;
	pthread_mutex_unlock(&lock);
	if (r < 0)
		kept_warps_free(k);
	else
		tell_sessions(launch, number);
}

/* ---- files ---- */

static void file_name(uint64_t number, char name[WHOLE_FILE_NAME_MAX])
{
	snprintf(name, WHOLE_FILE_NAME_MAX, WIRE_LAUNCH_FILE, collector->instance, number);
}

static int put(void *ctx, const void *bytes, size_t n)
{
	struct buf *b = ctx;

	buf_put(b, bytes, n);
	return b->error;
}

/* A launch, or how many are lost where `t` is NULL, as a file of its own. */
static int write_file(uint64_t number, const struct warp_trace *t, uint64_t n_lost)
{
	char name[WHOLE_FILE_NAME_MAX];
	struct warp_writer w = {.put = put};
	struct buf file;
	int r;

	buf_init(&file, 0);
	w.ctx = &file;
	file_name(number, name);
	r = warp_writer_begin(&w);
	if (r == 0)
		r = t ? warp_writer_launch(&w, t, 0) : warp_writer_lost(&w, n_lost);
	warp_writer_done(&w);
	if (r == 0)
		r = whole_file_write(name, file.data, file.len);
	buf_done(&file);
	return r;
}

static void tell_unwritten(int error)
{
	char text[256];

	n_unwritten++;
	lose(LOSS_WARP_FILES, 1);
	snprintf(text, sizeof(text), "scopes of single warps are not kept of all launches: %s",
		 strerror(-error));
	collect_note(NOTE_WARNING, text);
}

static void write_queue(struct queue *q)
{
	char name[WHOLE_FILE_NAME_MAX];
	uint64_t n_lost;
	int r;

	for (size_t i = 0; i < q->n; i++) {
		r = write_file(q->items[i].number, &q->items[i].warps->of.sample.trace, 0);
		if (r < 0)
			tell_unwritten(r);
		kept_warps_free(q->items[i].warps);
	}
	for (size_t i = 0; i < q->n_gone; i++) {
		file_name(q->gone[i], name);
		whole_file_remove(name);
	}
	n_lost = q->n_lost + n_unwritten;
	if (n_lost != n_lost_written && write_file(LOST_FILE, NULL, n_lost) == 0)
		n_lost_written = n_lost;
	free(q->items);
	free(q->gone);
}

void kept_warps_write(void)
{
	struct queue q;

	if (!wanted()->launches)
		return;
	pthread_mutex_lock(&write_lock);
	pthread_mutex_lock(&lock);
	q = queue;
	queue = (struct queue){.n_lost = q.n_lost};
	pthread_mutex_unlock(&lock);
	write_queue(&q);
	pthread_mutex_unlock(&write_lock);
}

void kept_warps_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	pthread_mutex_init(&write_lock, NULL);
	choice = (struct launch_choice){0};
	queue = (struct queue){0};
	atomic_store(&held_bytes, 0);
	n_unwritten = n_lost_written = 0;
}
