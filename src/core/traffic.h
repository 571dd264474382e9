/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_TRAFFIC_H
#define PROTON_CORE_TRAFFIC_H
/* Copies of a run: from which memory to which, and of which sizes. From names of nodes ("memcpy HtoD pinned",
 * "memcpy PtoP 0 to 1", those of other tools), lanes, and the metrics of sizes.
 *   thread  one */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/human.h"
#include "core/activity.h"
#include "core/metric.h"
#include "core/numbers.h"
#include "core/peaks.h"
#include "core/session.h"

struct traffic_end {
	bool is_device;
	uint8_t memory;  /* of the host: enum memory_kind, as far as it is known */
	uint32_t device; /* SESSION_NONE: not known which */
};

struct traffic_pair {
	struct traffic_end from, to;
	double n, bytes, time_ns;
	double share;    /* of all bytes */
	double measured; /* rate that was measured between these memories, bytes a second; NaN: none */
};

/* Copies of one size, by direction; NaN: nobody counted sizes of copies that way. */
struct traffic_size {
	unsigned size; /* place, see metric_of_copies() */
	double n[COPY_N_DIRECTIONS], bytes[COPY_N_DIRECTIONS];
};

struct traffic {
	struct traffic_pair *pairs; /* those with the most bytes first */
	size_t n_pairs, cap_pairs;
	struct traffic_size sizes[N_COPY_SIZES]; /* the smallest first; those that there are */
	size_t n_sizes;
};

/* Finds all anew, of the contexts that count in `kept` (NULL: of all); peaks: NULL: nothing was measured. 0 or -ENOMEM (there is none then). Zeroed at first. */
int traffic_make(struct traffic *t, const struct session *s, const struct numbers *kept,
		 const struct peaks *peaks);
/* What they moved; NaN: nobody told (XLA). */
static inline double traffic_bytes(const struct traffic_pair *p)
{
	return p->bytes > 0 ? p->bytes : NAN;
}
/* Bytes per ns; NaN: not known, or they took no time. */
static inline double traffic_rate(const struct traffic_pair *p)
{
	return p->time_ns > 0 ? traffic_bytes(p) / p->time_ns : NAN;
}
/* The share of the rate that was measured between these memories; NaN: not known. */
static inline double traffic_of_measured(const struct traffic_pair *p)
{
	double rate = traffic_rate(p) * 1e9;

	return (p->from.is_device && p->to.is_device ? 2 * rate : rate) / p->measured;
}
void traffic_done(struct traffic *t);
#define TRAFFIC_NAME 96
/* "host pinned", "GPU0"; "a device": it is not known which. */
void traffic_end_name(const struct session *s, const struct traffic_end *end,
		      char out[TRAFFIC_NAME / 2]);
/* "host pinned to GPU0", "within GPU0". */
void traffic_pair_name(const struct session *s, const struct traffic_pair *p,
		       char out[TRAFFIC_NAME]);
/* "1 KiB to 2 KiB". */
void traffic_size_name(const struct traffic_size *z, char out[TRAFFIC_NAME]);

#define TRAFFIC_TITLE       "Copies, from where to where"
#define TRAFFIC_SIZES_TITLE "Sizes of copies"

/* Columns of both tables, as the report and the screen have them (struct traffic_pair *p, struct traffic_size *z).
 *    id         title       value       human  width rank  meaning */
/* clang-format off */
#define TRAFFIC_COLUMNS(_)                                                                         \
	_(bytes,     "BYTES",    traffic_bytes(p), bytes, 6, 0, "bytes moved")                      \
	_(share,     "%",        p->share,   percent, 5, 2, "share of the bytes of all of them")    \
	_(time,      "TIME",     p->time_ns, time_ns, 7, 3, "time on the device")                  \
	_(copies,    "COPIES",   p->n,       count,   6, 4, "how many")                            \
	_(mean,      "AVG SIZE", traffic_bytes(p) / p->n, bytes, 8, 5, "bytes of one copy")         \
	_(rate,      "GB/s",     traffic_rate(p), rate, 5, 1, "bytes per time on the device")        \
	_(measured,  "PEAK%",    traffic_of_measured(p), percent, 5, 6,                            \
	  "share of what proton doctor --measure measured of pinned copies")
#define TRAFFIC_SIZE_COLUMNS(_)                                                                    \
	_(down,       "HtoD",  z->n[COPY_HOST_TO_DEVICE],       count, 6, 0,                       \
	  "copies of this size from the host to a device")                                         \
	_(down_bytes, "BYTES", z->bytes[COPY_HOST_TO_DEVICE],   bytes, 6, 5, "their bytes")        \
	_(up,         "DtoH",  z->n[COPY_DEVICE_TO_HOST],       count, 6, 1,                       \
	  "copies of this size from a device to the host")                                         \
	_(up_bytes,   "BYTES", z->bytes[COPY_DEVICE_TO_HOST],   bytes, 6, 6, "their bytes")        \
	_(on,         "DtoD",  z->n[COPY_DEVICE_TO_DEVICE],     count, 6, 2,                       \
	  "copies of this size on a device")                                                       \
	_(on_bytes,   "BYTES", z->bytes[COPY_DEVICE_TO_DEVICE], bytes, 6, 7, "their bytes")        \
	_(peer,       "PtoP",  z->n[COPY_PEER_TO_PEER],         count, 6, 3,                       \
	  "copies of this size between devices")                                                   \
	_(peer_bytes, "BYTES", z->bytes[COPY_PEER_TO_PEER],     bytes, 6, 8, "their bytes")        \
	_(host,       "HtoH",  z->n[COPY_HOST_TO_HOST],         count, 6, 4,                       \
	  "copies of this size within the host")                                                   \
	_(host_bytes, "BYTES", z->bytes[COPY_HOST_TO_HOST],     bytes, 6, 9, "their bytes")
/* clang-format on */

#endif
