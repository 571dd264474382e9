/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_CUPTI_BIND_H
#define PROTON_BACKENDS_CUPTI_BIND_H
#include "backends/cupti_abi.h"

/* The functions of a libcupti that is loaded; those that it may be without are NULL then. NULL, or the name of the first
 * one that it must have and has not.
 *   thread  any */
const char *cupti_bind(void *library, struct cupti_api *ret);

#endif
