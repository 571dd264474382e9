/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_TICK_H
#define PROTON_CORE_TICK_H
/* Long work reports its progress, and may be told to stop. The caller decides what to do with a
 * report: show it on the screen, or nothing. */
#include <stdbool.h>
#include <stddef.h>

struct tick {
	/* done of total; called every few thousand steps. false: stop. */
	bool (*call)(void *data, size_t done, size_t total);
	void *data;
};

#define TICK_STRIDE 4096

/* Call it in each pass of a loop. false: stop; work that must not leave its result half done may go
 * on. t: NULL = nobody wants reports. */
static inline bool tick_at(const struct tick *t, size_t done, size_t total)
{
	return !t || done % TICK_STRIDE || t->call(t->data, done, total);
}

#endif
