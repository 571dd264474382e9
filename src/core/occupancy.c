/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/occupancy.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "base/util.h"

/* The same from capability 7.0 on. */
enum {
	WARP = 32,
	REGISTERS = 65536,    /* 32 bits each */
	REGISTER_UNIT = 256,  /* registers are given to a warp in pieces of so many */
	PARTITIONS = 4,       /* each has its part of the registers, and its warps */
	MOST_THREADS = 1024,  /* of a block */
	MOST_REGISTERS = 255, /* of a thread */
};

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; units and what is reserved:
 * cuda_occupancy.h of CUDA 13.0 and cudaDevAttrReservedSharedMemoryPerBlock. */
static const struct sm_limits all[] = {
	{70, 64, 32, 96 << 10, 256, 0},      {72, 64, 32, 96 << 10, 256, 0},
	{75, 32, 16, 64 << 10, 256, 0},      {80, 64, 32, 164 << 10, 128, 1024},
	{86, 48, 16, 100 << 10, 128, 1024},  {87, 48, 16, 164 << 10, 128, 1024},
	{89, 48, 24, 100 << 10, 128, 1024},  {90, 64, 32, 228 << 10, 128, 1024},
	{100, 64, 32, 228 << 10, 128, 1024}, {103, 64, 32, 228 << 10, 128, 1024},
	{110, 48, 24, 228 << 10, 128, 1024}, {120, 48, 24, 100 << 10, 128, 1024},
	{121, 48, 24, 100 << 10, 128, 1024},
};

const struct sm_limits *sm_limits_find(unsigned capability)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].capability == capability)
			return &all[i];
	return NULL;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* How many blocks there is room for, by each of the limits, in the order of their bits. */
enum { N_LIMITS = 4 };

static void make_room(const struct launch_config *c, const struct sm_limits *l, uint64_t warps,
		      uint64_t room[N_LIMITS])
{
	uint64_t registers = round_up((uint64_t)c->registers * WARP, REGISTER_UNIT);
	uint64_t shared =
		round_up((uint64_t)c->static_shared + c->dynamic_shared + l->shared_reserved,
			 l->shared_unit);

	room[0] = REGISTERS / PARTITIONS / registers * PARTITIONS / warps;
	room[1] = shared ? l->shared_bytes / shared : UINT64_MAX;
	room[2] = l->warps / warps;
	room[3] = l->blocks;
}

static void set_waves(struct occupancy *o, uint64_t n_blocks, unsigned n_sms)
{
	double whole;

	o->waves = (double)n_blocks / ((double)o->blocks * n_sms);
	whole = ceil(o->waves);
	o->tail_ratio = o->waves > 1 ? whole - o->waves : 0;
	o->tail_cost = o->tail_ratio / whole;
	o->unused_ratio = n_blocks < n_sms ? 1 - (double)n_blocks / n_sms : 0;
}

struct occupancy occupancy_of(const struct launch_config *config, const struct sm_limits *limits,
			      unsigned n_sms)
{
	struct occupancy o = {.ratio = NAN,
			      .waves = NAN,
			      .tail_ratio = NAN,
			      .tail_cost = NAN,
			      .unused_ratio = NAN};
	uint64_t threads = launch_extent(config->shape.block), warps = (threads + WARP - 1) / WARP;
	uint64_t n_blocks = launch_extent(config->shape.grid), room[N_LIMITS], least = UINT64_MAX;

	if (!limits || !threads || threads > MOST_THREADS || !config->registers ||
	    config->registers > MOST_REGISTERS)
		return o;
	make_room(config, limits, warps, room);
	for (unsigned i = 0; i < N_LIMITS; i++)
		least = MIN(least, room[i]);
	if (!least)
		return o; /* it could not have been launched */
	o.blocks = (unsigned)least;
	for (unsigned i = 0; i < N_LIMITS; i++)
		o.limits |= room[i] == least ? 1u << i : 0;
	o.ratio = (double)(least * warps) / limits->warps;
	if (n_sms && n_blocks && !config->cluster[0])
		set_waves(&o, n_blocks, n_sms);
	return o;
}

const char *occupancy_limits_text(const struct occupancy *o, char out[LAUNCH_LIMITS_TEXT])
{
	static const char *const words[N_LIMITS] = {"regs", "shared", "warps", "blocks"};
	size_t at = 0;

	snprintf(out, LAUNCH_LIMITS_TEXT, "%s", o->blocks ? "full" : "-");
	for (unsigned i = 0; i < N_LIMITS && o->ratio < 1; i++)
		if (o->limits >> i & 1)
			at += (size_t)snprintf(out + at, LAUNCH_LIMITS_TEXT - at, "%s%s",
					       at ? "+" : "", words[i]);
	return out;
}
