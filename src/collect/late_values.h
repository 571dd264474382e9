/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_LATE_VALUES_H
#define PROTON_COLLECT_LATE_VALUES_H
/* Values that are told when their launch has ended, in its epoch as long as that is the same (epoch_told_late()), and
 * some of which are not added one by one: what weighs a mean is beside it.
 *
 *     late_values_begin() ── which epoch? ── its slot ── its values ── late_values_end()
 *
 * One thread at a time is in there. An epoch that is left becomes the run's only after all have come out that may have
 * found it alive.
 *   thread  any; nobody waits for longer than two seconds, as for a thread that was ended in there */
#include <stdbool.h>

/* False: it was not to be had, and the values are told without. */
bool late_values_begin(void);
void late_values_end(bool has_begun);
/* The sender: is nobody in there who was when it asked? It does not wait, and asks again later. */
bool late_values_are_told(void);
/* In a fork child: whoever was in there stayed in the parent. */
void late_values_forked(void);

#endif
