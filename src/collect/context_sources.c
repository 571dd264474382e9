/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/context_sources.h"
#include <stddef.h>
#include "base/hash.h"
#include "base/ticks.h"
#include "collect/context_budget.h"
#include "collect/contexts.h"
#include "collect/internal.h"
#include "collect/own_stack.h"

#define _(id, name, ...) extern const struct context_source context_##name;
CONTEXTS(_)
#undef _

static const struct context_source *const sources[N_CONTEXTS] = {
#define _(id, name, ...) [CONTEXT_##id] = &context_##name,
	CONTEXTS(_)
#undef _
};

void contexts_look(void)
{
	for (enum context id = 0; id < N_CONTEXTS; id++)
		if (context_is_wanted(id))
			sources[id]->look();
	/* What was loaded between this and the first launch is found by that. */
	atomic_store_explicit(&contexts_due, true, memory_order_relaxed);
}

/* By itself it keeps within a budget, as under `proton record`; who names a context has it of each launch. */
void contexts_want(uint32_t contexts)
{
	struct control_page *c = collector->control;
	uint32_t before = __atomic_fetch_or(&c->wanted.contexts, contexts, __ATOMIC_RELAXED);

	if (!(contexts & ~before))
		return;
	__atomic_store_n(&c->wanted.context_budget_ppm,
			 (before | contexts) & ~CONTEXT_AUTO ? 0 : CONTEXT_BUDGET_AUTO,
			 __ATOMIC_RELAXED);
	contexts_look();
}

static void look_again(void *none)
{
	for (enum context id = 0; id < N_CONTEXTS; id++)
		if (context_is_wanted(id) && sources[id]->look_again)
			sources[id]->look_again();
}

void contexts_look_again(void)
{
	atomic_store_explicit(&contexts_due, false, memory_order_relaxed);
	own_stack_run(look_again, NULL); /* a launch may have as little as a scope */
}

void contexts_end(void)
{
	for (enum context id = 0; id < N_CONTEXTS; id++)
		if (context_is_wanted(id) && sources[id]->end)
			sources[id]->end();
	budget_note();
}

void contexts_fork_begins(void)
{
	for (enum context id = 0; id < N_CONTEXTS; id++)
		if (context_is_wanted(id) && sources[id]->fork_begins)
			sources[id]->fork_begins();
}

void contexts_forked(void)
{
	for (enum context id = 0; id < N_CONTEXTS; id++)
		if (context_is_wanted(id) && sources[id]->forked)
			sources[id]->forked();
	budget_forked();
	atomic_store_explicit(&contexts_due, true, memory_order_relaxed);
}

static uint32_t read_all(struct thread_state *t, uint32_t node, uint32_t on)
{
	for (; on; on &= on - 1)
		node = sources[__builtin_ctz(on)]->node(t, node);
	return node;
}

/* Of what stands innermost in each: the same again is the same place as a rule. */
static uint64_t place_of(struct thread_state *t, uint32_t node, uint32_t on)
{
	uint64_t place = hash_u64(node);

	for (; on; on &= on - 1)
		place = hash_u64(place ^ sources[__builtin_ctz(on)]->innermost(t));
	return place;
}

static void tell_taken(struct thread_state *t, uint32_t node, uint32_t on)
{
	for (; on; on &= on - 1)
		if (sources[__builtin_ctz(on)]->taken)
			sources[__builtin_ctz(on)]->taken(t, node);
}

static enum context_telling telling(uint32_t on)
{
	enum context_telling most = CONTEXT_SEES, one;

	for (; on; on &= on - 1) {
		const struct context_source *s = sources[__builtin_ctz(on)];

		one = s->telling ? s->telling() : CONTEXT_SEES;
		most = MAX(most, one);
	}
	return most;
}

/* False: one has always to be asked. */
static bool glance(struct thread_state *t, uint32_t node, uint32_t on, uint64_t *ret)
{
	bool can = true;

	*ret = hash_pair(node, 0) ^ (uintptr_t)t->launching;
	for (; on; on &= on - 1) {
		const struct context_source *s = sources[__builtin_ctz(on)];

		if (s->glance)
			*ret = hash_u64(*ret ^ s->glance(t));
		can = can && s->glance;
	}
	return can;
}

/* What is not looked at at all has still to be noticed by each. */
static uint32_t read_unlimited(struct thread_state *t, uint32_t node, uint32_t on,
			       bool *ret_guessed)
{
	uint64_t ignored;

	if (_unlikely_(telling(on) == CONTEXT_IS_ALONE)) {
		glance(t, node, on, &ignored);
		place_of(t, node, on);
	}
	node = read_all(t, node, on);
	*ret_guessed = t->context_taken_over;
	return node;
}

uint32_t contexts_exact_node(struct thread_state *t, uint32_t node, bool *ret_guessed)
{
	uint32_t on = atomic_load_explicit(&contexts_on, memory_order_relaxed);

	t->context_taken_over = false;
	t->reads_exactly = true;
	node = read_unlimited(t, node, on, ret_guessed);
	t->reads_exactly = false;
	return node;
}

/* What is found at a launch as a rule is late then: what stands in a graph runs again and again. */
void contexts_capture_begins(struct thread_state *t)
{
	if (t->is_main && atomic_load_explicit(&contexts_due, memory_order_relaxed))
		contexts_look_again();
	for (enum context id = 0; id < N_CONTEXTS; id++)
		if (context_is_wanted(id) && sources[id]->capture_begins)
			sources[id]->capture_begins();
}

uint32_t contexts_node(struct thread_state *t, uint32_t node, bool *ret_guessed)
{
	uint32_t on = atomic_load_explicit(&contexts_on, memory_order_relaxed), seen = node;
	enum context_telling told;
	uint64_t place, way, began;
	bool can;

	t->context_taken_over = false;
	if (!budget_is_limited())
		return read_unlimited(t, node, on, ret_guessed);
	began = ticks();
	told = telling(on);
	can = glance(t, node, on, &way);
	if (!budget_look(t, began, way, !can || told == CONTEXT_IS_TOLD, &seen)) {
		*ret_guessed = true;
		tell_taken(t, seen, on);
		return seen;
	}
	place = place_of(t, node, on);
	if (told != CONTEXT_IS_TOLD && !budget_begin(t, place, told != CONTEXT_IS_ALONE, &seen)) {
		*ret_guessed = true;
		tell_taken(t, seen, on);
		return seen;
	}
	seen = read_all(t, node, on);
	*ret_guessed = t->context_taken_over;
	if (told == CONTEXT_IS_TOLD)
		budget_read(t, place, seen);
	else
		budget_end(t, place, seen, *ret_guessed);
	return seen;
}
