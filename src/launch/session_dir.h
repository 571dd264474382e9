/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_SESSION_DIR_H
#define PROTON_LAUNCH_SESSION_DIR_H
/* The private directory in which a run and its collectors meet.
 *
 *   $XDG_RUNTIME_DIR/proton/proton-<uid>-<pid>-XXXXXX/   0700; or in $TMPDIR, or in /tmp
 *   - owner: to whom it belongs: boot, pid namespace, pid and start time of proton and target.
 *     Locked (flock) while proton or its keeper lives, so that one proton never takes another one's
 *     directory for a leftover, not even across containers.
 *   - stream: FIFO, frames from all collectors (wire/wire.h)
 *   - control: shared page (wire/control.h)
 *   - log: what the target wrote to its terminal (launch/log_ring.h), `top` only
 *   - INSTANCE-N.segment: bulk data, made by collectors
 *   - counters-UUID: samples of a device's hardware counters, made by the helper that counts
 *   - INSTANCE-N.session: a session of the program that is to be written (wire/wire.h)
 *
 *   errors  -errno
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/util.h"
#include "wire/control.h"

struct session_dir {
	char *path;    /* absolute; the value of PROTON_SESSION */
	int stream_fd; /* read and write (never EOF), non-blocking */
	int owner_fd;  /* holds the lock; the keeper inherits it */
	struct control_page
		*control;    /* shared with all collectors and, over fork, with the keeper */
	size_t stream_bytes; /* capacity of the FIFO */
};

/* Make the directory and what is in it. control: period 100 ms, alive 1, all else 0. */
int session_dir_new(struct session_dir **ret_dir);

/* Let go of descriptors and mapping. The directory stays; see session_dir_remove(). NULL is fine.
 */
struct session_dir *session_dir_free(struct session_dir *dir);
static inline void session_dir_freep(struct session_dir **p)
{
	*p = session_dir_free(*p);
}

/* Remember who uses the directory beside us, for a later sweep. */
int session_dir_set_target(struct session_dir *dir, pid_t pid);

/* Remove a directory that looks like ours (owner, mode), with all in it. Symbolic links are not
 * followed. -EPERM: it is not ours. */
int session_dir_remove(const char *path);

/* Remove the directories of runs of this user that have died. One is removed when nobody holds its
 * lock, and its target is dead too or it is older than a day: a target that outlived its proton may
 * still want it. Where no target is known, for its proton died early, it goes at once if no process has
 * the pipe open and nothing was put into it. Returns how many went. */
int session_dir_sweep(void);
/* The same in one folder, with the age after which a directory is not kept for its target. */
int session_dir_sweep_in(const char *folder, unsigned keep_s);

/* Start time of a process in clock ticks since boot: with the pid it names a process for good.
 * -ESRCH when there is none (a zombie counts as dead). */
int process_start_time(pid_t pid, unsigned long long *ret_ticks);

#endif
