/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_RECORDING_H
#define PROTON_LIVE_RECORDING_H
/* Receives a session and saves it: the directory where collectors find the pipe, the receiver, the
 * profile. Starting a program is the task of run.h.
 *
 *   errors  -errno, or an exit status after a message on standard error where it says so
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "core/run_wanted.h"
#include "counters/counting.h"
#include "launch/session_dir.h"
#include "live/kept_warps.h"
#include "live/output_name.h"
#include "live/receiver.h"
#include "live/saver.h"
#include "live/session_files.h"
#include "sensors/watch.h"

struct graph_shares;

struct ranges_wanted;

struct intra_wanted;

struct recording_options {
	const char *output;   /* NULL: the default name */
	const char *label;    /* what the user calls this run; NULL: nothing */
	const char *save_env; /* patterns of names of variables, with commas; NULL: none */
	const char *tape;
	const char *forward; /* where the stream is sent, live: "-", "unix:PATH"; NULL: nowhere */
	struct run_wanted wanted; /* of collectors, but for what the next say */
	bool no_count_launches;
	bool has_contexts;                  /* else what fits the program is read */
	bool has_budget;                    /* else it depends on the contexts */
	const struct ranges_wanted *ranges; /* hardware metrics of kernels; borrowed, NULL: none */
	const struct intra_wanted *intra;   /* scopes within kernels; borrowed, NULL: none */
	const char *window_word;            /* as it was asked for; NULL: it was not */
	uint64_t save_ns;                   /* 0: one second */
	struct graph_shares *shares; /* what whole graphs are divided by; borrowed, NULL: nothing */
	bool no_sweep;               /* leftovers of others are not removed first */
	bool no_sensors;             /* do not ask what devices say of themselves */
	bool by_sessions; /* the program's session is the profile; the run's is written where it has none */
	bool no_files; /* of the run, or of sessions of the program: what came is for who calls */
	bool quiet, verbose;
};

/* Tells of signals that should end our waits. */
struct interrupts {
	int fd;                       /* readable when there may be one */
	unsigned (*count)(void *ctx); /* number of signals so far; NULL: none can come */
	void *ctx;
};

struct recording {
	const struct recording_options *options;
	struct session_dir *dir;
	struct forward *forward;
	struct receiver *receiver;
	struct saver saver, warp_saver; /* of the profile; of scopes of single warps beside it */
	struct session_files sessions;
	struct watch sensors;
	struct counting counters;
	struct source_nodes *source_nodes;
	char *file;                /* where the profile goes … */
	struct output_claim claim; /* … and no other run's */
	char *source;              /* what is profiled: a program's name */
	size_t run;                /* index in the session: what was started */
	uint64_t generation;       /* of the session, when last looked at */
	uint64_t busy_ns;          /* of all devices, then */
	uint64_t start_ns;         /* CLOCK_MONOTONIC */
	uint64_t end_ns;           /* 0: it goes on */
	uint64_t paused_ns;        /* before paused_since_ns; what ran was not counted */
	uint64_t paused_since_ns;  /* CLOCK_MONOTONIC; 0: it is counted */
	int wait_status; /* of the program, as from wait(); 0 while it runs, -1: not known */
	struct interrupts interrupts;
	uint64_t interrupted_ns;        /* when the first signal came; 0: none */
	struct kept_warps_counts warps; /* that are beside the profile … */
	int warps_error;                /* … or why there are none */
	pid_t disassembles;             /* a child, of code that is kept (kept_code.h); 0: none */
	bool is_read;                   /* recording_end() was called, with this result */
	int read_error;
};

/* The last part of a path. */
const char *path_name(const char *path);

/* recording_check(): can tape and profile be written? recording_open(): make the session directory
 * and the receiver; options are borrowed. 0, or an exit status after a message. */
int recording_check(const struct recording_options *options);
int recording_open(struct recording *rec, const struct recording_options *options);
/* Call it right before the program is started: who runs by then may be ahead of us. */
void recording_starts(struct recording *rec);
/* Call it when the program was started. argv: its words; pid: what %p in the file's name becomes.
 * Names the file and starts saving. 0 or -errno after a message. */
int recording_begin(struct recording *rec, char *const *argv, pid_t pid);
/* Save when it is time, in a child. Call it again and again while the program runs. */
void recording_poll(struct recording *rec);

/* Must a wait that began at start_ns end? Yes, a second after one signal, or at another. */
bool recording_is_interrupted(struct recording *rec, uint64_t start_ns);
/* Wait for something to read from fd, or a signal; 50 ms at most. */
void recording_wait(const struct recording *rec, int fd);

/* What can be waited for to send on; -1: nothing. */
int recording_forward_fd(const struct recording *rec);

/* Must the profile wait for somebody to read it (a FIFO, a pipe)? */
bool recording_output_waits(const struct recording *rec);
/* Last read: the session has ended then, and holds all that it will. */
void recording_end(struct recording *rec);
/* That, if it was not yet, and save. 0 or -errno of the file; a message is printed. A wait for a reader is
 * ended by a signal. */
int recording_finish(struct recording *rec);
/* Then, when there is nothing else to do: the code that is kept beside the profile is whole. A signal ends the wait. */
void recording_settle(struct recording *rec);
/* What runs from now on is not counted, or is again. */
void recording_pause(struct recording *rec, bool pause);
/* Only the save, while the program goes on. */
int recording_save(struct recording *rec);
void recording_done(struct recording *rec);
/* Why the file could not be written. */
const char *recording_strerror(int r);

/* One screen of facts. */
void recording_summary(const struct recording *rec, FILE *out);

#endif
