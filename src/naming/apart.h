/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_APART_H
#define PROTON_NAMING_APART_H
/* Names of C++ whose shortest forms are alike, told apart by as little as possible:
 *
 *     f<g, 4, traits<2, float, 3> >    f<g, 4>    f<g, 4, traits<3>>
 *     f<g, 4, traits<2, float, 5> >    f<g, 4>    f<g, 4, traits<5>>
 *
 * What is shown is chosen like a question in a game of guessing: by how many answers it may have, and by
 * how few characters these take. Who is alone after it is asked nothing more.
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>

/* The names of demangled ones, malloc'd; NULL for one that is no name of C++. Some may still be alike:
 * where nothing is found within bounds. They do not depend on the order in which they are given.
 * 0 or -ENOMEM: then nothing was made. */
int apart_names(const char *const whole[], size_t n, char *ret[]);
/* Is a text a name that a demangled one could have among whichever others? It has what the shortest one
 * has, and nothing that the longest one has not. */
bool apart_could_be(const char *whole, const char *text);

#endif
