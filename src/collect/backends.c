/* SPDX-License-Identifier: MIT */
/* The backends in this process: the rows of core/backends.h, and what their files say of themselves. */
#include "config.h" // IWYU pragma: keep
#include <string.h>
#include "base/log.h"
#include "base/util.h"
#include "collect/internal.h"

enum { BACKEND_OFF, BACKEND_STARTING, BACKEND_ON, BACKEND_FAILED };

static struct open_backend {
	const struct backend *backend;
	enum collect_door door; /* through which it is started */
	struct activity_sink sink;
	_Atomic int state; /* BACKEND_* */
	void *data;
} backends[N_SOURCES] = {
#define _(id, name, number, door, ...)                                                             \
	[number] = {&backend_##name, DOOR_##door, {&sink_ops, number}, BACKEND_OFF, NULL},
	BACKENDS(_)
#undef _
};

struct activity_sink *collect_sink(unsigned source)
{
	return source < N_SOURCES ? &backends[source].sink : NULL;
}

const struct backend *backend_of(unsigned source)
{
	return backends[source].backend;
}

static bool is_on(const struct open_backend *o)
{
	return atomic_load(&o->state) == BACKEND_ON;
}

static void attribute(struct open_backend *o)
{
	if (is_on(o) && o->backend->attribute)
		o->backend->attribute(o->data);
}

static void backend_start(struct open_backend *o)
{
	const struct backend_options *options = &collector->control->options;
	const char *why = NULL;
	int off = BACKEND_OFF, r;

	if (collector->control->backends_off >> o->sink.source & 1 ||
	    !atomic_compare_exchange_strong(&o->state, &off, BACKEND_STARTING))
		return;
	r = o->backend->probe ? o->backend->probe(options, &why) : 0;
	if (r == 0)
		r = o->backend->start(options, &o->sink, &o->data);
	log_debug(1, "backends", "%s: %s%s%s", o->backend->name, r ? strerror(-r) : "on",
		  why ? ": " : "", why ? why : "");
	atomic_store(&o->state, r == 0 ? BACKEND_ON : BACKEND_FAILED);
	if (atomic_load(&collector->many_contexts))
		attribute(o);
}

void backends_open(enum collect_door door)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		if (backends[i].door == door)
			backend_start(&backends[i]);
}

void backends_flush(bool force)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		if (is_on(&backends[i]) && backends[i].backend->flush)
			backends[i].backend->flush(backends[i].data, force);
}

bool backends_flushable(void)
{
	for (size_t i = 0; i < N_SOURCES; i++)
		if (is_on(&backends[i]) && backends[i].backend->flush)
			return true;
	return false;
}

void backends_attribute(void)
{
	if (atomic_exchange(&collector->many_contexts, true))
		return;
	for (size_t i = 0; i < N_SOURCES; i++)
		attribute(&backends[i]);
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
	}
}
