/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LOAD_H
#define PROTON_LOAD_H
#include "core/session.h"

/* A profile or a tape, told by its content; "-" is standard input. On failure a line on stderr and
 * NULL. */
struct session *load_file(const char *path);

#endif
