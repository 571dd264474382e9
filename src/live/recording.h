/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_RECORDING_H
#define PROTON_LIVE_RECORDING_H
/* A session that is received and kept, whoever sends it: the directory that collectors find, what comes
 * through its pipe, the file of it. To start a program for it is run.h's.
 *
 *   errors  -errno, or an exit status after a message on standard error where it says so
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "launch/session_dir.h"
#include "live/receiver.h"
#include "live/saver.h"

struct recording_options {
	const char *output; /* NULL: the default name */
	const char *tape;
	bool trace;            /* keep when each operation ran */
	uint32_t trace_max;    /* … of so many a process; 0: the default */
	uint64_t save_ns;      /* 0: one second */
	uint32_t backends_off; /* 1 << SOURCE_*: left alone */
	bool no_count_launches;
	bool sync; /* record how long the program waits for its devices */
	bool quiet, verbose;
};

/* Where to learn of signals that end a wait of ours. */
struct interrupts {
	int fd;                       /* readable when there may be one */
	unsigned (*count)(void *ctx); /* so far; NULL: nobody sends any */
	void *ctx;
};

struct recording {
	const struct recording_options *options;
	struct session_dir *dir;
	struct receiver *receiver;
	struct saver saver;
	char *file;        /* where the profile goes */
	char *source;      /* what is profiled: a program's name */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t end_ns;   /* 0: it goes on */
	int wait_status;   /* how what was profiled ended; 0: it runs, or well */
	struct interrupts interrupts;
	uint64_t interrupted_ns; /* when the first came; 0: none */
};

/* The last part of a path. */
const char *path_name(const char *path);

/* Tape and profile can be written, and the directory is there. Options are borrowed. 0, or an exit
 * status after a message. */
int recording_check(const struct recording_options *options);
int recording_open(struct recording *rec, const struct recording_options *options);
/* It begins: the source, and the process whose number stands for %p, are known. Names the file and
 * starts saving. 0 or -errno after a message. */
int recording_begin(struct recording *rec, const char *source, pid_t pid);

/* Has a wait that began then to end because of a signal? The first leaves it a second. */
bool recording_is_interrupted(struct recording *rec, uint64_t start_ns);
/* Until there is something to read from fd, a signal, or 50 ms have passed. */
void recording_wait(const struct recording *rec, int fd);

/* Must the profile wait for somebody to read it (a FIFO, a pipe)? */
bool recording_output_waits(const struct recording *rec);
/* Last read and save. 0 or -errno of the file; a message is printed. A wait for a reader is ended by
 * a signal. */
int recording_finish(struct recording *rec);
/* The save alone, while it goes on. */
int recording_save(struct recording *rec);
void recording_done(struct recording *rec);
/* Why the file could not be written. */
const char *recording_strerror(int r);

/* One screen of facts. */
void recording_summary(const struct recording *rec, FILE *out);

#endif
