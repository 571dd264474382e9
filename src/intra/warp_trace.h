/* SPDX-License-Identifier: MIT */
#ifndef PROTON_INTRA_WARP_TRACE_H
#define PROTON_INTRA_WARP_TRACE_H
/* Single scopes of single warps, in memory: what a timeline within kernels is drawn from, whoever recorded it.
 *
 *     trace ── launch ── warp ── scope
 *              launch ── warp …
 *
 * Warps of a launch lie together, as they were added; a warp's scopes in the order of entering, parents first.
 *   threads  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/idindex.h"
#include "base/strtab.h"

#define WARP_TRACE_NO_PARENT UINT32_MAX

enum warp_event {
	WARP_EVENT_SCOPE, /* nests */
	WARP_EVENT_ASYNC, /* need not nest; may have begun in another warp of its block */
	WARP_EVENT_MARK,  /* an instant */
	WARP_EVENT_VALUE, /* an instant with a number */
};

struct warp_trace_scope {
	uint64_t enter, leave; /* cycles of the multiprocessor's clock */
	uint32_t parent; /* index within the warp's, before its own, or WARP_TRACE_NO_PARENT */
	uint32_t name;   /* in the trace's names */
	enum warp_event event;
	bool is_open; /* its leaving was not recorded: leave is enter */
	bool is_end; /* the end of an event that did not begin in its warp: none is left by warp_async_join() */
	union {
		double value;    /* of WARP_EVENT_VALUE */
		uint32_t number; /* of half a WARP_EVENT_ASYNC: which of its name */
	};
};

struct warp_trace_warp {
	uint32_t launch; /* index */
	uint32_t warp, multiprocessor;
	uint64_t block;                          /* x + width * (y + height * z) */
	uint64_t entered_ns, left_ns, copied_ns; /* on the clock of the device; 0: not known */
	uint64_t entered_clock, left_clock;      /* cycles, then; both 0: not known */
	uint64_t n_lost;                         /* records: overwritten, or without another half */
	size_t scopes, n_scopes;                 /* first one, in the trace's */
};

/* Who launched it. */
struct warp_trace_process {
	uint64_t instance; /* which one it is of all, also of those with one pid */
	uint32_t pid;      /* 0: not known */
	int32_t rank;      /* -1: none */
};

struct warp_trace_launch {
	uint32_t kernel;  /* its name, in the trace's names */
	uint32_t symbol;  /* what it is called itself, where that is another name; 0: it is not */
	uint32_t path;    /* of its calling context, frames with '\n' between, or 0: not known */
	uint64_t launch;  /* the context's number of it; 0: not known */
	int32_t device;   /* -1: not known */
	uint32_t process; /* index of the trace's, + 1; 0: not known */
	uint64_t start_ns, end_ns; /* of the kernel's record; 0: none */
	uint64_t n_blocks;         /* of the grid; 0: not known */
	uint32_t n_block_warps;    /* of a block; 0: not known */
	uint64_t n_dropped;        /* warps that did not record, or whose records found no room */
	size_t warps, n_warps;     /* first one, in the trace's */
};

struct warp_trace {
	struct strtab *names;
	struct warp_trace_launch *launches;
	struct warp_trace_warp *warps;
	struct warp_trace_scope *scopes;
	struct warp_trace_process *processes;
	struct idindex process_index;
	size_t n_launches, n_warps, n_scopes, n_processes;
	uint64_t n_left_out; /* launches of which nothing was kept */
	size_t cap_launches, cap_warps, cap_scopes, cap_processes;
};

int warp_trace_init(struct warp_trace *t); /* 0 or -ENOMEM */
void warp_trace_done(struct warp_trace *t);

/* What launches have as their process: an earlier one that is the same, or a new one; beyond these, not known. 0 or -ENOMEM. */
#define WARP_PROCESSES_MOST 65536
int warp_trace_process(struct warp_trace *t, const struct warp_trace_process *process,
		       uint32_t *ret);
/* Where there are several: "rank 3", else "pid 4711"; "": there is one, or it is not known. */
#define WARP_PROCESS_TEXT 24
void warp_trace_process_text(const struct warp_trace *t, const struct warp_trace_launch *launch,
			     char text[WARP_PROCESS_TEXT]);
/* Where all launches were left out. */
#define WARP_NONE_KEPT_TEXT 80
void warp_trace_none_kept_text(const struct warp_trace *t, char text[WARP_NONE_KEPT_TEXT]);
/* A launch; the warps that are added next are of it. Its warps and n_warps are set here. 0 or -ENOMEM. */
int warp_trace_add_launch(struct warp_trace *t, const struct warp_trace_launch *launch);
/* A warp of the latest launch with its scopes, which are copied; its launch, scopes and n_scopes are set here. 0, -ENOMEM, or
 * -EINVAL: there is no launch, a parent is not before its scope, or a name is not the trace's. */
int warp_trace_add_warp(struct warp_trace *t, const struct warp_trace_warp *warp,
			const struct warp_trace_scope *scopes, size_t n);

/* Nanoseconds of a cycle of this warp's multiprocessor while it ran, as its two pairs of times have it; 0: not known. */
double warp_trace_cycle_ns(const struct warp_trace_warp *w);
/* When a cycle of it was: nanoseconds from `base_ns` on, a time of the device's clock. `cycle_ns`: what a cycle lasts. Where the
 * warp's times are not known, they are taken for 0. */
double warp_trace_ns(const struct warp_trace_warp *w, uint64_t cycle, double cycle_ns,
		     uint64_t base_ns);
/* The first cycle that is known of it, by its entering or its first scope. */
uint64_t warp_trace_first_cycle(const struct warp_trace *t, const struct warp_trace_warp *w);

#endif
