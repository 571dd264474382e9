/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/graph_runs.h"
#include "backends/cuda_values.h"
#include "collect/context_sources.h"
#include "wire/wire.h"

/* ---- a launch becomes a node ---- */

static void take_back(struct thread_state *t, uint32_t node, struct launch_value v)
{
	if (v.replace || v.computed)
		return;
	v.taken_back = true;
	metric_put_at(t, node, &v);
}

/* What was said of the launch in progress, which has not run. */
static void say_of_launch(struct thread_state *t, uint64_t id)
{
	struct launch_info *l = &t->launch;

	if (!launch_is_said(t))
		return;
	if (l->name)
		graph_node_call(id, l->name);
	for (uint32_t i = 0; i < l->n_placed; i++) {
		take_back(t, l->node, l->values[i]);
		graph_node_say(id, WIRE_NONE, &l->values[i]);
	}
	l->n_placed = 0; /* once for all that is launched in between */
}

/* The thread has made this node: what was said before the first one is said of it. */
static void made(struct thread_state *t, uint64_t id)
{
	struct capture_info *c = &t->capture;

	c->node = id;
	for (uint32_t i = 0; i < c->n_values; i++)
		graph_node_say(id, c->values[i].node, &c->values[i].value);
	c->n_values = 0;
}

/* Of a context that is the thread's now. */
static uint32_t context_node(uint32_t context)
{
	return context && context < table_n(&collector->contexts) ? collector->context[context].node
								  : WIRE_NONE;
}

void graph_captured(struct thread_state *t, const struct graph_member *m)
{
	if (!m->node)
		return;
	graph_node_put(m, context_node(thread_exact_context(t, true)));
	say_of_launch(t, m->node);
	made(t, m->node);
}

void graph_built(struct thread_state *t, const struct graph_member *m)
{
	if (!m->node || graph_node_find(m->node).made_at != WIRE_NONE)
		return;
	thread_context(t, NULL);
	graph_node_put(m, context_node(thread_exact_context(t, true)));
	if (atomic_load(&t->capture.n))
		made(t, m->node);
}

/* ---- streams that are captured ---- */

/* What was said before a first node that never came. */
static void give_back(struct thread_state *t)
{
	struct capture_info *c = &t->capture;

	for (uint32_t i = 0; i < c->n_values; i++)
		metric_put_at(t, c->values[i].node, &c->values[i].value);
	c->n_values = 0;
}

/* Did it capture this stream? */
static bool forget_of(struct thread_state *t, uint64_t stream)
{
	struct capture_info *c = &t->capture;
	uint64_t seen;

	for (uint32_t i = 0; atomic_load(&c->n) && i < ARRAY_SIZE(c->streams); i++) {
		seen = stream;
		if (atomic_compare_exchange_strong(&c->streams[i], &seen, 0)) {
			atomic_fetch_sub(&c->n, 1);
			return true;
		}
	}
	return false;
}

/* In relaxed mode one thread may end what another began. */
static void forget(struct thread_state *t, uint64_t stream)
{
	uint32_t n = atomic_load(&collector->n_threads);

	if (forget_of(t, stream))
		return;
	for (uint32_t i = 0; i < n; i++)
		if (forget_of(&collector->thread[i], stream))
			return;
}

/* What is said while there is no room for another stream counts at once. */
static void remember(struct capture_info *c, uint64_t stream)
{
	uint64_t none;

	for (uint32_t i = 0; i < ARRAY_SIZE(c->streams); i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&c->streams[i], &none, stream)) {
			atomic_fetch_add(&c->n, 1);
			return;
		}
	}
}

void graph_capturing(struct thread_state *t, const void *handle, bool on)
{
	uint64_t stream = (uintptr_t)handle + UINT64_C(1);

	/* A stream that begins was none before: that one may have been destroyed while it was captured. */
	forget(t, stream);
	if (!atomic_load(&t->capture.n))
		give_back(t);
	if (!on || !t->tid) /* a state that threads share says nothing of one of them */
		return;
	if (!atomic_load(&t->capture.n))
		t->capture.node = 0;
	remember(&t->capture, stream);
	contexts_capture_begins(t);
}

void graph_captures_end(struct thread_state *t)
{
	give_back(t);
	captures_forget(t);
}

/* ---- nodes run ---- */

/* The value of this run. False: there is none. */
static bool settle(struct launch_value *v)
{
	union cuda_number number;
	union metric_value given;
	struct cuda_run run;
	enum metric_type sent = METRIC_F64;

	if (!v->computed)
		return true;
	if (!cuda_value_next(v->computed, &run))
		return false;
	number = v->replace ? run.number : run.all;
	if (v->is_whole && number.whole >= 0) {
		sent = METRIC_U64;
		given.u64 = (uint64_t)number.whole;
	} else {
		given.f64 = v->is_whole ? (double)number.whole : number.real;
	}
	return metric_settle(v, given, sent);
}

void graph_ran(struct thread_state *t, const struct graph_node *node, uint32_t launched_at,
	       uint32_t slot)
{
	const struct said *s = node->said;
	const struct node_value *values;
	uint32_t n, at;

	while (s) {
		values = graph_node_values(&s, &n);
		for (uint32_t i = 0; i < n; i++) {
			struct launch_value v = values[i].value;

			if (!settle(&v) || slot == WIRE_NONE)
				continue;
			at = values[i].node == WIRE_NONE
				     ? collector->slot[slot].node
				     : graph_node_context(t, launched_at, values[i].node);
			metric_put_beside(slot, at, &v);
		}
	}
}
