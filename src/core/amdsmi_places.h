/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_AMDSMI_PLACES_H
#define PROTON_CORE_AMDSMI_PLACES_H
/* Where AMD's management library may be: who asks devices and `proton doctor` know it. Names only;
 * nothing is opened. ROCm's packages do not always tell ld.so of their folder.
 *   thread  any */
#include <stddef.h>

/* The i-th name for dlopen(), newest first. path: where it may be written. NULL: there are no more. */
const char *amdsmi_place(size_t i, char *path, size_t size);

#endif
