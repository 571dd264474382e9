/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_ALONE_COMMAND_H
#define PROTON_COLLECT_ALONE_COMMAND_H
/* Where the command `proton` is that belongs to this library:
 *
 *     build tree      build/.libs/libproton.so.0    build/proton
 *     installation    PREFIX/lib/proton/            PREFIX/bin/proton    wherever PREFIX is now
 *     wheel           _lib/libproton.so.0           _lib/proton
 *
 *   thread  any; it allocates */
#include <limits.h>

enum { COMMAND_WHY_MAX = 256 };

/* $PROTON_COMMAND, else beside the library. -ENOENT: why says so, in words that go on "cannot start proton: ".
 * The variable is not read in a program that runs with more privileges than its caller. */
int command_find(char path[PATH_MAX], char why[COMMAND_WHY_MAX]);

#endif
