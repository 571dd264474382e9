/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/counter_rows.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/util.h"
#include "core/device_order.h"
#include "core/sensors.h"

static const uint8_t order[] = {
	COUNTED_SM_ACTIVE,  COUNTED_SM_ISSUE,  COUNTED_TENSOR,    COUNTED_FMA,
	COUNTED_WARPS,      COUNTED_ENGINE,    COUNTED_BLOCKS,    COUNTED_DRAM_READ,
	COUNTED_DRAM_WRITE, COUNTED_L2_HIT,    COUNTED_PCIE_READ, COUNTED_PCIE_WRITE,
	COUNTED_NVLINK_RX,  COUNTED_NVLINK_TX, COUNTED_GPC_CLOCK, COUNTED_SYS_CLOCK};
_Static_assert(sizeof(order) == COUNTED_N, "each has its place");

/* As the memory of a device is known: the unit does not change between columns. */
static void print_gigabytes(char out[HUMAN_MAX], double v)
{
	human_rate(out, v / 1e9);
}

/* SENSOR_N: it does not tell that. */
static const struct sensor_row {
	const char *title, *unit;
	void (*print)(char out[HUMAN_MAX], double v);
	enum sensor now, mean, min, max, limit;
} sensor_rows[] = {
	{"clock, by its sensor", "MHz", human_count, SENSOR_CLOCK, SENSOR_CLOCK_MEAN,
	 SENSOR_CLOCK_MIN, SENSOR_CLOCK_MAX, SENSOR_CLOCK_LIMIT},
	{"power", "W", human_count, SENSOR_POWER, SENSOR_POWER_MEAN, SENSOR_N, SENSOR_POWER_MAX,
	 SENSOR_POWER_LIMIT},
	{"temperature", "C", human_count, SENSOR_TEMPERATURE, SENSOR_N, SENSOR_N,
	 SENSOR_TEMPERATURE_MAX, SENSOR_N},
	{"memory used", "GB", print_gigabytes, SENSOR_MEMORY, SENSOR_N, SENSOR_N, SENSOR_MEMORY_MAX,
	 SENSOR_MEMORY_TOTAL},
};
enum { ROWS_A_DEVICE = COUNTED_N + ARRAY_SIZE(sensor_rows) };

static const struct sensor_row *sensor_of(const struct counter_row *row)
{
	return &sensor_rows[row->number - COUNTED_N];
}

static double told(const struct sensors *s, enum sensor sensor)
{
	return sensor < SENSOR_N && s->v[sensor] > 0 ? s->v[sensor] : NAN;
}

static void add_sensors(struct counter_rows *rows, const struct session *s, uint32_t device)
{
	const struct sensors *of = session_sensors_find(s, device);

	for (size_t i = 0; of && i < ARRAY_SIZE(sensor_rows); i++) {
		const struct sensor_row *row = &sensor_rows[i];

		if (told(of, row->max) > 0)
			rows->v[rows->n++] =
				(struct counter_row){device,
						     (uint8_t)(COUNTED_N + i),
						     s->counting ? told(of, row->now) : NAN,
						     told(of, row->mean),
						     told(of, row->min),
						     told(of, row->max)};
	}
}

static void add_device(struct counter_rows *rows, const struct session *s, uint32_t device)
{
	struct counters_range range;
	struct counted now;

	if (!session_counters_range(s, device, &range))
		return;
	if (!session_counters_now(s, device, &now))
		counted_init(&now);
	for (size_t i = 0; i < COUNTED_N; i++) {
		uint8_t id = order[i];

		if (!isnan(range.mean.v[id]))
			rows->v[rows->n++] = (struct counter_row){device,        id,
								  now.v[id],     range.mean.v[id],
								  range.min[id], range.max[id]};
	}
	add_sensors(rows, s, device);
}

int counter_rows_make(struct counter_rows *rows, const struct session *s)
{
	_cleanup_(freep) uint32_t *devices = device_order_new(s);

	*rows = (struct counter_rows){calloc(s->n_devices * ROWS_A_DEVICE + 1, sizeof(*rows->v)),
				      0};
	if (!devices || !rows->v)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_devices; i++)
		add_device(rows, s, devices[i]);
	return 0;
}

void counter_rows_done(struct counter_rows *rows)
{
	free(rows->v);
	*rows = (struct counter_rows){NULL, 0};
}

enum counter_id counter_row_id(const struct counter_row *row)
{
	return (enum counter_id)MIN(row->number, COUNTED_N);
}

enum sensor counter_row_sensor(const struct counter_row *row, enum sensor *ret_limit)
{
	if (row->number < COUNTED_N)
		return SENSOR_N;
	*ret_limit = sensor_of(row)->limit;
	return sensor_of(row)->now;
}

const char *counter_row_title(const struct counter_row *row)
{
	return row->number < COUNTED_N ? counters_about[row->number].title : sensor_of(row)->title;
}

const char *counter_row_text(const struct counter_row *row, double v, char out[HUMAN_MAX])
{
	if (row->number < COUNTED_N)
		return counted_text(out, counter_row_id(row), v);
	sensor_of(row)->print(out, v);
	return sensor_of(row)->unit;
}

const char *counter_rows_why_none(const struct session *s)
{
	const char *note = session_note_about(s, COUNTERS_NONE);

	if (note)
		return note;
	return s->counters_asked ? "no hardware counters have come so far"
				 : "proton top and record read hardware counters with --counters";
}
