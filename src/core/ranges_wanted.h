/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_RANGES_WANTED_H
#define PROTON_CORE_RANGES_WANTED_H
/* Which hardware metrics are measured, and of what (record --metrics). proton tells its collectors by a file in the
 * session's directory, a line a metric, in words that the decoder of no other file needs:
 *
 *   replay kernel                    or none: all of them in one pass
 *   range kernel                     enum ranges_of
 *   metric sum byte dram__bytes.sum  how it adds up, its unit ("-": none), its name
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANGES_FILE "metrics"
/* How long a kernel ran, in ns: records of kernels that are replayed have no times, so it is counted with others. */
#define RANGES_DURATION "gpu__time_duration.sum"
/* What each place has beside what was counted: how many kernels or ranges, and how long these took. */
#define RANGES_COUNT "measured"
#define RANGES_TIME  "measured_time (ns)"
enum { RANGES_METRICS_MAX = 60 }; /* a set on the wire has 64 */

enum ranges_replay {
	RANGES_ONCE,    /* a range is pushed around each launch: all is counted in one pass */
	RANGES_KERNELS, /* CUPTI runs each kernel as often as there are passes */
	RANGES_N_REPLAYS
};
extern const char *const ranges_replay_words[RANGES_N_REPLAYS];

/* What a range is around. */
enum ranges_of {
	RANGES_OF_KERNELS,
	RANGES_OF_SCOPES, /* what is launched in the innermost scope, or range of NVTX */
	RANGES_OF_NVTX,   /* … in the innermost range of NVTX */
	RANGES_OF_GRAPHS, /* the launch of a CUDA graph */
	RANGES_N_OF
};
extern const char *const ranges_of_words[RANGES_N_OF];

struct range_metric {
	char *name, *unit;
	uint8_t add; /* enum metric_add */
};

struct ranges_wanted {
	enum ranges_replay replay;
	enum ranges_of of;
	size_t n;
	struct range_metric metrics[RANGES_METRICS_MAX];
};

/* What each run of the program measures: one, but for application replay. */
struct ranges_runs {
	struct ranges_wanted *of;
	size_t n;
};

/* How a metric adds up over kernels, by what stands behind its name; what is no sum and no extreme is a mean, weighted by
 * time. */
uint8_t range_metric_add(const char *name);
/* Is it a name of CUPTI's: "dram__bytes.sum"? */
bool range_metric_is(const char *name);
/* Is it counted by code that CUPTI adds to a kernel, which it does only where it runs that again by itself? In ranges of
 * ours it would be 0. */
bool range_metric_is_added(const char *name);
/* By a word: "sum", "max", "min", "mean", or in capitals. -1: it is none. */
int range_metric_add_of(const char *word);

/* The text of such a file; free() it. NULL: no memory. */
char *ranges_wanted_text(const struct ranges_wanted *w);
/* False: it is no such text, or no memory. ranges_wanted_done() in either case. */
bool ranges_wanted_parse(const char *text, struct ranges_wanted *ret);
/* One that is there already stays as it is. False: no memory, or too many. */
bool ranges_wanted_add(struct ranges_wanted *w, const char *name, const char *unit, uint8_t add);
bool ranges_wanted_has(const struct ranges_wanted *w, const char *name);
void ranges_wanted_done(struct ranges_wanted *w);
/* One more, empty; valid until the next. NULL: no memory. */
struct ranges_wanted *ranges_runs_new(struct ranges_runs *runs);
void ranges_runs_done(struct ranges_runs *runs);

#endif
