/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/context_sources.h"
#include <stddef.h>
#include "collect/contexts.h"

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
}

void contexts_end(void)
{
	for (enum context id = 0; id < N_CONTEXTS; id++)
		if (context_is_wanted(id) && sources[id]->end)
			sources[id]->end();
}

uint32_t contexts_node(struct thread_state *t, uint32_t node)
{
	uint32_t on = atomic_load_explicit(&contexts_on, memory_order_relaxed);

	for (; on; on &= on - 1)
		node = sources[__builtin_ctz(on)]->node(t, node);
	return node;
}
