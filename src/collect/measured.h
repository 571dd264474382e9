/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_MEASURED_H
#define PROTON_COLLECT_MEASURED_H
/* Hardware metrics that are measured (core/ranges_wanted.h): at each kernel one set of values, beside those of its
 * records; or at each scope, or where graphs are launched, one of the ranges there.
 *
 *   measured | measured_time (ns) | as they were asked for …
 *
 * How many kernels or ranges the others are of, and how long these ran, by which means are weighed. */
#include <stdbool.h>
#include <stdint.h>

struct context_entry;
struct range_place;
struct ranges_wanted;
struct thread_state;
/* What the session's directory says; NULL: nothing. */
const struct ranges_wanted *measured_wanted(void);
/* Who receives was asked for these, by a program that starts by itself: notes say why there are none. A text is copied; NULL:
 * for none. Before the collector starts. */
void measured_ask(const char *names);
const char *measured_asked(void);
/* The first of these names that was not asked for, up to its ','; NULL: all were. */
const char *measured_missing(const char *names);
/* Where what is measured beside the slot of a record belongs, before that is added there. False: nowhere. */
bool measured_beside(uint32_t slot, struct range_place *ret);
/* Of a range around what this thread launches in this launch context: the innermost scope that has ranges, or, of graphs,
 * the calling context. False: there is none. */
bool measured_place(const struct context_entry *e, struct range_place *ret);
/* The scopes of this thread are others now. */
void measured_moved(const struct thread_state *t);
extern _Atomic bool measured_by_scope; /* … does it matter? */
/* Add a kernel, or a range, to its phases, or to the run alone once these are over. One thread at a time. */
void measured_add(const struct range_place *at, uint64_t time_ns, const double *values);

#endif
