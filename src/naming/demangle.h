/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_DEMANGLE_H
#define PROTON_NAMING_DEMANGLE_H
/* Symbols of C++ and Rust as their languages write them, by libiberty.
 *
 * A symbol says by few characters what was said before: 350 of them can stand for more text than there are
 * atoms. Such a one stays as it is, and so does one whose text would take megabytes of the stack.
 *   thread  any */

/* malloc'd. NULL: it is no symbol, stays as it is, or memory is out. */
char *demangle(const char *symbol);

#endif
