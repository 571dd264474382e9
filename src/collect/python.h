/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PYTHON_H
#define PROTON_COLLECT_PYTHON_H
/* What threads execute in Python, for other sources of calling contexts (contexts.h). */
#include <stdbool.h>
#include <stdint.h>

struct thread_state;

enum {
	PYTHON_LINES = 1,   /* lines of the program's files */
	PYTHON_MODULES = 2, /* modules of PyTorch that are being called */
};

/* The node of what this thread executes, below `node`. For the thread's own launches. */
uint32_t python_context(struct thread_state *t, uint32_t node, unsigned what);
/* Right after that, and without PYTHON_LINES: does the thread execute what torch.compile has generated? Then those lines
 * alone, below `node`. */
bool python_has_generated(struct thread_state *t);
uint32_t python_generated(struct thread_state *t, uint32_t node);
/* Is there an interpreter whose frames are read, or will be when it has been asked? */
bool python_can_be_read(void);
/* Was one found? */
bool python_is_there(void);
/* What stands for the few innermost frames; then, at the same launch, for some more. 0: there is none. What is at
 * the address of code that went is not told apart: where it stays it is read some time. */
uint64_t python_glance(struct thread_state *t);
uint64_t python_innermost_place(struct thread_state *t);
/* Have the main thread call this, between two instructions, with the interpreter's lock. False: there is no
 * interpreter, or too many wait. Any thread. */
bool python_ask(int (*call)(void *arg));

#endif
