/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/contexts.h"
#include "collect/internal.h"

_Atomic uint32_t contexts_on;
_Atomic bool contexts_due;
static _Atomic uint32_t readable;

static const uint8_t automatic[N_CONTEXTS] = {
#define _(id, name, word, automatic) [CONTEXT_##id] = CONTEXT_##automatic,
	CONTEXTS(_)
#undef _
};

static uint32_t wanted(void)
{
	return __atomic_load_n(&collector->control->wanted.contexts, __ATOMIC_RELAXED);
}

bool contexts_are_automatic(void)
{
	return wanted() & CONTEXT_AUTO;
}

bool context_is_wanted(enum context id)
{
	return (wanted() & CONTEXT_BIT(id)) || (contexts_are_automatic() && automatic[id]);
}

/* What is read of what can be read. */
static uint32_t chosen_of(uint32_t readable_now)
{
	uint32_t instead = 0;

	if (!contexts_are_automatic())
		return readable_now;
	for (enum context id = 0; id < N_CONTEXTS; id++)
		if (automatic[id] == CONTEXT_INSTEAD && readable_now & CONTEXT_BIT(id))
			instead = CONTEXT_BIT(id) - 1;
	return readable_now & (~instead | wanted());
}

static uint32_t (*_Atomic polled)(void);

void contexts_poll_by(uint32_t (*poll)(void))
{
	atomic_store(&polled, poll);
}

uint32_t contexts_poll(void)
{
	uint32_t (*poll)(void) = atomic_load(&polled);

	return poll ? poll() : UINT32_MAX;
}

void contexts_set(enum context id, bool on)
{
	uint32_t seen;

	if (on)
		atomic_fetch_or(&readable, CONTEXT_BIT(id));
	else
		atomic_fetch_and(&readable, ~CONTEXT_BIT(id));
	do {
		seen = atomic_load(&readable);
		atomic_store(&contexts_on, chosen_of(seen));
	} while (seen != atomic_load(&readable));
	if (on)
		backends_attribute();
}
