/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/warps_so_far.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "live/kept_warps.h"

#define LOOK_COST 20 /* what a look took is this part of the time until the next, at most */

struct warps_so_far {
	char *session;
	struct warp_trace trace;
	uint64_t generation, next_ns;
};

struct warps_so_far *warps_so_far_new(const char *session)
{
	struct warps_so_far *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->session = strdup(session);
	return w->session && warp_trace_init(&w->trace) == 0 ? w : warps_so_far_free(w);
}

struct warps_so_far *warps_so_far_free(struct warps_so_far *w)
{
	if (!w)
		return NULL;
	warp_trace_done(&w->trace);
	free(w->session);
	free(w);
	return NULL;
}

/* Without memory what was read before stays. */
static int read_anew(struct warps_so_far *w)
{
	struct warp_trace t;
	int r = warp_trace_init(&t);

	if (r == 0)
		r = kept_warps_read(w->session, &t);
	if (r < 0) {
		warp_trace_done(&t);
		return r;
	}
	warp_trace_done(&w->trace);
	w->trace = t;
	return 0;
}

const struct warp_trace *warps_so_far_look(struct warps_so_far *w, bool is_over)
{
	uint64_t begun_ns = clock_monotonic_ns(), now_ns, generation;

	if (!is_over && begun_ns < w->next_ns)
		return &w->trace;
	generation = kept_warps_generation(w->session);
	if (generation != w->generation && read_anew(w) == 0)
		w->generation = generation;
	now_ns = clock_monotonic_ns();
	w->next_ns = now_ns + (now_ns - begun_ns) * LOOK_COST;
	return &w->trace;
}
