/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "sensors/look.h"

const struct look_source *const look_sources[LOOK_SOURCES] = {&look_amdsmi, &look_nvml};

uint32_t look_source_of(const char *type, const char *uuid)
{
	uint32_t i = 0;

	while (i < LOOK_SOURCES && !look_sources[i]->is_its(type, uuid))
		i++;
	return i;
}

/* What says something about the work is taken only while there is some: an idle device lowers its
 * clock, and some its link to the host. */
static void add_work(struct sensors *s, const struct sensor_look *look)
{
	s->v[SENSOR_WORKING] = 1;
	s->v[SENSOR_CLOCK_MEAN] = look->clock_mhz;
	s->v[SENSOR_CLOCK_MIN] = look->clock_mhz;
	s->v[SENSOR_CLOCK_MAX] = look->clock_mhz;
	s->v[SENSOR_POWER_MEAN] = look->power_w;
	s->v[SENSOR_PCIE_GENERATION] = look->pcie_generation;
	s->v[SENSOR_PCIE_WIDTH] = look->pcie_width;
	if (!look->cut)
		return;
	s->v[SENSOR_CUT] = 1;
	s->v[SENSOR_CUT_CLOCK] = look->clock_mhz;
	s->v[SENSOR_CUT_POWER] = look->cut & LOOK_CUT_POWER ? 1 : 0;
	s->v[SENSOR_CUT_HEAT] = look->cut & LOOK_CUT_HEAT ? 1 : 0;
	s->v[SENSOR_CUT_BRAKE] = look->cut & LOOK_CUT_BRAKE ? 1 : 0;
	s->v[SENSOR_CUT_HARDWARE] = look->cut & LOOK_CUT_HARDWARE ? 1 : 0;
}

void look_add(struct sensors *sum, const struct sensor_look *look, double errors_before,
	      unsigned others)
{
	struct sensors s = {{
		[SENSOR_LOOKS] = 1,
		[SENSOR_CLOCK] = look->clock_mhz,
		[SENSOR_CLOCK_LIMIT] = look->clock_limit_mhz,
		[SENSOR_POWER] = look->power_w,
		[SENSOR_POWER_MAX] = look->power_w,
		[SENSOR_POWER_LIMIT] = look->power_limit_w,
		[SENSOR_TEMPERATURE] = look->temperature_c,
		[SENSOR_TEMPERATURE_MAX] = look->temperature_c,
		[SENSOR_MEMORY] = look->memory_bytes,
		[SENSOR_MEMORY_MAX] = look->memory_bytes,
		[SENSOR_MEMORY_TOTAL] = look->memory_total_bytes,
		[SENSOR_PCIE_GENERATION_LIMIT] = look->pcie_generation_limit,
		[SENSOR_PCIE_WIDTH_LIMIT] = look->pcie_width_limit,
		[SENSOR_ERRORS] = look->errors - errors_before,
		[SENSOR_OTHERS] = others ? 1 : 0,
		[SENSOR_OTHERS_MAX] = others,
	}};

	if (look->working)
		add_work(&s, look);
	sensors_forget_now(sum);
	sensors_add(sum, &s);
}
