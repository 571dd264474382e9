/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_DEVICE_ORDER_H
#define PROTON_CORE_DEVICE_ORDER_H
/* Devices as people count them: a session has them in the order in which it heard of them, which of several ranks is
 * another one in each run.
 *   thread  one */
#include "core/session.h"

/* Which of two devices comes first, by host, type and number, for qsort(); one that is not known comes last. */
int device_compare(const struct session *s, uint32_t a, uint32_t b);
/* All of them in that order ("node2" before "node10"); malloc'd. NULL: out of memory. */
uint32_t *device_order_new(const struct session *s);

#endif
