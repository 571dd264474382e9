/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_RUN_H
#define PROTON_LIVE_RUN_H
/* What `record` and `top` share: their options, the target, its environment, the session directory,
 * the stream, the file, the summary. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "launch/session_dir.h"
#include "launch/target_env.h"
#include "live/receiver.h"
#include "live/saver.h"

struct run_options {
	const char *output; /* NULL: the default name */
	const char *tape;
	bool no_preload, no_follow, early, no_cuda, no_opencl;
	bool trace;         /* keep when each operation ran */
	uint32_t trace_max; /* … of so many a process; 0: the default */
	bool wait, quiet, verbose, no_count_launches, strict;
	uint64_t save_ns; /* 0: one second */
};

/* Where to learn of signals that end a wait of ours, after the program has ended. */
struct run_interrupts {
	int fd;                       /* readable when there may be one */
	unsigned (*count)(void *ctx); /* so far; NULL: nobody sends any */
	void *ctx;
};

struct run {
	struct run_options options;
	char *const *argv; /* of the target */
	char *path;        /* executable */
	char *file;        /* where the profile goes */
	struct target_image image;
	struct target_env env;
	struct session_dir *dir;
	struct receiver *receiver;
	struct saver saver;
	pid_t pid, sid;    /* of the target */
	int wait_status;   /* how it ended; 0: it runs, or well */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t look_ns;  /* when to look for descendants again */
	bool survivors;    /* what the last look found */
	bool daemons;	   /* … and nothing but those that are not waited for */
	bool prints;       /* standard output is ours, too: for pictures */
	uint64_t end_ns;   /* when the target ended; 0: it runs */
	struct run_interrupts interrupts;
	uint64_t interrupted_ns; /* when the first came; 0: none */
};

/* Everything up to the start. 0, or an exit status after a message on stderr. */
int run_prepare(struct run *run, const struct run_options *options, char *const *argv);
/* The target has this pid: names the file and starts saving. 0 or -errno. */
int run_started(struct run *run, pid_t pid);
/* The program has its descriptors: close ours of them, but those that are still needed. */
void run_release_descriptors(const struct run *run);
/* The target has ended: read what is left, for 2 s wait for descendants (--wait: for ever). A signal
 * leaves it a second, another one none. */
void run_drain(struct run *run);
/* Does any descendant of the target still run? */
bool run_lives_on(struct run *run);
/* Says which. */
void run_name_survivors(const struct run *run);
/* Must the profile wait for somebody to read it (a FIFO, a pipe)? */
bool run_output_waits(const struct run *run);
/* Last read and save. 0 or -errno of the file; a message is printed. A wait for a reader is ended by
 * a signal as that for descendants is. */
int run_finish(struct run *run);
/* The save alone, while the program runs on. */
int run_save(struct run *run);
void run_done(struct run *run);
/* One screen of facts. */
void run_summary(const struct run *run, FILE *out);
/* Exit status after a run that ended so; does not return when the target was killed. */
int run_status(const struct run *run, int wait_status, int save_error);

#endif
