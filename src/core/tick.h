/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_TICK_H
#define PROTON_CORE_TICK_H
/* Long work says how far it is, and may be told to stop. Whoever runs it decides what becomes of
 * that: a line on a screen, nothing at all. */
#include <stdbool.h>
#include <stddef.h>

struct tick {
	/* done of total; called every few thousand steps. false: stop. */
	bool (*call)(void *data, size_t done, size_t total);
	void *data;
};

#define TICK_STRIDE 4096

/* In a loop, each time around. false: give up; work that cannot leave its result half done may go
 * on. t: NULL = nobody listens. */
static inline bool tick_at(const struct tick *t, size_t done, size_t total)
{
	return !t || done % TICK_STRIDE || t->call(t->data, done, total);
}

#endif
