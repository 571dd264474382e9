/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_REPORT_IMPL_H
#define PROTON_REPORT_REPORT_IMPL_H
/* What the files of a report share, and nobody else.
 *
 *   report.c          which parts are printed, in which order
 *   view_kernels.c    kernels, transfers: tables by name
 *   view_launches.c   how kernels were launched
 *   view_source.c     lines and instructions with the samples of each
 *   source_json.c     … for programs
 *   view_bottom_up.c  kernels with their callers below them
 *   view_callers.c    one function between its callers and its callees
 *   view_flame.c      the flame graph, a line a box
 *   view_memory.c     copies and sets
 *   view_host.c       scopes and waits of the host
 *   view_api.c        calls of the GPU's library
 *   view_ranks.c      how evenly work is spread
 *   view_steps.c      steps of loops
 *   view_timeline.c   when operations ran, of a trace
 *   view_warps.c      single scopes of warps
 *   warps_json.c      … for programs
 *   view_findings.c   what costs time that it need not
 *   view_counters.c   what hardware counters of devices said
 *   view_devices.c    devices, processes
 *   view_lists.c      losses, notes, the summary, what was run
 *   rows.c            tables whose rows have metrics
 *   words.c           tables whose cells are words */
#include <errno.h>
#include "core/flat.h"
#include "core/numbers.h"
#include "report/report.h"

struct report {
	struct snapshot *snap;
	const struct session *s;
	const struct report_options *o;
	struct out *out;
	unsigned views;    /* all that are printed: enum report_view bits */
	const char *words; /* columns asked for, of a report without the tree; NULL: the usual */
	struct numbers *numbers; /* of what expressions leave, as all below */
	struct flat *flat;
	uint8_t *mask; /* what selectors leave; NULL: all */
};

/* As it is shown; lives as long as the report. */
static inline const char *report_name(struct report *r, uint32_t node)
{
	return snapshot_name(r->snap, node, (enum name_mode)r->o->names);
}

/* Below a caption, where something is filtered, of what is not. */
#define REPORT_OF_ALL "(of the whole run, whatever the filter leaves)\n"

/* What report_text() returns for an error of least_parse(). */
static inline int least_error(int r)
{
	return r == -ENOENT ? -EINVAL : r == -EDOM ? -ERANGE : r;
}

/* Print one view: 0, or what report_text() returns. */
int view_kernels(struct report *r);
int view_launches(struct report *r);
int view_source(struct report *r);
struct source;
/* … for programs, of the first n functions. */
void source_json(struct report *r, const struct source *s, size_t n);
int view_transfers(struct report *r);
int view_bottom_up(struct report *r);
int view_callers(struct report *r);
int view_flame(struct report *r);
int view_memory(struct report *r);
int view_host(struct report *r);
int view_api(struct report *r);
int view_ranks(struct report *r);
int view_findings(struct report *r);
int view_counters(struct report *r);
int view_devices(struct report *r);
int view_processes(struct report *r);
/* A part of view_devices(): what they waited for, and whom; nothing where nobody knows. */
int put_idle(struct report *r);
int view_timeline(struct report *r);
int view_warps(struct report *r);
struct warp_stats;
/* … for programs. */
void warps_json(struct report *r, const struct warp_stats *stats);
int view_losses(struct report *r);
int view_notes(struct report *r);
int view_summary(struct report *r);
int view_run(struct report *r);
int view_steps(struct report *r);

#endif
