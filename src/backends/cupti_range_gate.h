/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_RANGE_GATE_H
#define PROTON_BACKENDS_CUPTI_RANGE_GATE_H
/* Calls of the program that make records, of all threads and contexts, where CUPTI runs kernels again. It hands over the records
 * of these by a forced flush alone, which takes others along that are not complete yet, without their times: so nothing may
 * be under way.
 *
 *   launch   enter ──────── leave    enter ·· waits ·· ─────── leave
 *   flush                         close ─ device idle, flush ─ open
 *
 * Neither waits for long: a flush that would is none, and a launch that has waited opens the gate, which whoever closed it
 * sees.
 *
 *   thread  any */
#include <stdbool.h>

void range_gate_enter(void);
void range_gate_leave(void);
/* Something is launched that must not wait. */
void range_gate_break(void);

/* One thread at a time. False: something is under way for too long, and it is open. */
bool range_gate_close(void);
bool range_gate_is_closed(void);
void range_gate_open(void);

#endif
