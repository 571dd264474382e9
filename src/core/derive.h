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
	DERIVED_VALUE,      /* metric / factor */
	DERIVED_SHARE,      /* of the root (inclusive) or of the sum (exclusive), percent */
	DERIVED_OF_PARENT,  /* percent */
	DERIVED_AVG,        /* metric / count / factor */
	DERIVED_RATE,       /* metric / seconds / factor */
	DERIVED_NOW,        /* increase in the last window, a second, / factor */
	DERIVED_QUANTILE,   /* of the durations, in ns / factor */
	DERIVED_UTIL,       /* share of the nearer roof, 0..1 */
	DERIVED_BOUND,      /* which roof that is: enum bound */
	DERIVED_AT_COMPUTE, /* what these two are made of: seconds that the work takes at a roof, */
	DERIVED_AT_MEMORY,
	DERIVED_AT_TIME, /* and those that it took */
};

enum bound { BOUND_NEITHER = 0, BOUND_COMPUTE, BOUND_MEMORY, BOUND_N };
const char *bound_word(enum bound bound);
/* util or bound of work that takes so many seconds at each roof, NaN where there is none of it. */
double derive_roofline(enum derived_op op, double compute, double memory, double time);
#define BOUND_AT_LEAST 0.6 /* of a roof; below it, neither: the rule of Nsight Compute */

struct derived {
	uint8_t op; /* enum derived_op */
	bool inclusive;
	bool is_said; /* which of the two: "(inc)" or "(exc)"; else views of what is exclusive choose */
	bool plain; /* no unit was asked for: the raw metric */
	uint32_t metric;
	double factor;
	double share; /* of DERIVED_QUANTILE: 0..1, or HISTS_DEVIATION */
};

enum totals {                  /* of inclusive values, when nodes are filtered out */
	      TOTALS_OF_SHOWN, /* count what is shown */
	      TOTALS_OF_ALL,   /* count everything */
	      TOTALS_UPSTREAM, /* DERIVED_VALUE of a raw name counts what is shown, others everything */
};

/* Floating-point operations of any width: no metric of a session, but one to whatever adds up. */
#define METRIC_ANY_FLOPS (METRIC_NONE - 1)
/* What is known of a metric, of that one too; NULL: there is none. */
const struct metric *derive_metric(const struct session *s, uint32_t metric);

/* The metric that a value is divided by; METRIC_NONE: by none. */
static inline uint32_t derived_divisor(const struct derived *m)
{
	return m->op == DERIVED_AVG    ? METRIC_COUNT
	       : m->op == DERIVED_RATE ? METRIC_TIME
				       : METRIC_NONE;
}
/* Is that one to count what is below? Time on the host is exclusive, what ran meanwhile is not. */
static inline bool derived_divides_inclusive(const struct derived *m, bool inclusive)
{
	return inclusive || (m->op == DERIVED_AVG && m->metric == METRIC_CPU_TIME);
}
/* The one formula of what is made of a metric and its divisor (NaN: without one), or of the whole that
 * it is a share of. NaN: absent. */
double derived_quotient(const struct derived *m, double of, double by);

/* 0; -ENOENT: no such metric in this session; -EINVAL: no such unit. */
int derive_parse(const struct session *s, const char *word, size_t len, struct derived *ret);
/* A raw metric by its name without unit, in any case, or METRIC_NONE. */
uint32_t derive_find(const struct session *s, const char *word, size_t len);

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
/* The same, or NULL where no row of the profile has a value of it. */
const double *derive_used(struct derive *d, uint32_t metric, bool inclusive);
/* Its increase in the last window, a second; NULL: unknown. */
const double *derive_now(struct derive *d, uint32_t metric, bool inclusive);
/* Histograms of the nodes that count, made when first asked for; NULL: out of memory. */
struct hists *derive_hists(struct derive *d);
/* Has any node a value? */
bool derive_has(struct derive *d, const struct derived *m);

/* Columns that a metric is made of, fetched once: then a value of one node costs a quotient, and no
 * column is made for what nobody looks at. All zero at first. */
struct derived_terms {
	uint64_t generation; /* of the columns */
	const double *of, *by;
	double all;
};
/* The value of one node; a share of what is inclusive is one of the node `whole`. */
double derive_at(struct derive *d, const struct derived *m, struct derived_terms *terms,
		 uint32_t node, uint32_t whole);
/* Why util or bound could not be told for a device that has operations or bytes; NULL: it could. */
const char *derive_why(const struct derive *d);

#endif
