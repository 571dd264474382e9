/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_TIMELINE_H
#define PROTON_FORMAT_TIMELINE_H
/* The single executions of a session as a picture over time: groups (a process on a device, or on the
 * host), in them tracks. On that of a stream nothing overlaps, on that of a thread ranges lie within
 * each other. What does not fit gets a further track, because most viewers cannot draw it on one. Pages of unified memory
 * (core/pages.h) stand in the group of their device, or of the host, on tracks by kind.
 *
 *   group "python3 (4711), CUDA 0 NVIDIA H200"
 *     track "stream 7"       ──[gemm]──[relu]────
 *     track "stream 7 (2)"   ─────[copy]─────────
 *     track "pages to GPU"   ───[]─[]────────────
 *   group "python3 (4711)"
 *     track "thread 4711"    ─[step ─[forward]── ]
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "core/session.h"

struct timeline_group {
	uint32_t process, device; /* indices, or SESSION_NONE */
};

struct timeline_track {
	uint32_t group, lane;
	unsigned line; /* 0: the stream's, or thread's, first */
	bool is_host;  /* a thread's */
	uint8_t pages; /* enum pages_lane */
	uint32_t last; /* event; SESSION_NONE: none yet */
	uint32_t next; /* of the same lane; SESSION_NONE ends */
};

struct timeline_event {
	uint32_t interval, track;
	uint32_t outer; /* event on the same track that it lies in; SESSION_NONE: in none */
};

struct timeline {
	struct timeline_group *groups;
	struct timeline_track *tracks;
	struct timeline_event *events; /* sorted by their start */
	uint32_t *launchers;           /* by event: see timeline_link() */
	size_t n_groups, n_tracks, n_events;
};

/* 0, -ENOMEM, or -ENODATA: the session has no trace. */
int timeline_init(struct timeline *t, const struct session *s);
void timeline_done(struct timeline *t);
/* Of each event the one that launched it: the innermost range of its thread then; SESSION_NONE: not known, or there
 * was none. 0 or -ENOMEM. */
int timeline_link(struct timeline *t, const struct session *s);
void timeline_group_name(const struct session *s, const struct timeline_group *group,
			 struct buf *out);
void timeline_track_name(const struct session *s, const struct timeline_track *track,
			 struct buf *out);
/* What traces of torch.profiler and of Triton's Proton call it. */
enum timeline_category {
	TIMELINE_KERNEL,
	TIMELINE_COPY,
	TIMELINE_SET,
	TIMELINE_FUNCTION,
	TIMELINE_SCOPE,
	TIMELINE_NVTX,
	TIMELINE_PYTHON,
	TIMELINE_CALL,  /* that waits for a device */
	TIMELINE_PAGES, /* our own */
	TIMELINE_N
};
extern const char *const timeline_categories[TIMELINE_N]; /* "kernel", "gpu_memcpy" … */
enum timeline_category timeline_category(const struct session *s, const struct session_interval *v);

#endif
