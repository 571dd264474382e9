/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_SESSION_WARPS_H
#define PROTON_LIVE_SESSION_WARPS_H
/* Single scopes of warps of a session of the program: its collector leaves a file for each epoch in the session directory
 * (collect/traced_warps.h). */
#include <stdint.h>
#include "intra/warp_trace.h"

struct receiver;

struct session_warps {
	uint64_t instance;
	uint32_t session, phase; /* by its collector's numbers; WIRE_NONE: of any phase */
};

/* Added to a trace, which was initialised. 0 or -ENOMEM; what is no such file is left out. */
int session_warps_read(struct receiver *r, const struct session_warps *of, struct warp_trace *t);

/* What the run keeps of its launches goes beside its profile in this file, as for the run (kept_warps.h). 0 or -errno. */
int session_warps_keep(struct receiver *r, const struct session_warps *of, const char *profile);

#endif
