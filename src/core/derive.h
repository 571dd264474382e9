/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DERIVE_H
#define PROTON_CORE_DERIVE_H
/* Metrics made of others, by name: "tflop16/s", "avg_time/us", "bytes/MiB", "time/%", "util".
 * proton-metrics(7) has the grammar; names are those of Triton's proton-viewer, in any case.
 *
 *   name ── derive_parse() ──> struct derived ── derive_column() ──> a value a node, NaN = absent
 *
 *   thread  one */
#include "base/human.h"
#include "core/peaks.h"
#include "core/snapshot.h"

enum derived_op {
	DERIVED_VALUE,    /* metric / factor */
	DERIVED_SHARE,    /* of the root (inclusive) or of the sum (exclusive), percent */
	DERIVED_OF_PARENT, /* percent */
	DERIVED_AVG,      /* metric / count / factor */
	DERIVED_RATE,     /* metric / seconds / factor */
	DERIVED_QUANTILE, /* of the durations, in ns / factor */
	DERIVED_UTIL,     /* share of the nearer roof, 0..1 */
	DERIVED_BOUND,    /* which roof that is: enum bound */
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
	bool plain;   /* no unit was asked for: the raw metric */
	uint32_t metric;
	double factor, share;
};

enum totals {         /* of inclusive values, when nodes are filtered out */
	TOTALS_OF_SHOWN,  /* count what is shown */
	TOTALS_OF_ALL,    /* count everything */
	TOTALS_UPSTREAM,  /* DERIVED_VALUE of a raw name counts what is shown, others everything */
};

/* 0; -ENOENT: no such metric in this session; -EINVAL: no such unit. */
int derive_parse(const struct session *s, const char *word, size_t len, struct derived *ret);
/* A raw metric by its name without unit, in any case, or METRIC_NONE. */
uint32_t derive_find(const struct session *s, const char *word, size_t len);

/* A limit: what is below it is left out, but for what stands above something that is not. */
struct least {
	const char *word; /* "time/ms,…": the first is limited; NULL = time */
	double value;     /* 0 = none */
	double share;     /* of the root's, 0..1; 0 = none */
	const struct peaks *peaks;
};
static inline bool least_any(const struct least *x)
{
	return x->value != 0 || x->share > 0;
}
/* What it limits. 0 or what derive_parse() says. */
int least_parse(const struct least *x, const struct session *s, struct derived *ret);
/* Is a value enough, where that of everything is `whole`? */
static inline bool least_reached(const struct least *x, double v, double whole)
{
	return (x->value == 0 || v >= x->value) && !(x->share > 0 && !(v >= x->share * whole));
}
/* Narrow a mask (core/filter.h) by it. 0, -ENOMEM, or what derive_parse() says. */
int least_apply(const struct least *x, uint8_t *mask, struct snapshot *snap);

struct derive;
/* peaks may be NULL: util is then not known. */
struct derive *derive_new(struct snapshot *snap, const struct peaks *peaks);
struct derive *derive_free(struct derive *d);
/* From now on nodes that are 0 in removed (never counted) or in shown do not count. Either may be
 * NULL; both are only referred to. Columns got before are gone. */
void derive_masks(struct derive *d, const uint8_t *removed, const uint8_t *shown, enum totals totals);
/* Valid until derive_masks() or derive_free(); NULL: out of memory. */
const double *derive_column(struct derive *d, const struct derived *m);
/* A raw metric over the nodes that count. */
const double *derive_raw(struct derive *d, uint32_t metric, bool inclusive);
/* Why util or bound could not be told for a device that has operations or bytes; NULL: it could. */
const char *derive_why(const struct derive *d);

/* A value of any metric, in its unit. */
void metric_print(char out[HUMAN_MAX], const struct metric *m, double v);

#endif
