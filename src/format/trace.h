/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_TRACE_H
#define PROTON_FORMAT_TRACE_H
/* From a trace, every event with its times, to a profile: what the readers of traces share.
 *
 *   ranges on host threads ── nested by their times ──> calling contexts, host time
 *   work on devices ── by correlation id, the range that launched it ──> kernels below them
 *
 *   thread 1  |--- forward -------------------|           ROOT
 *               |-- aten::mm --|                           └ forward
 *                 |launch 7|                                  └ aten::mm
 *   stream 3            |-- gemm, launch 7 --|                   └ gemm
 *
 * A call that launched a kernel or a graph is no calling context of its own where both its work and
 * its caller are known: it would stand beside each kernel. The caller has it as launch_time and
 * launch_count.
 *
 * Traces are in no order that can be relied on: events are kept, some 50 bytes each, until the last
 * has come.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/activity.h"
#include "core/session.h"

/* Times that are not known. What has no time at all is left out, and counted as a loss; a range
 * that never ended lasts until the last event. */
#define TRACE_NO_TIME INT64_MIN
#define TRACE_NO_END  INT64_MAX

enum trace_id {
	TRACE_ID_NONE = 0,
	TRACE_ID_LAUNCH, /* a call: work with the same launch id was started by it */
	TRACE_ID_RANGE,  /* a range in which work with the same range id was started */
};

/* A range on a host thread, or within a kernel. */
struct trace_range {
	int64_t start_ns, end_ns;
	uint64_t id;
	uint32_t frame;
	uint32_t track; /* what can nest: ranges of one track */
	uint32_t lane;  /* process and thread */
	uint32_t base;  /* node below which the outermost ranges of a track are: SESSION_ROOT */
	uint32_t seq;   /* filled in: order of arrival */
	uint8_t id_is;  /* enum trace_id */
	bool in_kernel; /* times are cycles */
	bool placed;    /* `base` is its parent, whatever is around it */
};

/* A kernel, copy or set; or pages of unified memory (core/pages.h), which are no work. */
struct trace_work {
	int64_t start_ns, end_ns;
	uint64_t launch, range; /* ids, 0 = unknown */
	uint64_t bytes;
	uint64_t latency_ns; /* from its launch to its start, where the trace says it; else 0 */
	uint64_t thread;     /* that launched it, likewise */
	uint64_t context, stream; /* any numbers: some are handles; see trace_add_work() */
	uint32_t name;   /* string id; shown for a copy or set of which nothing else is known */
	uint32_t seq;    /* filled in */
	uint32_t parent; /* node, when the trace says it; else SESSION_NONE */
	uint32_t
		captured; /* of a graph's: see trace_captured(); 0: it is not known. Not beside a parent */
	uint32_t config;  /* of a kernel: see trace_config(); 0: it is not known */
	uint32_t process; /* whose launch ids these are; SESSION_NONE: of any */
	int32_t device;   /* -1 unknown */
	uint8_t kind;     /* enum activity_kind */
	uint8_t direction, src_kind, dst_kind; /* see struct activity */
	bool no_size; /* `bytes` is its share of what several moved, of whatever sizes they were */
	bool no_stream;   /* nobody says in which it ran: `stream` does not count */
	bool is_pages;    /* what they are says the name; `parent` is who allocated them */
	uint64_t n_pages; /* how many, where it is no bytes */
};

struct trace;
struct trace *trace_new(struct session *s); /* NULL: no memory */
struct trace *trace_free(struct trace *t);
static inline void trace_freep(struct trace **t)
{
	*t = trace_free(*t);
}

/* The process that `key` stands for, made with this pid when it is new; it has ended. Processes of
 * different traces should have different keys. SESSION_NONE: no memory. */
uint32_t trace_process(struct trace *t, uint64_t key, uint32_t pid);
/* The same; SESSION_NONE: it was not made. */
uint32_t trace_process_find(const struct trace *t, uint64_t key);
/* The lane of a thread on the host; SESSION_NONE: no memory, or no process. */
uint32_t trace_host_lane(struct trace *t, uint32_t process, uint64_t thread);
/* How a kernel was launched, as a number for trace_work; 0: it is not known. SESSION_NONE: no memory. */
uint32_t trace_config(struct trace *t, const struct launch_config *config);
/* What a call of the vendor's library is: one that waits for a device, or any other function. */
enum frame_kind trace_call_kind(const char *name);

/* 0 or -ENOMEM. What has no times, or ends before it starts, is counted as a loss and left out.
 * Contexts and streams of 2^31 or more do not fit into a lane: they are numbered from 2^31 on in
 * the order in which they come, so that different ones stay different. */
int trace_add_range(struct trace *t, const struct trace_range *range);
/* The same for a range of this kind and name (a string id), which fill in its frame. -ENOMEM also
 * when the name is STRTAB_NONE or the range has no lane. */
int trace_add_named_range(struct trace *t, struct trace_range *range, enum frame_kind kind,
			  uint32_t name);
int trace_add_work(struct trace *t, const struct trace_work *work);
/* A time in which not all was recorded, of whichever process; what others have of it counts once. 0 or -ENOMEM. */
int trace_add_unrecorded(struct trace *t, int64_t start_ns, int64_t end_ns,
			 enum unrecorded_reason reason);
/* What is known of a device, by its index; may come before or after the work. -E2BIG: too many. */
int trace_add_device(struct trace *t, const struct session_device *device);
/* The type of devices of which the trace does not say it; "CUDA" until it is set. */
void trace_set_device_type(struct trace *t, const char *type);

/* What a node of a graph was captured in, one frame (`name`: a string id) below what this returned for the one above
 * it; above: 0 for the outermost. Work that has it in `captured` stands below its launch, CAPTURED_AT and these frames,
 * as in a recording. SESSION_NONE: no memory, or `above` or `name` was none. */
uint32_t trace_captured(struct trace *t, uint32_t above, enum frame_kind kind, uint32_t name);

/* Make the session of all that was added. base_ns: CLOCK_REALTIME at time 0, ns; 0: not known.
 * 0 or -ENOMEM. */
int trace_finish(struct trace *t, int64_t base_ns);

/* Direction and kinds of memory from words such as "Memcpy HtoD (Pinned -> Device)",
 * "MEMORY_COPY_HOST_TO_DEVICE", "Memset (Managed)"; the kind of work too. */
void trace_parse_transfer(const char *name, struct trace_work *work);

#endif
