/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_TABLE_H
#define PROTON_NAMING_TABLE_H
/* The names in a table's column, cut so that no two different ones read alike, as far as there is room.
 *
 *     vecto…<4, BUnaryFunctor<…>>          vecto…<4, …<float, maximum>>
 *     vecto…<4, BUnaryFunctor<…>>    ─>    vecto…<4, …<Half, maximum>>
 *
 * First each name is asked for: it is cut by itself (naming/fit.h). Then those that came out alike are
 * cut anew, in favour of the arguments in which they differ, or else around the first character in which
 * they do; and each is asked for again. The others stay as they were, but where namespaces are left out of
 * one name, no other one shows the same. What reads alike in few columns after all that gets a number:
 *
 *     sum_kernel_of_a, sum_kernel_of_b    ─>    sum#1, sum#2
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>

struct name_table;

/* dots: for what is left out; borrowed. NULL: out of memory. */
struct name_table *name_table_new(const char *dots);
struct name_table *name_table_free(struct name_table *t);
static inline void name_table_freep(struct name_table **t)
{
	name_table_free(*t);
}

/* A name for so many columns; it may still be too wide, as of fit_name(). Lives until the next call of
 * name_table_tell_apart(). Where memory is out, the name itself. */
const char *name_table_get(struct name_table *t, const char *name, size_t columns);
/* Cut anew what reads alike. Returns whether any name is another one than before. */
bool name_table_tell_apart(struct name_table *t);

#endif
