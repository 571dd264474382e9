/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PYTHON_H
#define PROTON_COLLECT_PYTHON_H
/* Calling contexts of Python programs, without a change to them: where each thread is in the
 * program's own files, as "file.py:42@function", outermost first.
 *
 *     this thread's frames, raw ── compared with the last time ──> node below its scopes
 *
 * Extension modules release the interpreter lock before they launch: a thread's own frames are read where
 * they lie then, which nobody else changes, and neither the lock nor a reference is taken. Before the
 * first time the main thread, between two of its instructions and with the lock, holds what is read so
 * against what the interpreter says; where they differ, nothing is read, and a note says so.
 *
 * Frames of the standard library and of installed packages are left out, unless there are no others. */
#include <stdbool.h>
#include <stdint.h>

struct thread_state;

/* At the start of the collector: is there an interpreter that can be read? */
void python_look(void);
/* At the end of the process: what was left out is said. */
void python_end(void);
/* The node of what this thread executes, below `node`; that itself where it executes no Python.
 * For the thread's own launches. */
uint32_t python_node(struct thread_state *t, uint32_t node);

#endif
