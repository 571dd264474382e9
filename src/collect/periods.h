/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PERIODS_H
#define PROTON_COLLECT_PERIODS_H
/* Steps of a program that names none: what runs on a stream again and again (core/period.h), told as values of the root
 * on the first lane of that stream, from the start of one to the start of the next. Only of backends that say what is all
 * there (idle.h), for the order of operations is what a step is known by.
 *   thread  whoever holds the taker's place (intervals.c); periods_reset(): any */
#include <stdbool.h>
#include <stdint.h>
#include "wire/wire.h"

/* n of them, in any order. */
void periods_add(const struct wire_epoch_interval *v, uint32_t n);
/* All that began before the times of the last idle_look() is there; is_whole: but for what was lost. */
void periods_settle(bool is_whole);
void periods_look(void);   /* values of what is known by now */
void periods_reset(void);  /* as of now there were none */
void periods_forked(void); /* in a fork child */

#endif
