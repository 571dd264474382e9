/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_TRACE_WINDOW_H
#define PROTON_CORE_TRACE_WINDOW_H
/* Which part of a run a trace is of (--trace-window). Sums are of all of it. */
#include <stdint.h>

enum trace_window_kind {
	TRACE_WINDOW_ALL = 0,
	TRACE_WINDOW_TIME,     /* since the start of the run */
	TRACE_WINDOW_NVTX,     /* while a range of a name is open in the process */
	TRACE_WINDOW_PROFILER, /* between cuProfilerStart() and cuProfilerStop() */
	TRACE_WINDOW_STEPS,    /* steps of the likeliest loop with these numbers */
};

#define TRACE_WINDOW_NAME 104 /* bytes, no zero behind them */

/* A part of the control page (wire/control.h). */
struct trace_window {
	uint32_t kind;     /* enum trace_window_kind */
	uint32_t name_len; /* TRACE_WINDOW_NVTX */
	uint64_t from_ns,
		to_ns; /* TRACE_WINDOW_TIME; of TRACE_WINDOW_STEPS the first and last number */
	char name[TRACE_WINDOW_NAME];
};
_Static_assert(sizeof(struct trace_window) == 128, "trace_window");

#endif
