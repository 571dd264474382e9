/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TRITON_CALLS_H
#define PROTON_COLLECT_TRITON_CALLS_H
/* Functions of Python for python/proton/triton_seam.py and scope.py: those that a script calls at each scope and
 * each launch. In C they cost it a fraction of what ctypes would take.
 *
 *     record_scope() -> id              exit_scope(id, name)    enter_state(name)
 *     enter_scope(id, name)             exit_op(id, name)       exit_state()
 *     enter_op(id, name)                context_depth() -> int
 *     scope_push(name)                  scope_pop(...): whatever it is given
 *     leave_scopes(): all that this thread entered by enter_scope()
 *     fits_here(name, is_float) -> bool: where the thread is, has the name no number of the other kind?
 *     hide(on): what is launched until hide(False) is launch metadata
 *     scope_timed(id): its time on the host is asked for
 *     is_automatic() -> bool: does the run read what fits the program?
 *     scope_open(name) -> int           scope_close([name]) -> int: the same, -1: none is open, -2: it is not of
 *                                       this name, and stays open
 *     put_metric(id, name, value) -> bool: False, value is neither an int of 64 bits, a float nor a text; raises
 *         RuntimeError where a scope has a number of the other kind, until forget_types(), which calls whole
 *         numbers as call_whole(text) said
 *
 *     put_device(id, name, memory, kind, n, stream) -> bool: n numbers in a device's memory, each time that what the
 *         stream is captured into runs; kind: enum cuda_value_kind. False: they cannot be had
 *
 *     enter_instrumented_op(stream, function, buffer, size), exit_instrumented_op(…): kernel_scopes.h
 *
 * An id stands for a scope or an op, of any thread, also once it was left: metrics may come late. */
#include "collect/collect.h"

/* A dictionary of them by name: a new reference, or NULL with an exception. By a thread that has the
 * interpreter's lock. encode(name) -> bytes is what they ask for names that are no plain text, and it
 * refuses what is no name; it is kept. */
EXPORT void *proton_seam_functions(void *encode);
/* A sentence for the user. */
EXPORT void proton_seam_note(const char *text);
/* What is no warning. */
EXPORT void proton_seam_tell(const char *text);

#endif
