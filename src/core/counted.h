/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_COUNTED_H
#define PROTON_CORE_COUNTED_H
/* What hardware counters of a device said over a time: each number is a mean over it, of all that ran
 * there, whoever's it was. Times that follow each other add up to one, weighted by how long was counted
 * in them; so a long run is kept in as many as a short one, the older ones coarser. */
#include <stdbool.h>
#include <stdint.h>
#include "base/human.h"

enum counted_unit {
	COUNTED_PERCENT, /* of what the hardware can do at most, or of what was asked of it */
	COUNTED_BYTES,   /* per second */
	COUNTED_HZ,
	COUNTED_COUNT, /* per second */
};

/* In the order of the keys, which files have. The numbers cross the wire: never used again.
 *    id,          number, key,                      unit,    what people read, its word where there is little room */
/* clang-format off */
#define COUNTERS(_)                                                                                \
	_(BLOCKS,       0, "blocks_per_second",           COUNT,   "thread blocks", "blocks/s")     \
	_(DRAM_READ,    1, "dram_read_percent",           PERCENT, "DRAM read",     "DRAM rd")      \
	_(DRAM_WRITE,   2, "dram_write_percent",          PERCENT, "DRAM write",    "wr")           \
	_(FMA,          3, "fma_issue_percent",           PERCENT, "FMA issue",     "FMA")          \
	_(GPC_CLOCK,    4, "gpc_clock_hz",                HZ,      "GPC clock",     "GPC")          \
	_(ENGINE,       5, "gr_active_percent",           PERCENT, "GR active",     "GR")           \
	_(L2_HIT,       6, "l2_hit_percent",              PERCENT, "L2 hits",       "L2 hit")       \
	_(NVLINK_RX,    7, "nvlink_rx_bytes_per_second",  BYTES,   "NVLink rx",     "NVLink rx")    \
	_(NVLINK_TX,    8, "nvlink_tx_bytes_per_second",  BYTES,   "NVLink tx",     "tx")           \
	_(PCIE_READ,    9, "pcie_read_bytes_per_second",  BYTES,   "PCIe read",     "PCIe rd")      \
	_(PCIE_WRITE,  10, "pcie_write_bytes_per_second", BYTES,   "PCIe write",    "wr")           \
	_(SM_ACTIVE,   11, "sm_active_percent",           PERCENT, "SM active",     "SM")           \
	_(SM_ISSUE,    12, "sm_issue_percent",            PERCENT, "SM issue",      "issue")        \
	_(SYS_CLOCK,   13, "sys_clock_hz",                HZ,      "SYS clock",     "SYS")          \
	_(TENSOR,      14, "tensor_active_percent",       PERCENT, "tensor active", "tensor")       \
	_(WARPS,       15, "warps_active_percent",        PERCENT, "warps active",  "warps")
/* clang-format on */

enum counter_id {
#define _(id, number, ...) COUNTED_##id = number,
	COUNTERS(_)
#undef _
		COUNTED_N = 16
};

/* Of the samples: what is more often fills the hardware's buffer. */
#define COUNTED_INTERVAL_LEAST_NS 20000

/* How notes on them begin: that there are none, and any other. */
#define COUNTERS_NONE  "no hardware counters"
#define COUNTERS_NOTES "hardware counters"

struct counter_about {
	const char *key, *title, *word;
	enum counted_unit unit;
};
extern const struct counter_about counters_about[COUNTED_N];

struct counted {
	uint64_t start_ns, end_ns; /* CLOCK_REALTIME */
	uint64_t counted_ns;       /* of these: samples may be missing */
	uint32_t n;                /* samples of the hardware */
	double v[COUNTED_N];       /* NaN: not counted on this device */
};

/* One to which others are added. */
void counted_init(struct counted *c);
/* The mean of both; either may come first. */
void counted_add(struct counted *sum, const struct counted *more);
/* One of its numbers for people, "-" where it is NaN; returns the unit, which stands behind it. */
const char *counted_text(char out[HUMAN_MAX], enum counter_id id, double v);
/* Is it a time, and are its numbers some that hardware can tell? Numbers that are not become NaN. */
bool counted_check(struct counted *c);

#endif
