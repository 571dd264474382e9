/* SPDX-License-Identifier: MIT */
/* The backends in this process: which are on, and who listens to what they deliver. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <string.h>
#include <time.h>
#include "base/log.h"
#include "base/util.h"
#include "collect/internal.h"
#include "collect/patience.h"

enum {
	LISTENERS_MAX = 16,
	UNLISTEN_MS = 2000, /* how long a thread may stay in a sink that is to go */
};

/* A place for a sink beside ours. A thread that delivers counts itself in (`inside`) before it
 * reads `sink`; whoever removes the sink clears it before reading `inside`. So one of the two
 * sees the other. */
struct listener {
	_Atomic(struct activity_sink *) sink; /* NULL: free */
	_Atomic uint32_t inside;
};

/* Stands in the place of a sink that goes, until nobody is in it: one that comes into that place now
 * would bring threads that the other waits for. */
static struct activity_sink leaving;

enum { BACKEND_OFF, BACKEND_STARTING, BACKEND_ON, BACKEND_FAILED };

static struct open_backend {
	const struct backend *backend; /* NULL: never started */
	_Atomic int state;             /* BACKEND_* */
	void *data;
	_Atomic uint32_t n_listeners;
	struct listener listeners[LISTENERS_MAX];
} backends[N_SOURCES];

/* ---- who listens ---- */

static bool place_take(struct listener *l, struct activity_sink *sink)
{
	struct activity_sink *old = NULL;

	if (atomic_compare_exchange_strong(&l->sink, &old, sink))
		return true;
	/* Left behind by an -EBUSY, and empty by now. */
	return old == &leaving && !atomic_load(&l->inside) &&
	       atomic_compare_exchange_strong(&l->sink, &old, sink);
}

int collect_listen(unsigned source, struct activity_sink *sink)
{
	if (source >= N_SOURCES)
		return -EINVAL;
	for (size_t i = 0; i < LISTENERS_MAX; i++) {
		if (!place_take(&backends[source].listeners[i], sink))
			continue;
		atomic_fetch_add(&backends[source].n_listeners, 1);
		return 0;
	}
	return -ENOSPC;
}

static int await_nobody(struct listener *l)
{
	const struct timespec nap = {0, NSEC_PER_MSEC / 20};
	struct patience p = patience(UNLISTEN_MS);
	struct activity_sink *its = &leaving;

	while (atomic_load(&l->sink) == &leaving && atomic_load(&l->inside)) {
		if (!patience_ms(&p))
			return -EBUSY;
		nanosleep(&nap, NULL);
	}
	atomic_compare_exchange_strong(&l->sink, &its, NULL);
	return 0;
}

int collect_unlisten(unsigned source, struct activity_sink *sink)
{
	struct activity_sink *its;

	for (size_t i = 0; source < N_SOURCES && i < LISTENERS_MAX; i++) {
		struct listener *l = &backends[source].listeners[i];

		its = sink;
		if (!atomic_compare_exchange_strong(&l->sink, &its, &leaving))
			continue;
		atomic_fetch_sub(&backends[source].n_listeners, 1);
		return await_nobody(l);
	}
	return -ENOENT;
}

void backends_tell(unsigned source, const struct activity *a)
{
	struct open_backend *o = &backends[source];
	struct activity_sink *sink;

	if (_likely_(!atomic_load_explicit(&o->n_listeners, memory_order_relaxed)))
		return;
	for (size_t i = 0; i < LISTENERS_MAX; i++) {
		sink = atomic_load_explicit(&o->listeners[i].sink, memory_order_relaxed);
		if (!sink || sink == &leaving)
			continue;
		atomic_fetch_add(&o->listeners[i].inside, 1);
		sink = atomic_load(&o->listeners[i].sink);
		if (sink && sink != &leaving)
			sink->ops->record(sink, a);
		atomic_fetch_sub(&o->listeners[i].inside, 1);
	}
}

/* ---- life ---- */

static bool is_on(const struct open_backend *o)
{
	return atomic_load(&o->state) == BACKEND_ON;
}

static void attribute(struct open_backend *o)
{
	if (is_on(o) && o->backend->attribute)
		o->backend->attribute(o->data);
}

static void sample(struct open_backend *o)
{
	if (is_on(o) && o->backend->sample)
		o->backend->sample(o->data);
}

static void backend_start(struct activity_sink *sink)
{
	const struct backend_options *options = &collector->control->wanted.backends;
	const struct backend *b = backend_of((enum source)sink->source);
	struct open_backend *o = &backends[sink->source];
	const char *why = NULL;
	int off = BACKEND_OFF, r;

	if (options->pc_sampling)
		atomic_store(&collector->sampling, true);
	if (collector->control->wanted.backends_off >> sink->source & 1 ||
	    !atomic_compare_exchange_strong(&o->state, &off, BACKEND_STARTING))
		return;
	o->backend = b;
	r = b->probe ? b->probe(options, &why) : 0;
	if (r == 0)
		r = b->start(options, sink, &o->data);
	log_debug(1, "backends", "%s: %s%s%s", b->name, r ? strerror(-r) : "on", why ? ": " : "",
		  why ? why : "");
	atomic_store(&o->state, r == 0 ? BACKEND_ON : BACKEND_FAILED);
	if (atomic_load(&collector->many_contexts))
		attribute(o);
	if (atomic_load(&collector->sampling))
		sample(o);
}

void backends_open(enum collect_door door, struct activity_sink sinks[static N_SOURCES])
{
	static const enum collect_door doors[N_SOURCES] = {
#define _(id, name, door, ...) [SOURCE_##id] = DOOR_##door,
		BACKENDS(_)
#undef _
	};

	for (size_t i = 0; i < N_SOURCES; i++)
		if (doors[i] == door)
			backend_start(&sinks[i]);
}

enum { BESIDE_MAX = 2 };
static _Atomic(const struct flushed_beside *) flushed_beside[BESIDE_MAX];

void backends_flush_beside(const struct flushed_beside *what)
{
	for (size_t i = 0; i < BESIDE_MAX; i++) {
		const struct flushed_beside *seen = NULL;

		if (atomic_compare_exchange_strong(&flushed_beside[i], &seen, what) || seen == what)
			return;
	}
}

void backends_flush(enum flush how)
{
	for (size_t i = 0; i < N_SOURCES; i++) {
		const struct open_backend *o = &backends[i];

		if (is_on(o) && o->backend->flush)
			o->backend->flush(o->data, how);
	}
	for (size_t i = 0; i < BESIDE_MAX; i++) {
		const struct flushed_beside *beside = atomic_load(&flushed_beside[i]);

		if (beside)
			beside->flush(how);
	}
}

bool backends_flushable(void)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		if (is_on(&backends[i]) && backends[i].backend->flush)
			return true;
	for (size_t i = 0; i < BESIDE_MAX; i++) {
		const struct flushed_beside *beside = atomic_load(&flushed_beside[i]);

		if (beside && beside->is_due())
			return true;
	}
	return false;
}

void backends_attribute(void)
{
	if (atomic_exchange(&collector->many_contexts, true))
		return;
	for (size_t i = 0; i < N_SOURCES; i++)
		attribute(&backends[i]);
}

uint32_t backends_launched(void)
{
	uint32_t launched = 0;

	for (size_t i = 0; i < N_SOURCES && !launched; i++)
		if (is_on(&backends[i]) && backends[i].backend->launched)
			launched = backends[i].backend->launched();
	return launched;
}

void backends_moved(uint32_t thread)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		if (is_on(&backends[i]) && backends[i].backend->moved)
			backends[i].backend->moved(backends[i].data, thread);
}

void backends_sample(void)
{
	if (atomic_exchange(&collector->sampling, true))
		return;
	for (size_t i = 0; i < N_SOURCES; i++)
		sample(&backends[i]);
}

uint64_t backends_buffer_bytes(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < N_SOURCES; i++)
		if (is_on(&backends[i]) && backends[i].backend->buffer_bytes)
			n += backends[i].backend->buffer_bytes(backends[i].data);
	return n;
}

void backends_forked(void)
{
	for (size_t i = 0; i < N_SOURCES; i++) {
		if (is_on(&backends[i]) && backends[i].backend->forked)
			backends[i].backend->forked(backends[i].data);
		atomic_store(&backends[i].state, BACKEND_OFF);
		/* Threads that were in a sink stayed in the parent: a place left to them is free. */
		for (size_t k = 0; k < LISTENERS_MAX; k++)
			atomic_store(&backends[i].listeners[k].inside, 0);
	}
}
