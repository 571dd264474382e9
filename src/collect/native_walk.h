/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_NATIVE_WALK_H
#define PROTON_COLLECT_NATIVE_WALK_H
/* The stack of compiled code of the thread that asks: from a frame to its caller's, by what the compiler
 * wrote down (native_cfi.h), else by frame pointers.
 *
 *     return address ── known to this thread? ──> rule, frame        (else: looked up, some microseconds)
 *           ▲                                      │
 *           └──────── the caller's, on the stack <─┘
 *
 * It never faults: of the thread's own stack only what lies between the stack pointer and its end is
 * read, any other stack (a signal's, a coroutine's) is copied by the kernel first. It ends: each frame
 * lies higher than the one before, or is a signal's, of which there are few.
 *   thread  a walker belongs to one; no lock, no allocation but the thread's first time */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATIVE_FRAMES_MAX = 128 };

struct native_walker;

struct native_registers {
	uintptr_t pc, sp, fp;
};

struct native_frame {
	uintptr_t at;    /* the call, or where a signal came */
	uint32_t frame;  /* of the collector's table; WIRE_NONE: no room */
	uint32_t module; /* … and the file; WIRE_NONE: none */
	uint8_t role;    /* enum native_role; NATIVE_ROOT, too, for a frame without a caller */
};

size_t native_walker_size(void); /* zeroed, it is ready */
/* Where the thread's stack ends is found out now, and not at the first walk, which may be in a signal's handler:
 * glibc allocates for it. */
void native_walk_prepare(struct native_walker *w);
/* Whose code calls the vendor's is wanted, and no more: its walks end there, and their frames are in no table. */
void native_walk_modules_only(struct native_walker *w);
/* The frames from here on, innermost first, `max` at most. *ret_ended: the outermost is among them. */
unsigned native_walk(struct native_walker *w, const struct native_registers *from, unsigned max,
		     struct native_frame out[], bool *ret_ended);
/* Would it find what it found the last time? False where it is not known without a walk. */
bool native_walk_is_same(const struct native_walker *w, const struct native_registers *from);

/* The caller of the function that this stands in. */
#define NATIVE_REGISTERS_HERE()                                                                    \
	{                                                                                          \
		(uintptr_t) __builtin_return_address(0),                                           \
			(uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t),             \
			*(const uintptr_t *)__builtin_frame_address(0)                             \
	}

#endif
