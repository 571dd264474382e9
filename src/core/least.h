/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_LEAST_H
#define PROTON_CORE_LEAST_H
/* A limit: leave out nodes whose value is smaller, unless a node below them reaches it.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "base/units.h"
#include "core/derive.h"

struct least {
	/* "time/ms,…": the first number of these is limited; NULL = the time. An amount of time is
	 * always of that; one of bytes, where that number is in none, of the bytes moved. */
	const char *word;
	struct amount at; /* 0 = none */
	double share;     /* of the root's, 0..1; 0 = none */
	const struct peaks *peaks;
};

static inline bool least_any(const struct least *x)
{
	return x->at.value != 0 || x->share > 0;
}
/* Which metric is limited, as values that compare with the amount. 0, an error of column_parse(), or
 * -EDOM: it has none of the amount's unit. */
int least_parse(const struct least *x, const struct session *s, struct derived *ret);
/* Does a value reach the limit? whole: the value of the root. */
static inline bool least_reached(const struct least *x, double v, double whole)
{
	return (x->at.value == 0 || v >= x->at.value) &&
	       !(x->share > 0 && !(v >= x->share * whole));
}
/* Apply the limit to a mask (core/filter.h). 0, -ENOMEM, or an error of least_parse(). */
int least_apply(const struct least *x, uint8_t *mask, struct snapshot *snap);

#endif
