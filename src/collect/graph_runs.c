/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/graph_runs.h"
#include <math.h>
#include "backends/cuda_values.h"
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

void graph_captured(struct thread_state *t, uint64_t id)
{
	if (!id)
		return;
	graph_node_put(id, context_node(t->context));
	say_of_launch(t, id);
	made(t, id);
}

void graph_built(struct thread_state *t, uint64_t id)
{
	if (!id || graph_node_find(id).made_at != WIRE_NONE)
		return;
	graph_node_put(id, context_node(thread_context(t, NULL)));
	if (t->capture.n)
		made(t, id);
}

void graph_capturing(struct thread_state *t, bool on)
{
	struct capture_info *c = &t->capture;

	if (on) {
		if (!c->n++)
			c->node = 0;
		return;
	}
	if (c->n && --c->n)
		return;
	for (uint32_t i = 0; i < c->n_values; i++) /* nothing was captured */
		metric_put_at(t, c->values[i].node, &c->values[i].value);
	c->n_values = 0;
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
	return (sent == METRIC_U64 || isfinite(given.f64)) && metric_settle(v, given, sent);
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

			at = values[i].node == WIRE_NONE
				     ? collector->slot[slot].node
				     : graph_node_context(t, launched_at, values[i].node);
			if (settle(&v))
				metric_put_beside(slot, at, &v);
		}
	}
}

void graph_ran_unseen(const struct graph_node *node)
{
	const struct said *s = node->said;
	const struct node_value *values;
	uint32_t n;

	while (s) {
		values = graph_node_values(&s, &n);
		for (uint32_t i = 0; i < n; i++) {
			struct launch_value v = values[i].value;

			settle(&v);
		}
	}
}
