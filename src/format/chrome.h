/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_CHROME_H
#define PROTON_FORMAT_CHROME_H
/* Chrome traces (the Trace Event Format), as Triton's Proton, torch.profiler and converters of
 * nsys reports write them. docs/formats.md has the rules.
 *
 *   bytes ── chrome_parse.c ──> one event after the other ── chrome_read.c ──> trace.h ──> session
 */
#include "core/launch_config.h"
#include "format/format.h"
#include "format/json_input.h"

bool chrome_detect(const char *head, size_t n);
int chrome_read(struct reader_input *in, struct session *s, struct format_error *error);
struct warp_trace;
/* Single scopes within kernels (format/warps.h). 0, or a negative errno with *error set. */
int chrome_read_warps(struct reader_input *in, struct warp_trace *t, struct format_error *error);
/* -ENODATA: the session has no trace. */
int chrome_write(const struct session *s, const struct write_options *options, struct out *out);

struct chrome_metric {
	uint32_t name; /* string id */
	double value;
};

/* One event, by its keys. String ids are those of the session; a key that was missing leaves 0. */
struct chrome_event {
	uint32_t name, cat, pid, tid; /* string ids; numbers as their text */
	int64_t ts_ns, dur_ns;
	uint64_t correlation, external, context, stream, bytes, latency_ns, thread;
	uint64_t n_pages; /* of our own category: how many, where it is no bytes */
	int32_t device;   /* -1: not said */
	uint32_t arg_name, reason;
	uint64_t graph_node;      /* the vendor's number of a node of a CUDA graph; 0: it is none */
	uint64_t original_stream; /* where it ran, of an event that was moved to another track */
	uint32_t arg_str, module, phase; /* what else PyTorch says of such a node (annotations.h) */
	char ph;
	bool has_ts, has_dur, has_stream, has_original_stream, in_cycles;
	struct launch_config config; /* of a kernel; all of its shared memory is the static one */
	bool is_mean;                /* its bytes are a share of what several copies moved */
	uint32_t *call_stack;        /* string ids, outermost first */
	size_t n_call_stack, cap_call_stack;
	struct chrome_metric *metrics;
	size_t n_metrics, cap_metrics;
};

/* Where the parser delivers what it found. The functions return 0, or a negative errno, which ends
 * the reading. */
struct chrome_sink {
	int (*event)(void *ctx, const struct chrome_event *event);
	int (*device)(void *ctx, const struct session_device *device);
	void *ctx;
};

/* What the document says apart from its events. */
struct chrome_document {
	int64_t base_ns;     /* CLOCK_REALTIME of ts 0; 0: not said */
	int32_t rank;        /* -1: not said */
	uint64_t garbage_at; /* what follows the document, 0 = nothing */
	bool unfinished;     /* the list of events was never closed */
};

int chrome_parse(struct reader_input *in, struct session *s, const struct chrome_sink *sink,
		 struct chrome_document *ret, struct format_error *error);

#endif
