/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_LAUNCH_H
#define PROTON_LAUNCH_LAUNCH_H
/* Run the target in front of the user's terminal, as `record` does.
 *
 * The target stays in our process group and keeps stdin, stdout and stderr. We ignore SIGINT and
 * SIGQUIT: the terminal sends them to the whole group and the target decides. Every other signal
 * that a program may handle (SIGTERM, SIGUSR1, SIGXCPU …) is passed on to the target when it was
 * sent to us alone. Not passed on is what was sent to the whole group, as the target has it
 * already (witness.h), what the target or a descendant sent, and what the kernel sends to all of
 * a hung-up terminal. Before there is a target it cannot have any of them: all are passed on.
 *
 * When the target stands still (^Z, SIGSTOP), so do we, by the same signal and until one of us is
 * continued: whoever started us sees what he would see of the target.
 *
 * A poll loop waits for launch_fd() and calls launch_handle().
 *
 *   errors  -errno
 *   thread  one; start before there are others (fork) */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "base/util.h"

/* What our parent gave us and the target shall have, whatever proton does to itself. */
struct launch_origin {
	sigset_t mask;
	uint64_t ignored; /* bit n - 1: signal n was ignored (nohup, "&" of a plain shell) */
	struct rlimit nofile, core;
};
void launch_origin_save(struct launch_origin *origin); /* early in main() */

struct launch_options {
	const char *path; /* from target_find() */
	char *const *argv;
	char *const *envp;
	char *only_pid;                     /* target_env.only_pid, or NULL */
	const struct launch_origin *origin; /* NULL: as things are now */
};

struct launch;

/* -ENOENT, -EACCES … when exec failed: target_exit_status() has the status for it. Options are
 * borrowed for the call. */
int launch_start(const struct launch_options *options, struct launch **ret_launch);
/* Signals are again as before the start; so free it last: while it is there, neither ^C nor SIGTERM
 * can end us before the profile is written. The target, if alive, is left alone. */
struct launch *launch_free(struct launch *launch);
static inline void launch_freep(struct launch **p)
{
	*p = launch_free(*p);
}

pid_t launch_pid(const struct launch *launch);
/* Readable when launch_handle() has something to do. */
int launch_fd(const struct launch *launch);
/* Forward signals, stand still with the target, notice the end. Else it takes 10 ms at most. */
int launch_handle(struct launch *launch);
bool launch_ended(const struct launch *launch, int *ret_wait_status);
/* How many of SIGTERM, SIGHUP, SIGINT and SIGQUIT came since the target ended: they end a wait of
 * ours. */
unsigned launch_interrupts(const struct launch *launch);
/* Did one of them come since the start, from the terminal or from somebody who is no descendant of the target? It may have
 * handled it, and have ended well. */
bool launch_told_to_end(const struct launch *launch);

/* What proton itself ends with. STATUS_OURS: not the status of the program, as for env(1). */
enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_OURS = 125 };
/* Status as a shell has it in $?: the exit status, or 128 + signal. */
int launch_exit_status(int wait_status);
/* End as the target ended: same status, or the same signal on ourselves, without a core file of
 * ours. As process 1, which no signal of its own can kill: 128 + n. The terminal and the files must
 * be in order before; stdio is flushed, exit handlers do not run. */
_Noreturn void launch_die_like(int wait_status);

/* Processes that carry this session in their environment: what a target left behind. */
struct survivor {
	pid_t pid, sid;
	char name[16]; /* comm */
};
/* Can the process of this number be one of this session? Not when it is older than who records, or was
 * started without the session in its environment: then it is another one, and the number was told
 * in another pid namespace. */
bool launch_may_be_ours(const char *session_path, pid_t recorder, pid_t pid);
/* `except` (0: nobody) and ourselves are left out. *ret_list is freed by the caller. A process that
 * dropped its environment, or of another user, is not found. */
int launch_survivors(const char *session_path, pid_t except, struct survivor **ret_list,
		     size_t *ret_n);

#endif
