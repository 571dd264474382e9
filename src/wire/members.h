/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_MEMBERS_H
#define PROTON_WIRE_MEMBERS_H
/* Which phases of which sessions of an instance the epochs of its slots are in.
 *
 *   epoch ─> (session, phase) ─> (session, phase) ─> …      a chain each, at most MEMBERS_OF_EPOCH long
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/idmap.h"

#define MEMBERS_OF_EPOCH 128 /* as many as a collector has sessions at a time */
#define MEMBERS_ANY      UINT32_MAX

struct member {
	uint32_t session, phase;
	uint32_t next; /* place of the next one; 0: none */
};

struct members {
	struct idmap first; /* epoch: place of the first of its chain; 0: none */
	struct member *v;   /* place 1 and up */
	size_t n, cap;
	uint32_t spare; /* … of the first of those that are not used any more */
};

void members_done(struct members *m);
/* The epoch is in none. */
void members_clear(struct members *m, uint32_t epoch);
/* One that is there already is there once. 0, -EBADMSG: too many, or -ENOMEM. */
int members_add(struct members *m, uint32_t epoch, uint32_t session, uint32_t phase);
/* Set the bytes of the epochs that are in a phase of a session, or MEMBERS_ANY, of n. */
void members_mark(const struct members *m, uint32_t session, uint32_t phase, uint8_t *epochs,
		  size_t n);
/* Is the epoch in a phase of a session, or MEMBERS_ANY? */
bool members_has(const struct members *m, uint32_t epoch, uint32_t session, uint32_t phase);
/* The lowest phase of a session that any of n epochs is in, from this one on; MEMBERS_ANY: there is none. */
uint32_t members_next_phase(const struct members *m, uint32_t session, uint32_t from, size_t n);

#endif
