/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_REWRITER_H
#define PROTON_COLLECT_REWRITER_H
/* One module, handed to `proton rewrite` and taken back:
 *
 *     thread of the program ── waits ──────────────────────────────> goes on
 *            └─ thread of ours ─ starts the process, reads its answer ─┘
 *
 * Ours has descriptors of its own (own_fd.h), so that a program that closes all it finds, or forks meanwhile, meets none of the
 * answer's. The program's thread has its signals as ever: handlers run, timers fire. Those alone that end programs wait, and end the
 * wait: they come right after it. So many modules are on their way at a time; other threads that load something wait.
 *   thread  any */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/elf_bytes.h"
#include "collect/alone_command.h"
#include "collect/own_fd.h"
#include "collect/patience.h"
#include "core/activity.h"
#include "core/rewritten.h"

enum { REWRITER_WHY_MAX = COMMAND_WHY_MAX + 64 };

/* All zero but for what is handed over, on the heap: a handler may leave the wait for good (siglongjmp). */
struct rewrite_job {
	struct elf_part in;
	uint32_t chip, limit_s;

	bool is_done; /* what came back: */
	struct rewritten head;
	char *text; /* as long as the head says */
	struct module_instead out;
	char why[REWRITER_WHY_MAX]; /* it is not */

	struct patience patience; /* from here on the rewriter's own */
	pthread_t thread;
	struct own_fd answer;
	_Atomic uint32_t is_over; /* futex */
	_Atomic bool is_given_up;
	sigset_t blocked; /* that the program's thread does not want to see */
};

/* Until it is back, or cannot be had any more. */
void rewriter_run(struct rewrite_job *j);
/* Frees what came back, but for `out`. */
struct rewrite_job *rewrite_job_free(struct rewrite_job *j);
bool rewriter_fail(struct rewrite_job *j, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What the program forbids itself is looked at from now on. */
void rewriter_begin(void);
void rewriter_forked(void);

#endif
