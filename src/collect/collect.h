/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_COLLECT_H
#define PROTON_COLLECT_COLLECT_H
/* The collector: the half of proton that lives in the user's process (libproton.so).
 *
 *   doors.c   ways in; one lazy start guarded by pid; fork, exit
 *   exec.c    the exec functions: what was counted is sent before;  leave.c  _exit, pthread_exit
 *   state.c   the collector and its threads: what all the others stand on
 *   tables.c  strings, frames, nodes, lanes, launch contexts, slots: bounded, mmapped, lock-free
 *   scope.c   the calling context of each thread;  metrics.c  what the program counts there
 *   launch_info.c  what it says of launches
 *   sessions.c  sessions that the program starts: who is active at a launch
 *   sink.c    activity record -> slot
 *   burst.c   definitions and changed slots -> FIFO;  sender.c  when: one thread, every period
 *   nvtx.c    our NVTX injection;  api.c  the functions behind proton/proton.h
 *
 * Nothing here exits, aborts, prints, mallocs on the launch path or holds a lock that user code can
 * hold. Tables only grow; an id is published by one atomic store; so every function may be called
 * from any thread, in a signal handler, and in a fork child. Full tables are counted losses.
 *
 * collect_on is false until something opened a door and a session is there (PROTON_SESSION): the
 * functions below then return at once. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/activity.h"
#include "core/backends.h"
#include "core/frame.h"
#include "core/metric.h"

/* One start for all doors: maps the tables, opens the control page, starts the backends that this
 * door leads to. Idempotent, any thread. 0, or -errno: the collector stays off. */
enum collect_door {
#define _(id, functions) DOOR_##id,
	DOORS(_)
#undef _
};
int collect_start(
	enum collect_door door); /* -ENXIO: nobody profiles, but the program may itself, later */
/* The same in a process whose environment names no session, which goes on to start one itself: `receiver` makes
 * the directory of one, once a process. Fork children have none of it. Handlers of signals run while it is waited for.
 *   errors  -EINTR: the wait was ended, and whoever wants to may try again */
struct collect_receiver {
	int (*begin)(int *ret_fd);
	int (*wait)(int fd); /* on the caller's stack, which may be small */
	int (*take)(char *dir, size_t size);
};
int collect_start_alone(const struct collect_receiver *receiver);
/* The directory of such a one; NULL: there is none. */
const char *collect_alone_dir(void);
/* What the run wants of backends, without a start. -ENOENT: this process is not looked at. */
int collect_options(struct backend_options *ret_options);
extern _Atomic bool collect_on;

/* The calling context of the current thread: a stack of frames. tag tells owners apart
 * (COLLECT_TAG_SCOPE, an NVTX domain's address): a pop removes the newest entry of its tag. */
#define COLLECT_TAG_SCOPE UINT64_C(1)
/* Returns the depth before the push, or -1 when the collector is off or the stack is full. */
int collect_push(enum frame_kind kind, uint64_t tag, const char *name, size_t len);
/* As collect_push(). On a thread without scopes it hangs where such a thread's work belongs: below the
 * main thread's calling context, not below the root. */
int collect_push_adopted(enum frame_kind kind, uint64_t tag, const char *name, size_t len);
/* Returns the depth after the pop, or -1 when there is none of this tag (counted). */
int collect_pop(uint64_t tag);
/* A scope of the program is entered, or left, while the collector is off: to leave it later is no mistake. */
void collect_scope_missed(bool enters);
/* Depth of the current thread's stack of this tag. */
int collect_depth(uint64_t tag);
/* … of all tags. */
int collect_context_depth(void);

/* The state of this thread: one frame at most, above what it launches and below all other frames. NULL:
 * none. */
void collect_state(const char *name, size_t len);

/* The state of launch metadata, which hides what is launched in it, and back to that of before. Not nested. */
void collect_hide(bool hide);

/* What this thread launches from here to the end has this name in place of its symbol (len 0: its own), and
 * metrics are of these launches. 0, or -1: the collector is off, or nothing was begun (counted). */
int collect_launch_begin(const char *name, size_t len);
int collect_launch_end(void);

/* Add v to the metric of this name at the current calling context (inclusive, sum), or, with
 * replace, set it (a property). */
void collect_metric_f64(const char *name, double v, bool replace);
void collect_metric_u64(const char *name, uint64_t v, bool replace);
/* Add v to it as a number of floating point, whatever the first of this name was. */
void collect_metric_float(const char *name, double v);
/* A text that describes; the last one holds. Where numbers have the name, it is "NAME (text)". */
void collect_property_text(const char *name, const char *text);

/* The program asks for the time on the host of the thread's innermost scope. Each scope's is measured: a value of
 * its own, which adds nothing, says so to who writes only what was asked for. */
void collect_scope_timed(void);

/* Ranges and marks belong to the process, not to a calling context: a node under the root's
 * "<ranges>" child, with count and host time. */
void collect_range(enum frame_kind kind, const char *name, size_t len, uint64_t host_ns);
/* One that is over, by the host clock, of which nothing is told but that it may be a step of a loop (steps.h). */
void collect_step(const char *name, size_t len, uint64_t start_ns, uint64_t end_ns);

/* Where the sink of backend number `source` is. */
struct activity_sink *collect_sink(unsigned source);
/* From now on `sink` gets each record of this backend beside us, on the thread that delivers it, also
 * while we are paused; launch contexts are ours. Of its ops only record() is called. Borrowed until
 * collect_unlisten(). Any thread, while work runs. -ENOSPC: there are too many; -EINVAL: no such
 * backend. */
int collect_listen(unsigned source, struct activity_sink *sink);
/* When it returns 0 no thread is in `sink` any more, and none comes. Not from within `sink`. -EBUSY:
 * a thread stays in it, and it must stay where it is; -ENOENT: it does not listen. */
int collect_unlisten(unsigned source, struct activity_sink *sink);

/* Operations on memory one by one, for who asks (memory_log.h). */
bool collect_memory_log(void);
size_t collect_memory_read(uint64_t *from, void *ret, size_t n);

/* A sentence for the user, sent once; text is copied. */
void collect_note(int level, const char *text);

#endif
