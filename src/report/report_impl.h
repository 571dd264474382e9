/* SPDX-License-Identifier: MIT */
#ifndef PROTON_REPORT_REPORT_IMPL_H
#define PROTON_REPORT_REPORT_IMPL_H
/* What the files of a report share, and nobody else.
 *
 *   report.c          which parts are printed, in which order
 *   view_kernels.c    kernels, transfers: tables by name
 *   view_devices.c    devices, processes
 *   view_lists.c      losses, notes, the summary, what was run
 *   words.c           tables whose cells are words */
#include "core/flat.h"
#include "report/report.h"

struct report {
	struct snapshot *snap;
	const struct session *s;
	const struct report_options *o;
	struct out *out;
	const char
		*flat_words; /* columns asked for, of a report without the tree; NULL: the usual */
	struct flat *flat;
};

/* Print one part: 0, -EINVAL (no such column), -ENODATA or -ENOMEM. */
int view_kernels(const struct report *r);
int view_transfers(const struct report *r);
int view_devices(const struct report *r);
int view_processes(const struct report *r);
int view_losses(const struct report *r);
int view_notes(const struct report *r);
int view_summary(const struct report *r);
int view_run(const struct report *r);

#endif
