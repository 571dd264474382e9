/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_WARP_LINES_H
#define PROTON_FORMAT_WARP_LINES_H
/* A trace of single scopes, in the order in which files have it: launches, in them multiprocessors, blocks, warps; and the lines that
 * what a warp did at the same time is drawn on.
 *
 *   warp 2 (line 0)   [tile                  ][tile …
 *   warp 2 (line 1)    [load ][mma ]
 *
 *   threads  one */
#include <stdbool.h>
#include "intra/warp_trace.h"

/* Warps of one block, by their numbers. */
struct warp_lines_block {
	const struct warp_trace_launch *launch;
	const struct warp_trace_warp *const *warps;
	size_t n_warps;
	uint64_t block;
	uint32_t multiprocessor;
	uint64_t entered_ns, left_ns, copied_ns; /* of the first, and the last ones; 0: not known */
	int64_t first_cycle;                     /* of a scope, without what its record cost */
};

/* One that is drawn: it has both ends, or is an instant. */
struct warp_lines_scope {
	const struct warp_trace_scope *scope;
	int64_t enter, leave; /* cycles, without what records cost */
	uint32_t line;
	uint32_t
		outer; /* index of the one on the same line that it lies in, or WARP_TRACE_NO_PARENT */
};

struct warp_lines {
	const struct warp_trace *t;
	uint32_t cost;                        /* cycles of a record, which are taken out */
	bool nests;                           /* what lies in another one is on its line */
	uint64_t first_ns;                    /* the earliest block's; 0: not known */
	double cycle_ns;                      /* of the launch at hand; 0: not known */
	const struct warp_trace_warp **warps; /* of a launch, in order */
	size_t cap_warps;
	struct warp_lines_scope *scopes; /* of a warp, by entering */
	size_t n_scopes, cap_scopes;
	uint32_t *lines; /* of each the innermost scope that goes on, or WARP_TRACE_NO_PARENT */
	size_t n_lines, cap_lines;
};

/* What is done with each. 0, or a negative errno that ends it. */
typedef int warp_lines_fn(void *ctx, struct warp_lines *l, const struct warp_lines_block *block);

void warp_lines_init(struct warp_lines *l, const struct warp_trace *t);
void warp_lines_done(struct warp_lines *l);
/* Each block of all launches. 0, -ENOMEM or what `fn` returned. */
int warp_lines_each(struct warp_lines *l, warp_lines_fn *fn, void *ctx);
/* Has it a duration? */
static inline bool warp_lines_lasts(const struct warp_lines_scope *s)
{
	return s->scope->event == WARP_EVENT_SCOPE || s->scope->event == WARP_EVENT_ASYNC;
}
/* What a cycle of the launch at hand lasts: by its clock where that is asked for and known, else 1 ns. */
static inline double warp_lines_cycle_ns(const struct warp_lines *l, bool in_ns)
{
	return in_ns && l->cycle_ns > 0 ? l->cycle_ns : 1;
}
/* ns that a damaged clock is held within: two of them are in 64 bits still. */
#define WARP_LINES_NS_MOST 4.5e18
/* When a cycle of a warp was, in ns from l->first_ns on. */
double warp_lines_ns(const struct warp_lines *l, const struct warp_lines_block *block,
		     const struct warp_trace_warp *w, int64_t cycle, bool in_ns);
/* l->scopes and lines of a warp. 0 or -ENOMEM. */
int warp_lines_of(struct warp_lines *l, const struct warp_trace_warp *w);

#endif
