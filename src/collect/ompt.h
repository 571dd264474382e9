/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_OMPT_H
#define PROTON_COLLECT_OMPT_H
/* What libproton.so exports for runtimes of OpenMP. */
#include "backends/ompt_abi.h"
#include "collect/collect.h"

/* The tool of this runtime, ours or another's; NULL: none, or not in this place. */
EXPORT struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime);

#endif
