/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PROCESS_ORDER_H
#define PROTON_CORE_PROCESS_ORDER_H
/* Processes as people count them: whoever wrote the profile, and in whatever order they came, the same ranks are told in
 * the same order.
 *   thread  one */
#include "core/session.h"

/* All of them by rank; those without one behind them, as they came; malloc'd. NULL: out of memory. */
uint32_t *process_order_new(const struct session *s);

#endif
