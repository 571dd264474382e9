/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_COUNTED_WORK_H
#define PROTON_COLLECT_COUNTED_WORK_H
/* What hardware counters said of operations: samples of a device (core/counted_samples.h) that are of one alone
 * (core/attribution.h) become values of it.
 *
 *   taker of intervals ──> operations ──┐
 *   helper of proton ── file ──> samples ┴── settled ──> slots
 *
 * As gaps do, a sample waits until all is there that began before its end (collect/idle.h), in each process of the run
 * that has work on the device; for a second, so that they have said that they are there, and for two at most: then it is
 * nobody's. They are values of no session.
 *   thread  who takes intervals */
#include <stdbool.h>
#include <stdint.h>
#include "wire/wire.h"

/* n of one device. */
void counted_work_add(uint32_t device, const struct wire_epoch_interval *v, uint32_t n);
/* False: some of what came before is not known. */
void counted_work_settle(bool is_whole);
/* Something is not known until now: no sample before is anybody's. */
void counted_work_break(void);
void counted_work_forked(void);

#endif
