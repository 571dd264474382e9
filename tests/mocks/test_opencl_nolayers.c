/* SPDX-License-Identifier: MIT */
/* Stands in for an OpenCL loader that knows no layers: it has the name, and nothing else. */
#include "config.h" // IWYU pragma: keep

extern int nothing;
__attribute__((visibility("default"))) int nothing;
