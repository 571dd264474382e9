/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PARTED_H
#define PROTON_CORE_PARTED_H
/* What a filter parts. A program gives its bytes and operations to a scope, for all the work within:
 *
 *     layer: 6 GB            layer: 6 GB?      nobody knows how much of them is transpose's: where
 *       matmul   7.5 s         transpose       work below is left out, they are absent.
 *       transpose  1 s
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"

/* Is it a metric of all the work within a node? Times and counts are of what has them alone. */
bool parted_metric(const struct session *s, uint32_t metric);
/* From work that is left out, 1 a node in `parted`, to what it parts: all above it, and not itself. */
void parted_above(const uint32_t *parents, uint32_t n, uint8_t *parted);

#endif
