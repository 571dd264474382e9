/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_WARPS_H
#define PROTON_FORMAT_WARPS_H
/* Single scopes of warps within kernels, from files and to files:
 *
 *   .warps, of our own (intra/warp_file.h) ──┐                  ┌──> warps_session(): sums by calling context
 *   buffers of Triton's Proton ──────────────┼──> warp_trace ───┼──> warps_chrome(): its own trace
 *   traces of Triton's Proton ───────────────┘                  └──> warps_perfetto()
 *
 *   threads  one */
#include "core/frame_names.h"
#include "core/session.h"
#include "format/out.h"
#include "format/reader.h"
#include "intra/warp_records.h"
#include "intra/warp_trace.h"

/* What is said of a file besides its scopes. */
struct warps_said {
	uint64_t n_missing; /* bytes at its end, or more: it was not whole */
	struct warp_losses losses;
	uint64_t n_dropped; /* warps that found no room */
};

/* The scopes of a profile's file, or, where these are sums alone, of the file that lies beside it. 0, also where launches
 * were left out and none is there; -ENODATA: there are none; else a negative errno with *error set, of the file that *ret_path names (malloc'd, also with 0). t was initialised. */
int warps_load(const char *path, struct warp_trace *t, struct warps_said *ret_said, char **ret_path,
	       struct format_error *error);

/* ---- of the formats ---- */

bool warps_detect(const char *head, size_t n);
/* A file of one of the first two. 0, or a negative errno with *error set. */
int warps_read_trace(struct reader_input *in, struct warp_trace *t, struct warps_said *ret_said,
		     struct format_error *error);
bool warp_dump_detect(const char *head, size_t n);
int warp_dump_read(struct reader_input *in, struct warp_trace *t, struct warp_losses *losses,
		   struct format_error *error);
/* Add sums of scopes to a session, below their kernels in their calling contexts. 0 or -ENOMEM. */
int warps_session(const struct warp_trace *t, struct session *s);

/* ---- writing ---- */

struct warps_write_options {
	enum name_mode names;        /* of kernels */
	const struct naming *naming; /* NULL: they stay raw */
	bool in_ns;                  /* else a cycle is a nanosecond, as Triton's Proton has it */
	bool compact;                /* no line breaks */
	uint32_t cost;               /* cycles of a record, which are taken out; 0: nothing is */
};

/* 0, -ENODATA (there are no scopes), -ENOMEM, or the error of `out`. */
int warps_chrome(const struct warp_trace *t, const struct warps_write_options *o, struct out *out);
int warps_perfetto(const struct warp_trace *t, const struct warps_write_options *o,
		   struct out *out);

#endif
