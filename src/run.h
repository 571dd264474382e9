/* SPDX-License-Identifier: MIT */
#ifndef PROTON_RUN_H
#define PROTON_RUN_H
/* What `record` and `top` share: their options, the target, its environment, the session directory,
 * the stream, the file, the summary. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "launch/session_dir.h"
#include "launch/target_env.h"
#include "options.h"
#include "receiver.h"
#include "saver.h"

struct run_options {
	const char *output; /* NULL: the default name */
	const char *tape;
	bool no_preload, no_follow, early, no_cuda, no_opencl;
	bool trace;         /* keep when each operation ran */
	uint32_t trace_max; /* … of so many a process; 0: the default */
	bool wait, quiet, verbose, no_count_launches, strict;
	uint64_t save_ns; /* 0: one second */
};

/* The options of both commands, and what takes them. */
enum {
	OPT_OUTPUT = 1000, OPT_TAPE, OPT_NO_PRELOAD, OPT_NO_FOLLOW, OPT_EARLY, OPT_NO_CUDA, OPT_NO_OPENCL,
	OPT_WAIT, OPT_QUIET, OPT_VERBOSE, OPT_COUNT, OPT_STRICT, OPT_SAVE,
	OPT_TRACE, OPT_TRACE_MAX,
};
#define RUN_OPTIONS                                                                                \
	{.name = "output", .letter = 'o', .arg = "FILE",                                           \
	 .help = "write the profile to FILE (%p pid, %e program, %h host, %r rank, %t time)",      \
	 .id = OPT_OUTPUT},                                                                        \
	{.name = "tape", .arg = "FILE", .help = "keep the raw stream of the run in FILE",          \
	 .id = OPT_TAPE},                                                                          \
	{.name = "save-interval", .arg = "SECONDS",                                                \
	 .help = "write the profile this often while APP runs (1)", .rare = true, .id = OPT_SAVE}, \
	{.name = "trace", .help = "keep when each operation ran, for a timeline",                  \
	 .id = OPT_TRACE},                                                                         \
	{.name = "trace-limit", .arg = "N",                                                        \
	 .help = "keep the first N operations of a process (1000000)", .rare = true,               \
	 .id = OPT_TRACE_MAX},                                                                     \
	{.name = "wait", .help = "stay until APP's descendants have ended too", .rare = true,      \
	 .id = OPT_WAIT},                                                                          \
	{.name = "quiet", .letter = 'q', .help = "print no summary", .id = OPT_QUIET},             \
	{.name = "verbose", .letter = 'v', .help = "say more about what is done",                  \
	 .rare = true, .id = OPT_VERBOSE},                                                         \
	{.name = "no-count-launches",                                                              \
	 .help = "no CUPTI callbacks while there is one calling context", .rare = true,            \
	 .id = OPT_COUNT},                                                                         \
	{.name = "strict", .help = "exit with 125 when the profile cannot be written",             \
	 .rare = true, .id = OPT_STRICT},                                                          \
	{.name = "no-preload", .help = "do not set LD_PRELOAD", .rare = true,                      \
	 .id = OPT_NO_PRELOAD},                                                                    \
	{.name = "no-follow", .help = "profile APP itself only, not its children",                 \
	 .id = OPT_NO_FOLLOW},                                                                     \
	{.name = "early", .help = "start the collector before main(), not at its first work",       \
	 .rare = true, .id = OPT_EARLY},                                                           \
	{.name = "no-cuda", .help = "leave CUDA alone", .rare = true, .id = OPT_NO_CUDA},          \
	{.name = "no-opencl", .help = "leave OpenCL alone", .rare = true, .id = OPT_NO_OPENCL}

/* 0: taken; -EINVAL: bad value; -ENOENT: not one of these. */
int run_option(struct run_options *o, const struct option_def *option, const char *value);

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
