/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/contexts.h"
#include "collect/internal.h"

_Atomic uint32_t contexts_on;

bool context_is_wanted(enum context id)
{
	return collector->control->contexts & CONTEXT_BIT(id);
}

void contexts_set(enum context id, bool on)
{
	if (!on) {
		atomic_fetch_and(&contexts_on, ~CONTEXT_BIT(id));
		return;
	}
	if (!(atomic_fetch_or(&contexts_on, CONTEXT_BIT(id)) & CONTEXT_BIT(id)))
		backends_attribute();
}
