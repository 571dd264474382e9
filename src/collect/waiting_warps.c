/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/waiting_warps.h"
#include <pthread.h>
#include <stdlib.h>
#include "base/util.h"
#include "collect/launch_records.h"

enum { TURNS_MAX = 64 }; /* flushes */

struct waiting {
	struct kept_warps *warps;
	struct kept_launch launch;
	uint32_t correlation, n_turns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct waiting *items;
static size_t n_items, cap;

static bool is_settled(const struct waiting *w)
{
	struct kept_launch launch = w->launch;
	struct launch_record record;
	bool is = launch_records_find(w->correlation, &record);

	if (is) {
		launch.launch = record.number;
		launch.start_ns = record.start_ns;
		launch.end_ns = record.end_ns;
	}
	if (is || w->n_turns == TURNS_MAX)
		kept_warps_choose(w->warps, &launch);
	return is || w->n_turns == TURNS_MAX;
}

/* Where there is no memory it waits no longer. */
void waiting_warps_add(struct kept_warps *k, const struct kept_launch *launch, uint32_t correlation)
{
	struct waiting w = {k, *launch, correlation, correlation ? 0 : TURNS_MAX};

	if (!k || is_settled(&w))
		return;
	pthread_mutex_lock(&lock);
	if (ARRAY_ROOM(items, cap, n_items + 1) == 0)
		items[n_items++] = w;
	else
		w.n_turns = TURNS_MAX;
	pthread_mutex_unlock(&lock);
	if (w.n_turns)
		is_settled(&w);
}

bool waiting_warps_are_there(void)
{
	bool are;

	pthread_mutex_lock(&lock);
	are = n_items > 0;
	pthread_mutex_unlock(&lock);
	return are;
}

void waiting_warps_flush(enum flush how)
{
	size_t n = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n_items; i++) {
		struct waiting *w = &items[i];

		w->n_turns = how == FLUSH_LAST ? TURNS_MAX : w->n_turns + 1;
		if (!is_settled(w))
			items[n++] = *w;
	}
	n_items = n;
	pthread_mutex_unlock(&lock);
}

/* Another thread may have been in the middle of making them more: what they lie in is not freed. */
void waiting_warps_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	items = NULL;
	n_items = cap = 0;
}
