/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_TIMELINE_H
#define PROTON_FORMAT_TIMELINE_H
/* The single executions of a session as a picture over time: groups (a process on a device), in them
 * tracks (a stream), on which nothing overlaps. What overlaps on one stream gets a further track,
 * because most viewers cannot draw it on one.
 *
 *   group "python3 (4711), CUDA 0 NVIDIA H200"
 *     track "stream 7"       ──[gemm]──[relu]────
 *     track "stream 7 (2)"   ─────[copy]─────────
 *   thread  one */
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "core/session.h"

struct timeline_group {
	uint32_t process, device; /* indices, or SESSION_NONE */
};

struct timeline_track {
	uint32_t group, lane;
	unsigned line; /* 0: the stream's first */
	uint64_t end_ns;
	uint32_t next; /* of the same lane; SESSION_NONE ends */
};

struct timeline_event {
	uint32_t interval, track;
};

struct timeline {
	struct timeline_group *groups;
	struct timeline_track *tracks;
	struct timeline_event *events; /* sorted by their start */
	size_t n_groups, n_tracks, n_events;
};

/* 0, -ENOMEM, or -ENODATA: the session has no trace. */
int timeline_init(struct timeline *t, const struct session *s);
void timeline_done(struct timeline *t);
void timeline_group_name(const struct session *s, const struct timeline_group *group,
			 struct buf *out);
void timeline_track_name(const struct session *s, const struct timeline_track *track,
			 struct buf *out);
/* "kernel", "gpu_memcpy", "gpu_memset": what traces of torch.profiler call them. */
const char *timeline_category(const struct session *s, uint32_t node);

#endif
