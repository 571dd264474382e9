/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_LEAST_H
#define PROTON_CORE_LEAST_H
/* A limit: leave out nodes whose value is smaller, unless a node below them reaches it.
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/derive.h"

struct least {
	const char *word; /* "time/ms,…": the first number of these is limited; NULL = the time */
	double value;     /* 0 = none */
	double share;     /* of the root's, 0..1; 0 = none */
	const struct peaks *peaks;
};

static inline bool least_any(const struct least *x)
{
	return x->value != 0 || x->share > 0;
}
/* Which metric is limited. 0 or an error of column_parse(). */
int least_parse(const struct least *x, const struct session *s, struct derived *ret);
/* Does a value reach the limit? whole: the value of the root. */
static inline bool least_reached(const struct least *x, double v, double whole)
{
	return (x->value == 0 || v >= x->value) && !(x->share > 0 && !(v >= x->share * whole));
}
/* Apply the limit to a mask (core/filter.h). 0, -ENOMEM, or an error of column_parse(). */
int least_apply(const struct least *x, uint8_t *mask, struct snapshot *snap);

#endif
