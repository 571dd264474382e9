/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_LIBC_H
#define PROTON_BASE_LIBC_H
/* Turns off a change of glibc that we cannot use; config.h ends with an #include of this file.
 *
 * glibc 2.38 gives programs that ask for its extensions another strtol(), which reads "0b1" and
 * which older ones lack: a collector built there would not load in a container with an older
 * one. */
#include <features.h>

#undef __GLIBC_USE_C2X_STRTOL /* until glibc 2.40 */
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

#endif
