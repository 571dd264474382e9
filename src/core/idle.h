/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_IDLE_H
#define PROTON_CORE_IDLE_H
/* How long devices waited, why, and how long launches took to start; and the columns of tables of that, as the report
 * and the screen have them. The rows of a profile have it by calling context (metric.h, collect/idle.h).
 *   thread  one */
#include <math.h>
#include <stdbool.h>
#include "base/human.h"
#include "core/gaps.h"
#include "core/metric.h"
#include "core/session.h"

/* NaN: not known. */
struct idle {
	double ns, gaps, parts[GAP_N_PARTS];
	double launches, latency_ns, latency_max_ns; /* of those that were timed */
	double busy_ns, work_ns; /* as one, and of each kernel, copy and set, added up */
};

/* Of each device, in their order, from one pass over all rows. NULL: no memory, or no devices. The caller's, free(). */
struct idle *idle_new(const struct session *s);
/* Is anything known of its gaps or its launches? */
static inline bool idle_is_told(const struct idle *d)
{
	return !isnan(d->ns) || !isnan(d->launches);
}
static inline double idle_latency_ns(const struct idle *d)
{
	return d->launches > 0 ? d->latency_ns / d->launches : NAN;
}
/* How much work ran at a time, while any did. */
static inline double idle_at_once(const struct idle *d)
{
	return d->busy_ns > 0 ? d->work_ns / d->busy_ns : NAN;
}
/* How many launches were on their way at a time, from the first work to the last (Little's law). */
static inline double idle_depth(const struct idle *d)
{
	double span_ns = d->busy_ns + (isnan(d->ns) ? 0 : d->ns);

	return span_ns > 0 ? d->latency_ns / span_ns : NAN;
}
#define IDLE_TITLE    "What they waited for, between their work"
#define IDLE_OF_TITLE "Calling contexts by the time that devices waited for their work"

/* Of a device (struct idle *d).
 *    id         title        value                       human    width rank  meaning */
/* clang-format off */
#define IDLE_COLUMNS(_)                                                                            \
	_(idle,    "IDLE",      d->ns,                  time_ns, 7, 0,                             \
	  "time without work, between the first and the last")                                     \
	_(late,    "LATE",      d->parts[GAP_LATE],     time_ns, 7, 1,                             \
	  "of that: nothing was launched, for the host did something else")                        \
	_(sync,    "SYNC",      d->parts[GAP_SYNC],     time_ns, 7, 2,                             \
	  "of that: … for it had waited until the device was done (--sync)")                       \
	_(copy,    "COPY",      d->parts[GAP_COPY],     time_ns, 7, 3,                             \
	  "of that: … for it had waited in a copy that blocks")                                    \
	_(launch,  "LAUNCH",    d->parts[GAP_LAUNCH],   time_ns, 7, 4,                             \
	  "of that: the next was being launched")                                                  \
	_(queued,  "QUEUED",    d->parts[GAP_QUEUED],   time_ns, 7, 5,                             \
	  "of that: the next was there, and waited for something else")                            \
	_(gaps,    "GAPS",      d->gaps,                count,   6, 7, "how often")                \
	_(graphs,  "IN GRAPHS", d->parts[GAP_GRAPH],    time_ns, 9, 8,                             \
	  "beside that: between nodes of graphs, which recording them may have made")              \
	_(latency, "LATENCY",   idle_latency_ns(d),     time_ns, 7, 6,                             \
	  "mean time from the call of a launch to its start")                                      \
	_(longest, "LONGEST",   d->latency_max_ns,      time_ns, 7, 11, "the longest of these")    \
	_(depth,   "DEPTH",     idle_depth(d),          rate,    5, 9,                             \
	  "launches that were on their way at a time, on average")                                 \
	_(at_once, "AT ONCE",   idle_at_once(d),        rate,    7, 10,                            \
	  "kernels, copies and sets that ran at a time, while any did, on average")

/* … for programs, which know parts by the names of their metrics: whole numbers, and what is none.
 *    key                   title                       value */
#define IDLE_NUMBERS(_)                                                                            \
	_(busy_ns,              "busy (ns)",                d->busy_ns)                            \
	_(work_ns,              "work (ns)",                d->work_ns)                            \
	_(idle_ns,              "idle (ns)",                d->ns)                                 \
	_(idle_late_ns,         "idle_late (ns)",           d->parts[GAP_LATE])                    \
	_(idle_sync_ns,         "idle_sync (ns)",           d->parts[GAP_SYNC])                    \
	_(idle_copy_ns,         "idle_copy (ns)",           d->parts[GAP_COPY])                    \
	_(idle_launch_ns,       "idle_launch (ns)",         d->parts[GAP_LAUNCH])                  \
	_(idle_queued_ns,       "idle_queued (ns)",         d->parts[GAP_QUEUED])                  \
	_(idle_in_graphs_ns,    "idle_in_graphs (ns)",      d->parts[GAP_GRAPH])                   \
	_(idle_gaps,            "idle_gaps",                d->gaps)                               \
	_(launches_timed,       "launches_timed",           d->launches)                           \
	_(launch_latency_ns,    "launch_latency (ns)",      d->latency_ns)                         \
	_(launch_latency_max_ns, "launch_latency_max (ns)", d->latency_max_ns)
#define IDLE_RATIOS(_)                                                                             \
	_(queue_depth,          "queue_depth",              idle_depth(d))                         \
	_(concurrency,          "concurrency",              idle_at_once(d))

/* Of a calling context.
 *    metric       title     form   human   width rank  meaning */
#define IDLE_OF_COLUMNS(_)                                                                         \
	_(IDLE,        "IDLE",   TIME,  time_ns, 7, 0, "time that devices had no work before its own") \
	_(IDLE_LATE,   "LATE",   TIME,  time_ns, 7, 1,                                             \
	  "of that: it was not launched yet, for the host did something else")                     \
	_(IDLE_SYNC,   "SYNC",   TIME,  time_ns, 7, 2,                                             \
	  "of that: … for it had waited until the device was done (--sync)")                       \
	_(IDLE_COPY,   "COPY",   TIME,  time_ns, 7, 3,                                             \
	  "of that: … for it had waited in a copy that blocks")                                    \
	_(IDLE_LAUNCH, "LAUNCH", TIME,  time_ns, 7, 4, "of that: it was being launched")           \
	_(IDLE_QUEUED, "QUEUED", TIME,  time_ns, 7, 5,                                             \
	  "of that: it had been launched, and waited for something else")                          \
	_(IDLE_GAPS,   "GAPS",   COUNT, count,   6, 6, "how often")
/* clang-format on */

#endif
