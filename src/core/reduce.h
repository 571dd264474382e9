/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_REDUCE_H
#define PROTON_CORE_REDUCE_H
/* A part of a session as a session, for files: what a report of it would show.
 *
 *   train ─┬ step ─┬ gemm 90               -e loss        a limit of 20: what is less is in what is above
 *          │       ├ relu 10               train ─ step ─┬ gemm 90    train ─ step 20 ─ gemm 90
 *          │       └ loss 10        ──>                  └ relu 10
 *
 * What a filter leaves out is gone with its values, also from the elapsed time of scopes around it. What is
 * below a limit or too deep gives what adds up to the node above it that is left: all totals stay.
 * Launch metadata stays launch metadata: it goes with what it is below, and is never given to that.
 * Devices, processes, losses, notes and sensors are those of the whole. Copies by stream are those that are left,
 * where a filter leaves all or none of each; else of the whole (copy_lanes_of_all of the session).
 *   thread  one */
#include "core/filter.h"
#include "core/least.h"

struct reduce_options {
	struct filter filter;
	struct least least;
	uint32_t depth;              /* levels, the root's counted; 0 = all */
	const struct naming *naming; /* of names that selectors match; NULL: they are raw */
};
static inline bool reduce_any(const struct reduce_options *o)
{
	return filter_any(&o->filter) || least_any(&o->least) || o->depth;
}

/* 0, and *ret_left says how much filters leave; -ENODATA: nothing is left, and *ret_hint may say why;
 * -ENOMEM; or an error of least_parse(). */
int session_reduce(const struct session *s, const struct reduce_options *o, struct session **ret,
		   struct filter_left *ret_left, enum filter_hint *ret_hint);

#endif
