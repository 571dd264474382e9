/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LAUNCH_KEEPER_PROCESS_H
#define PROTON_LAUNCH_KEEPER_PROCESS_H
/* The two ends of the keeper's socket. Private to this folder. One packet is one message; both
 * ends are the same program, so these are plain structs. */
#include <stdbool.h>
#include <stdint.h>
#include <termios.h>
#include "launch/keeper.h"

#define KEEPER_INPUT_MAX 4000

/* To the keeper. */
enum keeper_request_kind {
	REQUEST_SIGNAL, /* a: signal, b: 1 for the whole group */
	REQUEST_RESIZE, /* a: rows, b: columns */
	REQUEST_INPUT,  /* a: length; bytes */
	REQUEST_DETACH, /* a: 1 to leave the collectors on */
	REQUEST_FINISH,
};

struct keeper_request {
	uint32_t kind, a, b;
	char bytes[KEEPER_INPUT_MAX]; /* only those in use travel */
};

/* To the screen: enum keeper_event_kind, or one of these first. */
enum { REPLY_STARTED = 100 /* value: pid */, REPLY_FAILED /* value: errno of exec */ };

struct keeper_reply {
	uint32_t kind, unused;
	uint64_t value;
};

/* What the keeper has from the process that forked it. */
struct keeper_setup {
	struct launch_options target;
	struct session_dir *dir;
	struct log_ring *log;
	struct termios termios; /* of the pty */
	bool has_termios;
	const struct keeper_options *options;
	struct winsize size;
	bool use_pty[3];
	int socket_fd, tty_fd, app_log_fd; /* the last two may be -1 */
};

/* The life of the keeper; in the forked child, all signals blocked. */
_Noreturn void keeper_process(const struct keeper_setup *setup);

#endif
