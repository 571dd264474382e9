/* SPDX-License-Identifier: MIT */
#ifndef PROTON_SENSORS_LOOK_H
#define PROTON_SENSORS_LOOK_H
/* One look at a device, as a vendor's library tells it, and what it adds to the looks before.
 *
 *   vendor's library ── source->look() ──> struct sensor_look ── look_add() ──> struct sensors */
#include <stdbool.h>
#include <stdint.h>
#include "core/sensors.h"

#define LOOK_PROCESSES 64

/* Why a device runs slower than its load asks for. What an operator has set is no reason. */
enum look_cut {
	LOOK_CUT_POWER = 1,
	LOOK_CUT_HEAT = 2,
	LOOK_CUT_BRAKE = 4,
	LOOK_CUT_HARDWARE = 8, /* it does not say why */
};

/* Numbers that are 0 were not told; errors: NaN. */
struct sensor_look {
	bool working; /* it had something to do */
	unsigned cut; /* enum look_cut, added up */
	double clock_mhz, clock_limit_mhz;
	double power_w, power_limit_w;
	double temperature_c;
	double memory_bytes, memory_total_bytes;
	double pcie_generation, pcie_generation_limit;
	double pcie_width, pcie_width_limit; /* lanes */
	double errors;                       /* of memory, not corrected, since some time before */
	uint32_t pids[LOOK_PROCESSES], n_processes; /* that use it, as many as there is room for */
};

/* A device that it knows. */
struct look_found {
	char uuid[56], name[64];
};

/* A vendor's library. All but `is_its` run in the helper process, which the library may crash. */
struct look_source {
	const char *library;
	/* Is it for devices of this type and uuid (struct session_device)? */
	bool (*is_its)(const char *type, const char *uuid);
	bool (*open)(void); /* once; false: it is not there */
	/* Its devices, in its own order; how many, at most `most`. NULL: it is not asked for any. */
	uint32_t (*list)(struct look_found *out, uint32_t most);
	/* NULL: it knows no device of this uuid. */
	void *(*find)(const char *uuid);
	void (*look)(void *device, struct sensor_look *ret);
};

/* A device's address may stand for its uuid: "pci-0000:c1:00.0". */
#define LOOK_BY_ADDRESS "pci-"

/* To add one: its file, and a row of the table in look.c. */
enum { LOOK_SOURCES = 2 };
extern const struct look_source *const look_sources[LOOK_SOURCES];
extern const struct look_source look_amdsmi, look_nvml;

/* Whose device is it? LOOK_SOURCES: nobody's. */
uint32_t look_source_of(const char *type, const char *uuid);

/* errors: that the look before told, NaN: there was none; others: processes there that are not of the run. */
void look_add(struct sensors *sum, const struct sensor_look *look, double errors_before,
	      unsigned others);

#endif
