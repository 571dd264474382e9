/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_LAUNCH_CONFIG_H
#define PROTON_CORE_LAUNCH_CONFIG_H
/* How a kernel was launched: what a record of it says besides where and when it ran.
 *   thread  any: plain values */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Blocks of the grid, threads (work-items) of a block, by dimension. Where the blocks are left to the driver,
 * `block` is 0, and `grid` holds the work-items. All 0: not known. */
struct launch_shape {
	uint32_t grid[3], block[3];
};

/* Equal where all bytes are: it is made of words, without room between them. All 0: not known, or of many that are not
 * told apart. */
struct launch_config {
	struct launch_shape shape;
	uint32_t cluster
		[3]; /* blocks of a cluster, by dimension; 0: there are none, or it is not known */
	uint32_t registers;                     /* a thread; 0: what is below is not known either */
	uint32_t static_shared, dynamic_shared; /* shared memory of a block, bytes */
	uint32_t local; /* local memory of a thread, bytes: stack and spilled registers; or: */
};
#define LAUNCH_LOCAL_UNKNOWN UINT32_MAX /* nobody says it */
enum { LAUNCH_CONFIG_WORDS = sizeof(struct launch_config) / sizeof(uint32_t) };
_Static_assert(sizeof(struct launch_config) == 13 * sizeof(uint32_t), "compared, and sent, whole");

static inline bool launch_config_equal(const struct launch_config *a, const struct launch_config *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static inline bool launch_config_is_known(const struct launch_config *c)
{
	return c->shape.grid[0] != 0;
}

/* Of three dimensions; 0 where one is, UINT64_MAX where there are more than can be. */
static inline uint64_t launch_extent(const uint32_t of[3])
{
	uint64_t n;

	return __builtin_mul_overflow((uint64_t)of[0] * of[1], of[2], &n) ? UINT64_MAX : n;
}

#endif
