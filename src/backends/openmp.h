/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_OPENMP_H
#define PROTON_BACKENDS_OPENMP_H
/* The OpenMP backend, as the collector's door sees it. */

struct ompt_tool;

/* What the runtime is told of us; NULL when the backend is not started: then there is no tool.
 *   thread  any: a runtime calls it once, while it starts */
struct ompt_tool *openmp_tool(void);

#endif
