/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_TOOLKIT_H
#define PROTON_LAUNCH_TOOLKIT_H
/* Where NVIDIA's tools and libraries for developers lie: a CUDA toolkit, or a Python package that brings some of them.
 *   thread  one */
#include <stddef.h>

/* A program: in PATH, in a toolkit, or in Triton's package. malloc'd; NULL: it is nowhere. */
char *toolkit_find(const char *program);
/* The same, but that of Triton's package first: the package below the folder of `python`, a program, else of "python3". NULL as python:
 * the latter alone. */
char *toolkit_find_of_triton(const char *program, const char *python);
/* Of a library, the n-th place where it may lie, a path for dlopen(), from 0 on: malloc'd; NULL: there are no more. It is
 * looked for in toolkits and packages, where name is that of a file ("libnvJitLink.so.13"). */
char *toolkit_library(const char *name, size_t n);

#endif
