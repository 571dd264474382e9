/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_OPENMP_PLACES_H
#define PROTON_BACKENDS_OPENMP_PLACES_H
/* Constructs of a program, by the address that they return to.
 *
 *   "omp target", 0x401234 ──> "omp target saxpy"
 *
 * The first time, the function is looked for (symbols.h); then it is a look into a table. A module that
 * is loaded where another one was keeps the other's names.
 *   thread  any, no lock */
#include <stdint.h>
#include "backends/names.h"

/* A number of the place, for openmp_place_name(); 0: there is no room for it. Equal constructs are one
 * and the same string. */
uint32_t openmp_place(const char *construct, const void *code);
/* The construct and, where it is known, the function. NULL of 0. */
const struct name *openmp_place_name(uint32_t place);

#endif
