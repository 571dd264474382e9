/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TRACE_WINDOWS_H
#define PROTON_COLLECT_TRACE_WINDOWS_H
/* Which operations a trace has, where it is not of the whole run (--trace-window): those that ran, in part
 * at least, while a window was open. Records come later than what they are of, so it is remembered when
 * windows were open, and an operation's times decide.
 *
 *     NVTX range of the name  ── enter ──> a window ── leave
 *     step with its number    ── enter ──> a window ── leave   (what was launched in it is of it)
 *     cuProfilerStart()       ── on ─────> a window ── off
 *     records, in the clock of their backend ─> taker ── trace_windows_keep() ──> the trace
 *
 *   thread  any, but for trace_windows_keep() */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/wire.h"

/* An NVTX range begins: the number of its window, to leave it with; 0: it is none. No lock, no malloc. */
uint32_t trace_window_enter(const char *name, size_t len);
/* … a step, of the loop that is meant, with this number. */
uint32_t trace_window_step(uint64_t number);
void trace_window_leave(uint32_t window); /* 0: nothing */
void trace_window_profiler(bool on);

/* Of these intervals, in place, those that a trace has; how many. to_monotonic_ns: from their clock to
 * CLOCK_MONOTONIC. Whoever holds the taker's place (intervals.c). */
uint32_t trace_windows_keep(struct wire_epoch_interval *v, uint32_t n, uint64_t to_monotonic_ns);

/* In a fork child: all are closed. */
void trace_windows_forked(void);
/* … and this thread is still in one. */
uint32_t trace_window_again(void);

#endif
