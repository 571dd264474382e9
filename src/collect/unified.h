/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_UNIFIED_H
#define PROTON_COLLECT_UNIFIED_H
/* Faults and migrations of unified memory. Nobody says which launch they are of, or of which of the program's threads:
 * they belong to who allocated what is at their address, else to the process.
 *
 * What was released last at an address is still known there, until something else is allocated: its records may come
 * after that of its release.
 *   thread  one at a time */
#include <stdint.h>
#include "core/activity.h"

/* node: of who allocated it. Only where these records are wanted anything is kept. */
void unified_allocated(uint64_t address, uint64_t bytes, uint32_t node);
void unified_add(uint8_t source, const struct memory_event *e);
void unified_forked(void);

#endif
