/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_RUN_WANTED_H
#define PROTON_CORE_RUN_WANTED_H
/* What a run wants of its collectors. The commands that run a program fill it from their options (cmd/run_options.c),
 * proton copies it to the control page before there is a collector (wire/control.h), and collectors read it there. An
 * option that only they need is a field here, what it is read from, and where it is used. 0 is what a run does by itself. Contexts alone
 * are added to later, atomically (collect/context_sources.c). */
#include <stdint.h>
#include "core/backends.h"
#include "core/contexts.h"
#include "core/scopes_wanted.h"
#include "core/steps_wanted.h"
#include "core/trace_window.h"
#include "core/warps_wanted.h"

/* Switches: each is an option, and 1 when it is given.
 *    field, word, help */
/* clang-format off */
#define RUN_SWITCHES(_)                                                                            \
	_(cpu_time, "cpu-time", "record how long threads of APP run within their scopes")          \
	_(by_shape, "by-shape", "tell kernels apart by their grids and blocks")                    \
	_(shapes, "shapes", "tell PyTorch's operators apart by the shapes of their inputs")        \
	_(all_names, "no-fold-numbers", "a row for each name that only counts up, not 'step #'")
/* clang-format on */

struct run_wanted {
	struct backend_options backends;
	uint32_t backends_off; /* 1 << SOURCE_*: left alone */
	uint32_t contexts;     /* CONTEXT_BIT()s: what contexts are made of beside scopes */
	uint32_t
		context_budget_ppm; /* of a launching thread's time, to read them in; 0: all of it */
	uint32_t trace;             /* 1: when each operation ran goes to a segment */
	uint32_t trace_max;         /* operations that a process keeps */
#define _(field, word, help) uint32_t field;
	RUN_SWITCHES(_)
#undef _
	uint32_t reserved;
	uint64_t
		counters_ns; /* how often hardware counters are read; 0: never. Their samples are in files
			       * (core/counted_samples.h) */
	struct trace_window window;  /* of a trace */
	struct steps_wanted steps;   /* … of the program */
	struct scopes_wanted scopes; /* within kernels */
	struct warps_wanted warps;
};
/* Collectors are another build's: the page says of which version (CONTROL_VERSION). */
_Static_assert(sizeof(struct run_wanted) == 424, "run_wanted");

#endif
