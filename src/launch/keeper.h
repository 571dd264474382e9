/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_KEEPER_H
#define PROTON_LAUNCH_KEEPER_H
/* Run the target behind a screen, as `top` does, by a process that outlives the screen.
 *
 *    user's terminal                          a pty
 *   ┌──────────────┐ socketpair ┌──────────┐ master   slave ┌──────────┐
 *   │ proton top   │<---------->│  keeper  │<-------------->│  target  │ own process group,
 *   │ (screen)     │            │ (leader) │  log, app log  │          │ in the foreground
 *   └──────────────┘            └──────────┘                └──────────┘
 *
 * Those of the target's descriptors 0, 1, 2 that are terminals become the pty; others are
 * inherited. The keeper leads the session of the pty, as a shell would: when the target ends,
 * what it left running keeps its terminal, and ^Z works.
 *
 * When the screen dies without a word (kill -9, lost line) the keeper puts the user's terminal in
 * order, tells the collectors (control page: alive 0), and reads the pty until the target and all
 * who have the pty open are done; then it removes the session directory. A keeper that is itself
 * killed with SIGKILL takes the pty with it: the target's foreground group gets SIGHUP, as when a
 * terminal's window is closed. Nothing can prevent that but another keeper of the keeper; a target
 * under nohup lives on.
 *
 *   errors  -errno
 *   thread  one; start before there are others (fork) */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>
#include "launch/launch.h"
#include "launch/log_ring.h"
#include "launch/session_dir.h"

struct keeper_options {
	struct launch_options target;
	struct session_dir *dir;       /* the keeper has it over fork: control, lock, log */
	struct winsize size;           /* of the pty; 0 x 0: as the user's terminal */
	const char *app_log;           /* file for all of the output, or NULL */
	const struct termios *termios; /* of the user's terminal before the screen took it, and of
					* the pty; NULL: as it is now, and it is not to be restored */
	const void *restore;           /* bytes that put the user's terminal in order, or NULL */
	size_t restore_len;
};

enum keeper_event_kind {
	KEEPER_NOTHING,
	KEEPER_LOG_GREW, /* value: log_ring_end(); once, until log_ring_want() is called again */
	KEEPER_STOPPED,  /* value: signal (^Z, SIGTTIN …); keeper_signal(SIGCONT) goes on */
	KEEPER_CONTINUED,
	KEEPER_ENDED,      /* value: wait status */
	KEEPER_DRAINED,    /* after ENDED: its output is complete (value 0), or 2 s have passed and
			    * somebody still has the pty open (value 1): launch_survivors() */
	KEEPER_LOG_FAILED, /* value: errno of a write to the app log, which is given up */
	KEEPER_GONE,       /* the keeper died; the target's end will not be known */
};

struct keeper_event {
	enum keeper_event_kind kind;
	uint64_t value;
};

struct keeper;

/* Fork the keeper and start the target. An app log that cannot be opened, and an exec that failed,
 * are reported here (no screen is up yet): *ret_what is then a word for the message, "app log",
 * "exec" or "keeper". */
int keeper_start(const struct keeper_options *options, struct keeper **ret_keeper,
		 const char **ret_what);

/* Without keeper_finish() or keeper_detach() before, this counts as a death of the screen. */
struct keeper *keeper_free(struct keeper *keeper);
static inline void keeper_freep(struct keeper **p)
{
	*p = keeper_free(*p);
}

pid_t keeper_pid(const struct keeper *keeper);
pid_t keeper_target_pid(const struct keeper *keeper);
/* What the target wrote to the pty. */
struct log_ring *keeper_log(struct keeper *keeper);

/* Readable when keeper_next() has something. */
int keeper_fd(const struct keeper *keeper);
/* 1: an event; 0: none now. Never blocks. */
int keeper_next(struct keeper *keeper, struct keeper_event *ret_event);
/* From the events seen so far. */
bool keeper_ended(const struct keeper *keeper, int *ret_wait_status);

/* -EAGAIN: the keeper is busy, try later. -EPIPE: it is gone. */
int keeper_signal(struct keeper *keeper, int sig, bool whole_group);
int keeper_resize(struct keeper *keeper, unsigned rows, unsigned cols);
/* Typed text for the target; -EMSGSIZE beyond 4000 bytes. */
int keeper_input(struct keeper *keeper, const void *bytes, size_t len);

/* The screen leaves, the target goes on. The keeper takes over the session directory. keep_alive:
 * collectors go on sending (somebody will attach); else they are told to stop. */
int keeper_detach(struct keeper *keeper, bool keep_alive);
/* All is over; the session directory stays ours. While somebody has the pty open, the keeper
 * remains for them. Refused (-EBUSY) before the target ended. */
int keeper_finish(struct keeper *keeper);

#endif
