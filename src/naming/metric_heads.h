/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_METRIC_HEADS_H
#define PROTON_NAMING_METRIC_HEADS_H
/* Names of hardware metrics above columns that are narrower than they are. Words that most of them have go first, the
 * last of a name before others.
 *
 *     smsp__sass_thread_inst_executed_op_ffma_pred_on.sum         …ffma_…
 *     smsp__sass_thread_inst_executed_op_fadd_pred_on.sum   ─>    …fadd_…
 *     sm__throughput.avg.pct_of_peak_sustained_elapsed            sm__throughput.…
 *
 *   thread  any */
#include <stddef.h>

struct buf;

/* Append names[i] as it is among all n: whole, where there are columns for it. dots: for what is left out. */
void metric_head_put(struct buf *out, const char *const names[], size_t n, size_t i, size_t columns,
		     const char *dots);

#endif
