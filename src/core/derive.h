/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DERIVE_H
#define PROTON_CORE_DERIVE_H
/* Metrics made of others, by name: "tflop16/s", "avg_time/us", "bytes/MiB", "time/%", "util".
 * proton-metrics(7) has the grammar; names are those of Triton's proton-viewer, in any case.
 *
 *   name ── derive_parse() ──> struct derived ── derive_column() ──> a value a node, NaN = absent
 *
 *   thread  one */
#include "core/peaks.h"
#include "core/snapshot.h"

enum derived_op {
	DERIVED_VALUE,     /* metric / factor */
	DERIVED_SHARE,     /* of the root (inclusive) or of the sum (exclusive), percent */
	DERIVED_OF_PARENT, /* percent */
	DERIVED_AVG,       /* metric / count / factor */
	DERIVED_SAMPLED, /* of the time of the samples that it is of, percent (counter_samples_time) */
	DERIVED_RATE,    /* metric / seconds of what has it / factor */
	DERIVED_NOW,     /* increase in the last window, a second, / factor */
	DERIVED_QUANTILE,   /* of the durations, in ns / factor */
	DERIVED_UTIL,       /* share of the nearer roof, 0..1 */
	DERIVED_BOUND,      /* which roof that is: enum bound */
	DERIVED_AT_COMPUTE, /* parts of the two above: seconds at the compute roof, */
	DERIVED_AT_MEMORY,  /* seconds at the memory roof, */
	DERIVED_COMPUTING,  /* and seconds that what has operations, */
	DERIVED_MOVING,     /* and what has bytes, really took */
	DERIVED_WORK,       /* the metric, of what has time on a device: what of it rates divide, */
	DERIVED_WORK_TIME,  /* and by what: device time of what has values of the metric */
	DERIVED_LAUNCHED,   /* executions; absent where a filter left out some of those within */
	DERIVED_SOURCE,     /* who says how much the work is: enum work_source */
	DERIVED_GIVEN, /* parts of it: seconds of what the profile itself gives operations or bytes, */
	DERIVED_COUNTED,  /* and of what has them by hardware counters (core/measured_work.h) */
	DERIVED_MEASURED, /* what hardware counters say of a metric, where nothing else does, */
	DERIVED_MEASURED_TIME, /* and the time of the kernels that it is of, in ns */
};

/* Metadata of the program and records of copies go before what was counted. */
enum work_source { WORK_GIVEN, WORK_COUNTED, WORK_OF_BOTH, WORK_N_SOURCES };
const char *work_source_word(enum work_source source);
/* From seconds of each, NaN: none. */
double derive_source(double given, double counted);

enum bound { BOUND_NEITHER = 0, BOUND_COMPUTE, BOUND_MEMORY, BOUND_N };
const char *bound_word(enum bound bound);
/* util or bound of work that reaches this share of each roof, NaN where there is none of it. */
double derive_roofline(enum derived_op op, double compute, double memory);
#define BOUND_AT_LEAST 0.6 /* of a roof; below it, neither: the rule of Nsight Compute */

struct derived {
	uint8_t op; /* enum derived_op */
	bool inclusive;
	bool is_said; /* "(inc)" or "(exc)" was given; if not, a view may choose */
	bool plain;   /* no unit was asked for: the raw metric */
	uint32_t metric;
	double factor;
	double share; /* of DERIVED_QUANTILE: 0..1, or HISTS_DEVIATION */
};

/* A value that is a word, as of bound; NULL: values of m are none. */
const char *derived_word(const struct derived *m, double v);

/* util, bound and source: of no metric of the profile, and of a kernel alone unless "(inc)" is said. */
static inline bool derived_is_roofline(const struct derived *m)
{
	return m->op == DERIVED_UTIL || m->op == DERIVED_BOUND || m->op == DERIVED_SOURCE;
}

enum totals {                  /* of inclusive values, when nodes are filtered out */
	      TOTALS_OF_SHOWN, /* count what is shown */
	      TOTALS_OF_ALL,   /* count everything */
	      TOTALS_UPSTREAM, /* DERIVED_VALUE of a raw name counts what is shown, others everything */
};

/* Floating-point operations of any width. No session has this metric: it is the sum of several. */
#define METRIC_ANY_FLOPS (METRIC_NONE - 1)
/* The description of a metric, METRIC_ANY_FLOPS included; NULL: there is no such metric. */
const struct metric *derive_metric(const struct session *s, uint32_t metric);
/* What METRIC_ANY_FLOPS comes to in a session: the one width that it has values of, METRIC_FLOPS
 * where it has none, else METRIC_ANY_FLOPS. */
uint32_t derive_flops(const struct session *s);
/* The time that a profile is about: METRIC_TIME, or METRIC_CPU_TIME where no work of the program ran on
 * a device, but scopes have time on the host. */
uint32_t derive_time(const struct session *s);
/* Values of a metric in the order of its parts: those whose sum it is, else itself. False: there are
 * no more. */
bool derive_part(uint32_t metric, size_t i, uint32_t *ret);

/* What a value is divided by, a derived metric too; it is inclusive where the value is. False: by
 * nothing, or by a whole. A mean of host time is divided by all that was launched meanwhile, which is
 * below the node, though host time itself is exclusive; it is of all of it, and absent where a filter left
 * out a part (core/parted.h). A rate is over the time of what has values of
 * the metric: kernels whose bytes nobody knows say nothing of how fast others copied. Operations and bytes that
 * hardware counters know of kernels that nobody told of are a part of it (DERIVED_MEASURED), over their own time. */
bool derived_divisor(const struct derived *m, bool inclusive, struct derived *ret);
/* The column that is divided: the metric's own; of a rate without what has no time, as bytes of kernels
 * of which nobody knows how long they took. */
struct derived derived_dividend(const struct derived *m, bool inclusive);
/* The value of a derived metric. by: its divisor, for a share the whole; ignored when it has none.
 * NaN: absent. */
double derived_quotient(const struct derived *m, double of, double by);

/* 0; -ENOENT: no such metric in this session; -EINVAL: no such unit. */
int derive_parse(const struct session *s, const char *word, size_t len, struct derived *ret);
/* A raw metric by its name without unit, in any case, or METRIC_NONE. */
uint32_t derive_find(const struct session *s, const char *word, size_t len);
/* Is it a number that is the program's own, not built in or of scopes within kernels, and not a property of its context? */
bool derive_is_own(const struct session *s, uint32_t metric);
/* The one of these with exactly this name, or METRIC_NONE. It goes before what is made of others. */
uint32_t derive_own(const struct session *s, const char *word, size_t len);

struct derive;
/* peaks may be NULL: util is then not known. */
struct derive *derive_new(struct snapshot *snap, const struct peaks *peaks);
struct derive *derive_free(struct derive *d);
/* From now on nodes that are 0 in removed (never counted) or in shown do not count. Either may be
 * NULL; both are only referred to. Columns got before are gone. */
void derive_masks(struct derive *d, const uint8_t *removed, const uint8_t *shown,
		  enum totals totals);
/* Valid until derive_masks() or derive_free(); NULL: out of memory. */
const double *derive_column(struct derive *d, const struct derived *m);
/* A raw metric over the nodes that count. */
const double *derive_raw(struct derive *d, uint32_t metric, bool inclusive);
/* The same, but NULL when no row of the profile has a value of the metric. */
const double *derive_used(struct derive *d, uint32_t metric, bool inclusive);
/* The increase of a metric in the last window, per second; NULL: unknown. */
const double *derive_now(struct derive *d, uint32_t metric, bool inclusive);
/* Histograms of the nodes that count, made when first asked for; NULL: out of memory. */
struct hists *derive_hists(struct derive *d);
/* Has any row of the profile what m is made of? A rate may be of what hardware counters said. */
bool derive_has_terms(struct derive *d, const struct derived *m);
/* Has any node a value? */
bool derive_has(struct derive *d, const struct derived *m);

/* The columns that a derived metric is computed from. With these kept, the value of one node costs
 * one division, and no column is computed for nodes that nobody looks at. All zero at first. */
struct derived_terms {
	uint64_t generation; /* of the columns */
	const double *of, *by;
	double all;
};
/* The value of one node. An inclusive share is a share of the value of the node `whole`. */
double derive_at(struct derive *d, const struct derived *m, struct derived_terms *terms,
		 uint32_t node, uint32_t whole);
/* Over which share of a node's time, with what is below it, a rate is: 0..1. NaN: there is no rate, or it is
 * over all of it, within what a person would see. */
double derive_rate_part(struct derive *d, const struct derived *rate, uint32_t node);
/* Why util or bound could not be told for a device that has operations or bytes; NULL: it could. */
const char *derive_why(const struct derive *d);

#endif
