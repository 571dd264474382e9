/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_BACKEND_H
#define PROTON_BACKENDS_BACKEND_H
/* Where activity records come from. A backend lives in the user's process, inside libproton.so.
 *
 * To add a backend:
 *   1. src/backends/NAME.c with one `const struct backend backend_NAME`; copy fake.c.
 *   2. A row in core/backends.h; there, too, a row for a door where none of those that are there
 *      will do, and in src/collect/ the functions of that door.
 *   3. Translate each vendor record to struct activity in one function a kind; times by
 *      CLOCK_REALTIME (opencl_clock.h for clocks of devices).
 *   4. Declare the vendor's ABI in your own words (NAME_abi.h); dlopen, never link.
 *   5. A mock of the vendor's library in tests/mocks/, under the real collector.
 *
 * Rules: never exit, abort, print, leave a signal pending or hold a lock while calling the sink.
 * Out of memory is sink->ops->lose(LOSS_NO_MEMORY) and the program runs on. */
#include "core/activity.h"
#include "core/backends.h"

/* What a flush delivers. Each stage delivers what the one before it does, too. */
enum flush {
	FLUSH_COMPLETE, /* what is complete: every period, while there is work */
	FLUSH_MEASURED, /* … and what was counted up to now: a session may be over next */
	FLUSH_ALL,      /* also what is not complete: before exec(), which may fail */
	FLUSH_LAST,     /* … at exit: what is to end may end */
};

struct backend {
	const char *name;
	const char *device_type; /* of its devices, until it says more of one */
	/* Is it here? 0, or -ENODEV with a reason in *ret_why: not an error for the user. */
	int (*probe)(const struct backend_options *options, const char **ret_why);
	/* Deliver records to sink, from any thread, until stop(). May be called inside the
	 * vendor's initialisation (CUDA injection): do not call back into it. */
	int (*start)(const struct backend_options *options, struct activity_sink *sink,
		     void **ret_state);
	/* Called by the sender's flusher thread, or by the last thread of all. NULL = nothing to do. */
	int (*flush)(void *state, enum flush how);
	/* There is more than one calling context (scope, thread) from now on: attribute. Called
	 * at most once, from any thread; may be NULL. */
	void (*attribute)(void *state);
	/* A thread (struct range_place) has entered or left a scope; called where ranges of these are wanted, on that
	 * thread, which may wait here for a device. May be NULL. */
	void (*moved)(void *state, uint32_t thread);
	/* The vendor's number of the last launch of this thread, as its record has it (activity's correlation); 0: there was none. May be
	 * NULL. */
	uint32_t (*launched)(void);
	/* Samples of the code of kernels are wanted from now on, if they were not. From any thread; may be NULL. */
	void (*sample)(void *state);
	/* Bytes of activity buffers held now; may be NULL. */
	uint64_t (*buffer_bytes)(void *state);
	void (*stop)(void *state); /* state may be half started */
	/* In a fork child: forget everything, touch no vendor library. May be NULL. */
	void (*forked)(void *state);
};

#define _(id, name, ...) extern const struct backend backend_##name;
BACKENDS(_)
#undef _

const struct backend *backend_of(enum source source);

#endif
