/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_MERGE_WARPS_H
#define PROTON_CMD_MERGE_WARPS_H
/* Single scopes of warps of the files that are merged, as one file beside what they become: each launch says whose it is.
 *
 *     run.rank0.hatchet, run.rank0.warps ──┐
 *     run.rank1.hatchet, run.rank1.warps ──┴──> all.hatchet, all.warps
 *
 * One input is in memory at a time. */
#include <stddef.h>
#include "core/merge.h"
#include "core/session.h"
#include "intra/warp_trace.h"

struct merged_warps {
	struct merged_file {
		const char *path; /* borrowed */
		/* Whose launches are that do not say it, and the rank of those that say it without one. */
		struct warp_trace_process process;
	} * files;
	size_t n, cap;
	const char *out; /* the profile that they became; borrowed */
};

/* A file was merged; ctx is a struct merged_warps. */
void merged_warps_add(void *ctx, const char *path, const struct session *s,
		      const struct merge_options *options);
/* What there is of all, beside `out`; what is missing or not whole has its sentence. 0, or -errno and a line on stderr. */
int merged_warps_save(struct merged_warps *m, const char *out);
void merged_warps_done(struct merged_warps *m);

#endif
