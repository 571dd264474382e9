/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_LEAST_H
#define PROTON_CORE_LEAST_H
/* A limit: what is below it is left out, but for what stands above something that is not.
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
/* What it limits. 0 or what column_parse() says. */
int least_parse(const struct least *x, const struct session *s, struct derived *ret);
/* Is a value enough, where that of everything is `whole`? */
static inline bool least_reached(const struct least *x, double v, double whole)
{
	return (x->value == 0 || v >= x->value) && !(x->share > 0 && !(v >= x->share * whole));
}
/* Narrow a mask (core/filter.h) by it. 0, -ENOMEM, or what column_parse() says. */
int least_apply(const struct least *x, uint8_t *mask, struct snapshot *snap);

#endif
