/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_KERNEL_SLICES_H
#define PROTON_COLLECT_KERNEL_SLICES_H
/* Scopes within kernels that have <proton/kernel.cuh>: what their warps leave in a ring of the device as they end, added up
 * below the kernel whose launch it is, once its record is there.
 *
 *     module ── names ─────────────────────────┐
 *     record ── number of the launch, slot ──┐ │
 *     ring ── slices ── sums by launch ──────┴─┴──> slots below the kernel's node      (whoever flushes)
 *
 *   thread  any */
#include <stddef.h>
#include <stdint.h>
#include "backends/backend.h"
#include "core/activity.h"

/* As the collector starts: a run that says that there are such kernels has them from their first launch on. */
void kernel_slices_begin(void);
/* A module that was loaded has a scope of this name, which kernels call so. */
void kernel_slices_name(uint32_t scope, const char *name, size_t len);
/* A kernel ran: its values are in this slot; WIRE_NONE: nobody wants to know what is within. */
void kernel_slices_ran(const struct activity *a, uint32_t slot);
/* What is there by now; also by whoever flushes backends, behind their records. */
void kernel_slices_flush(enum flush how);
void kernel_slices_forked(void);

#endif
