/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_PTRMAP_H
#define PROTON_BACKENDS_PTRMAP_H
/* Pointer -> 64-bit value, bounded, lock-free: what the launch path remembers of a vendor's
 * objects.
 *
 * Open addressing; an entry is found within PTRMAP_PROBES places of its hash, or it is not there.
 * A key may be in it several times (a buffer mapped twice at one address). Zero-filled is empty.
 *   thread  any */
#include <stdbool.h>
#include <stdint.h>

#define PTRMAP_SLOTS  4096 /* power of two */
#define PTRMAP_PROBES 32

struct ptrmap {
	struct {
		uint64_t key; /* 0 empty, 1 was used, 2 being written, else the pointer */
		uint64_t value;
	} slots[PTRMAP_SLOTS];
};

/* false: no room near its place; the caller does without. */
bool ptrmap_add(struct ptrmap *m, const void *key, uint64_t value);
bool ptrmap_get(struct ptrmap *m, const void *key, uint64_t *ret_value);
/* Remove one entry of this key. */
bool ptrmap_take(struct ptrmap *m, const void *key, uint64_t *ret_value);
/* All that is in it by now goes. */
void ptrmap_clear(struct ptrmap *m);

#endif
