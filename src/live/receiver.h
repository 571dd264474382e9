/* SPDX-License-Identifier: MIT */
#ifndef PROTON_LIVE_RECEIVER_H
#define PROTON_LIVE_RECEIVER_H
/* The reading end of the stream: FIFO and bulk files -> decoder -> session, and -> tape.
 *   errors  -errno
 *   thread  one */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/session.h"
#include "wire/control.h"

struct forward;
struct receiver;
struct session_dir;

/* Reads from the directory, which is borrowed. tape: a path, or NULL. */
int receiver_new(const struct session_dir *dir, const char *tape, struct receiver **ret_receiver);
struct receiver *receiver_free(struct receiver *r);

/* What comes is forwarded, too; borrowed. */
void receiver_forward(struct receiver *r, struct forward *forward);

struct session *receiver_session(struct receiver *r);
/* Take what is there, at most a few MiB a call. >0: bytes taken; 0: nothing was there. */
ssize_t receiver_read(struct receiver *r);
/* This process is of the session although it was not started in it. */
void receiver_expect(struct receiver *r, pid_t pid);
/* Call it once a second: writes key frames to the tape, notices processes that vanished. */
void receiver_tick(struct receiver *r);
/* Say on the tape, and to whom it is forwarded, what is run, and what sensors say of the devices, as the session
 * knows it by now; so do the key frames and the end. */
void receiver_tape_facts(struct receiver *r);
/* … and what hardware counters said since the last time: before it becomes coarser. */
void receiver_tape_counters(struct receiver *r);
/* What is read with. */
struct wire_decoder *receiver_decoder(struct receiver *r);
/* Has it not read all yet that was announced of when operations ran? */
bool receiver_is_behind(const struct receiver *r);
/* The session directory. */
const char *receiver_folder(const struct receiver *r);
/* Open a file in the session directory that a collector has made, to read and write. -1: there is no such
 * regular file. */
int receiver_open_file(const struct receiver *r, const char *name);
/* Connected processes that are still alive. */
unsigned receiver_alive(struct receiver *r);
/* Processes that have something to report and were not heard yet. */
unsigned receiver_unheard(const struct receiver *r);
/* At the end of the run: read what is left. Processes that sent no end vanished or still run. */
int receiver_finish(struct receiver *r);

#endif
