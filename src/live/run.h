/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_RUN_H
#define PROTON_LIVE_RUN_H
/* Starts a program to record it: the target, its environment, and its descendants that go on after
 * it. Receiving and saving is the task of recording.h. */
#include <stdbool.h>
#include <stdint.h>
#include "core/intra_wanted.h"
#include "launch/launch.h"
#include "launch/target_env.h"
#include "live/recording.h"

struct run_options {
	struct recording_options rec;
	const char *graphs_word;              /* what was asked for by --graphs; NULL: nothing */
	const char *graph_shares;             /* the file of rec.shares; NULL: none */
	bool is_intra;                        /* scopes within kernels are wanted … */
	const char *intra_rules, *intra_mode; /* … as they were asked for; NULL: as usual */
	struct intra_wanted intra;            /* … and as it was understood */
	bool no_preload, no_follow, early, wait, strict;
	bool again; /* the program runs more than once: its descriptors are kept, and who started it prints the summary */
	const struct launch_origin *origin; /* what the target gets of what we were given */
};

struct run {
	struct run_options options;
	struct recording rec;
	char *const *argv; /* of the target */
	char *path;        /* executable */
	struct target_image image;
	struct target_env env;
	pid_t pid, sid;   /* of the target */
	uint64_t look_ns; /* when to look for descendants again */
	bool survivors;   /* what the last look found */
	bool daemons;     /* it found only such as are not waited for */
	bool told_to_end; /* somebody wanted that (launch.h), whatever the target made of it */
	bool prints;      /* standard output is for us alone: the target's goes to standard error */
	int save_error;   /* why the profile or its tape is not complete; 0: it is */
};

/* Everything up to the start. 0, or an exit status after a message on stderr. */
int run_prepare(struct run *run, const struct run_options *options, char *const *argv);
/* How the target is started, which is right after it: the run begins. Refers to the run. */
struct launch_options run_target(struct run *run);
/* The target has this pid and its descriptors: names the file, starts saving and closes what was
 * opened for the target only. 0 or -errno. */
int run_started(struct run *run, pid_t pid);
/* Start the target in front of the terminal, record it until it ends, save the profile and print
 * the summary. on_tick (or NULL) is called every tick_ns, and when all has been read. 0, or an exit
 * status after a message on stderr. */
int run_record(struct run *run, uint64_t tick_ns, void (*on_tick)(void *ctx), void *ctx);
/* After the end of the target: read what is left, and wait 2 s for descendants (--wait: without
 * limit). After a signal it waits one more second, after a second signal no more. */
void run_drain(struct run *run);
/* Does any descendant of the target still run? */
bool run_lives_on(struct run *run);
/* Print which. */
void run_name_survivors(const struct run *run);
void run_done(struct run *run);
/* Exit status after a run, whose target ended so; does not return when it was killed. */
int run_status(const struct run *run, int wait_status);

#endif
