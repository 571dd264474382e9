/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_SOURCE_H
#define PROTON_INTRA_WARP_SOURCE_H
/* Launches whose warps can be looked at: all of a file, or what a program that runs has left so far, of which the warps of one
 * launch at a time are in memory.
 *
 *     list ── launch, launch …          what they are, with the number of their warps
 *     load(launch) ──> a trace          with its warps, until another one is loaded
 *     look() ──> generation             launches have come or gone
 *
 *   threads  one */
#include <stddef.h>
#include <stdint.h>
#include "intra/warp_trace.h"

struct warp_source {
	const struct warp_trace *list;
	uint64_t generation; /* another one where the list has changed */
	/* NULL: nothing comes and goes. */
	void (*look)(struct warp_source *s);
	/* *ret is borrowed until the next call; the launch is the one of this number in it. 0, -ENOMEM, -ENOENT: it is not kept
	 * any more, -EFBIG: it is too large to be looked at while it runs, or another -errno. NULL: all are in the list. */
	int (*load)(struct warp_source *s, size_t launch, const struct warp_trace **ret,
		    size_t *ret_launch);
	/* What a launch keeps, wherever it stands in the list by now. NULL: its place. */
	uint64_t (*id)(const struct warp_source *s, size_t launch);
};

/* All of a trace, which must live longer. */
static inline struct warp_source warp_source_of(const struct warp_trace *t)
{
	return (struct warp_source){.list = t};
}

static inline int warp_source_load(struct warp_source *s, size_t launch,
				   const struct warp_trace **ret, size_t *ret_launch)
{
	if (s->load)
		return s->load(s, launch, ret, ret_launch);
	*ret = s->list;
	*ret_launch = launch;
	return 0;
}

static inline uint64_t warp_source_id(const struct warp_source *s, size_t launch)
{
	return s->id ? s->id(s, launch) : launch;
}

/* Where the launch of this id stands; SIZE_MAX: nowhere any more. */
static inline size_t warp_source_find(const struct warp_source *s, uint64_t id)
{
	for (size_t i = 0; i < s->list->n_launches; i++)
		if (warp_source_id(s, i) == id)
			return i;
	return SIZE_MAX;
}

#endif
