/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_COLLECTIVE_H
#define PROTON_CORE_COLLECTIVE_H
/* Kernels in which ranks talk to each other. A rank that comes early waits inside: the longest time is
 * that of who waited most, not of who works slowest. */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"

/* Is it the name of one (NCCL, RCCL, all-reduce kernels of vLLM and PyTorch), raw or demangled? */
bool collective_is_name(const char *name);
/* By node: is it such a kernel? Malloc'd; NULL: out of memory. */
uint8_t *collective_nodes(const struct session *s);

#endif
