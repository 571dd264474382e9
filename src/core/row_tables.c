/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/row_tables.h"
#include "base/util.h"

/* ---- what is in a row ---- */

/* In the order that files have; what is in none behind these. */
#define FF(type, key, structure, member, flags)                                                    \
	{                                                                                          \
		key, FIELD_##type, offsetof(struct structure, member), flags                       \
	}
#define F(type, key, structure, member) FF(type, key, structure, member, 0)

static const struct field clock_fields[] = {
	F(U64, "clock_ns", session_clock, clock_ns),
	F(U64, "monotonic_ns", session_clock, monotonic_ns),
	F(STRING, "name", session_clock, name),
	F(PROCESS, "process", session_clock, process),
};

static const struct field device_fields[] = {
	F(STRING, "arch", session_device, arch),
	F(U32, "bus_width_bits", session_device, bus_width_bits),
	F(U32, "clock_khz", session_device, clock_khz),
	F(STRING, "driver", session_device, driver),
	F(STRING, "host", session_device, host),
	F(I32, "index", session_device, index),
	F(U64, "memory_bytes", session_device, memory_bytes),
	F(U32, "memory_clock_khz", session_device, memory_clock_khz),
	F(STRING, "name", session_device, name),
	F(U32, "num_sms", session_device, num_sms),
	F(STRING, "type", session_device, type),
	F(STRING, "uuid", session_device, uuid),
};

static const struct field epoch_fields[] = {
	F(U32, "index", session_epoch, index),
	F(STRING, "name", session_epoch, name),
	F(U32, "phase", session_epoch, phase),
};

static const struct field interval_fields[] = {
	F(AMOUNT, "amount", session_interval, amount),
	F(U64, "end_ns", session_interval, end_ns),
	FF(LANE, "lane", session_interval, lane, FIELD_NEEDED),
	F(LATENCY, "latency_ns", session_interval, latency_ns),
	FF(NODE, "node", session_interval, node, FIELD_NEEDED),
	F(U64, "start_ns", session_interval, start_ns),
	F(EPOCH, NULL, session_interval, epoch),
};

static const struct field lane_fields[] = {
	F(U32, "context", session_lane, context),     F(DEVICE, "device", session_lane, device),
	F(PROCESS, "process", session_lane, process), F(INDEX, "stream", session_lane, stream),
	F(U64, "thread", session_lane, thread),
};

static const struct field module_fields[] = {
	F(U64, "base", session_module, base),
	F(STRING, "build_id", session_module, build_id),
	F(STRING, "path", session_module, path),
	F(U64, "size", session_module, size),
};

static const struct field note_fields[] = {
	F(LEVEL, "level", session_note, level),
	F(PROCESS, "process", session_note, process),
	F(STRING, "text", session_note, text),
};

static const struct field process_fields[] = {
	F(U64, "buffer_bytes", session_process, buffer_bytes),
	F(STRING, "cmdline", session_process, cmdline),
	F(END, "end", session_process, end),
	F(STRING, "exe", session_process, exe),
	F(STRING, "host", session_process, host),
	F(HEX64, "instance", session_process, instance),
	F(U64, "last_ns", session_process, last_ns),
	F(U64, "launches", session_process, n_launches),
	F(BOOL, "launches_counted", session_process, launches_counted),
	F(LOSSES, "losses", session_process, losses),
	F(U64, "oldest_launch_ns", session_process, oldest_ns),
	F(U64, "own_bytes", session_process, own_bytes),
	F(U64, "own_cpu_ns", session_process, own_cpu_ns),
	F(BOOL, "paused", session_process, paused),
	F(U32, "pid", session_process, pid),
	F(U32, "ppid", session_process, ppid),
	F(I32, "rank", session_process, rank),
	F(U64, "records", session_process, n_records),
	F(U64, "start_ns", session_process, start_ns),
};

static const struct field run_fields[] = {
	F(WORDS, "command", session_run, strings[RUN_COMMAND]),
	F(END, "end", session_run, end),
	F(WORDS, "environment", session_run, strings[RUN_ENVIRONMENT]),
	F(STATUS, "exit_status", session_run, exit_status),
	F(U64, "first_work_ns", session_run, first_work_ns),
	F(STRING, "folder", session_run, strings[RUN_FOLDER]),
	F(STRING, "host", session_run, strings[RUN_HOST]),
	F(STRING, "label", session_run, strings[RUN_LABEL]),
	F(U64, "last_work_ns", session_run, last_work_ns),
	F(U64, "paused_ns", session_run, paused_ns),
	F(STATUS, "signal", session_run, signal),
	F(U64, "start_ns", session_run, start_ns),
	F(STRING, "version", session_run, strings[RUN_VERSION]),
	F(U64, "wall_ns", session_run, wall_ns),
};

static const struct field sample_fields[] = {
	F(DEVICE, "device", session_sample, device),
	FF(METRIC, "metric", session_sample, metric, FIELD_NEEDED),
	F(PROCESS, "process", session_sample, process),
	F(U64, "time_ns", session_sample, time_ns),
	F(F64, "value", session_sample, value),
};

static const struct field sensor_fields[] = {
#define _(id, number, key, ...) F(TOLD, key, session_sensors, of.v[number]),
	SENSORS(_)
#undef _
		FF(DEVICE, "device", session_sensors, device, FIELD_NEEDED),
};

static const struct field use_fields[] = {
#define _(number, most) F(U64, #number, session_use, number),
	USE_NUMBERS(_)
#undef _
		FF(DEVICE, "device", session_use, device, FIELD_NEEDED),
	FF(PROCESS, "process", session_use, process, FIELD_OWNED),
};

static const struct field copy_lane_fields[] = {
	F(STATUS, "channel", session_copy_lane, channel),
	F(CHANNEL, "channel_kind", session_copy_lane, channel_kind),
	F(INDEX, "context", session_copy_lane, context),
	FF(DEVICE, "device", session_copy_lane, device, FIELD_NEEDED),
	F(DIRECTION, "direction", session_copy_lane, direction),
	FF(PROCESS, "process", session_copy_lane, process, FIELD_OWNED),
	F(INDEX, "stream", session_copy_lane, stream),
#define _(number) F(U64, #number, session_copy_lane, number),
	COPY_LANE_NUMBERS(_)
#undef _
};

static const struct field config_fields[] = {
	F(U32, "block_x", session_config, of.shape.block[0]),
	F(U32, "block_y", session_config, of.shape.block[1]),
	F(U32, "block_z", session_config, of.shape.block[2]),
	F(U32, "cluster_x", session_config, of.cluster[0]),
	F(U32, "cluster_y", session_config, of.cluster[1]),
	F(U32, "cluster_z", session_config, of.cluster[2]),
	FF(U64, "count", session_config, count, FIELD_SUMS),
	FF(DEVICE, "device", session_config, device, FIELD_NEEDED),
	F(U32, "dynamic_shared_bytes", session_config, of.dynamic_shared),
	F(U32, "grid_x", session_config, of.shape.grid[0]),
	F(U32, "grid_y", session_config, of.shape.grid[1]),
	F(U32, "grid_z", session_config, of.shape.grid[2]),
	F(INDEX, "local_bytes", session_config, of.local), /* LAUNCH_LOCAL_UNKNOWN: absent */
	FF(NODE, "node", session_config, node, FIELD_NEEDED),
	FF(PROCESS, "process", session_config, process, FIELD_OWNED),
	F(U32, "registers", session_config, of.registers),
	F(U32, "static_shared_bytes", session_config, of.static_shared),
	FF(U64, "time_ns", session_config, time_ns, FIELD_SUMS),
	F(PART, NULL, session_config, part),
};

static const struct field counters_fields[] = {
	F(U64, "counted_ns", session_counters, of.counted_ns),
	FF(DEVICE, "device", session_counters, device, FIELD_NEEDED),
	F(U64, "end_ns", session_counters, of.end_ns),
	F(U32, "samples", session_counters, of.n),
	F(U64, "start_ns", session_counters, of.start_ns),
#define _(id, number, key, ...) F(COUNTED, key, session_counters, of.v[number]),
	COUNTERS(_)
#undef _
};

static const struct field unrecorded_fields[] = {
	F(U64, "end_ns", session_unrecorded, end_ns),
	F(U32, "number", session_unrecorded, number),
	FF(PROCESS, "process", session_unrecorded, process, FIELD_OWNED),
	F(REASON, "reason", session_unrecorded, reason),
	F(U64, "start_ns", session_unrecorded, start_ns),
};

/* ---- the tables ---- */

#define KEY_TO(structure, member)                                                                  \
	.key_size = offsetof(struct structure, member) + sizeof(((struct structure *)0)->member)
#define T(text, what, structure)                                                                   \
	.key = text, .fields = what##_fields, .n_fields = ARRAY_SIZE(what##_fields),               \
	.row_size = sizeof(struct structure)

const struct row_table row_tables[TABLE_N] = {
	[TABLE_CLOCKS] = {T("clocks", clock, session_clock), .part = PART_ALL},
	[TABLE_COPY_LANES] = {T("copy_lanes", copy_lane, session_copy_lane),
			      KEY_TO(session_copy_lane, channel_kind)},
	[TABLE_COUNTERS] = {T("counters", counters, session_counters)},
	[TABLE_DEVICES] = {T("devices", device, session_device), .part = PART_DIMENSION},
	[TABLE_EPOCHS] = {T("epochs", epoch, session_epoch), .part = PART_DIMENSION},
	[TABLE_INTERVALS] = {T("intervals", interval, session_interval), .part = PART_TRACE},
	[TABLE_LANES] = {T("lanes", lane, session_lane), .part = PART_DIMENSION},
	[TABLE_CONFIGS] = {T("launch_configs", config, session_config), KEY_TO(session_config, of),
			   .rule = ROW_SUMS},
	[TABLE_MODULES] = {T("modules", module, session_module), .part = PART_DIMENSION},
	[TABLE_NOTES] = {T("notes", note, session_note), KEY_TO(session_note, text),
			 .rule = ROW_KEEPS, .part = PART_ALL},
	[TABLE_PROCESSES] = {T("processes", process, session_process), .part = PART_DIMENSION},
	[TABLE_RUNS] = {T("runs", run, session_run), KEY_TO(session_run, end), .rule = ROW_KEEPS,
			.part = PART_ALL},
	[TABLE_SAMPLES] = {T("samples", sample, session_sample)},
	[TABLE_SENSORS] =
		{
			T("sensors", sensor, session_sensors),
			KEY_TO(session_sensors, device),
		},
	[TABLE_UNRECORDED] =
		{
			T("unrecorded", unrecorded, session_unrecorded),
			KEY_TO(session_unrecorded, number),
			.part = PART_TRACE,
		},
	[TABLE_USES] = {T("uses", use, session_use), KEY_TO(session_use, device)},
};

const struct field *row_field(enum table_id id, enum field_type type)
{
	const struct row_table *t = &row_tables[id];

	for (size_t i = 0; i < t->n_fields; i++)
		if (t->fields[i].type == type)
			return &t->fields[i];
	return NULL;
}

static bool field_names(enum field_type type)
{
	return type == FIELD_STRING || type == FIELD_WORDS || type == FIELD_PART ||
	       (field_is_id(type) && type != FIELD_INDEX);
}

void row_ids(enum table_id id, struct row_ids *ret)
{
	const struct row_table *t = &row_tables[id];

	ret->n = 0;
	for (size_t i = 0; i < t->n_fields && ret->n < ROW_IDS_MAX; i++)
		if (field_names(t->fields[i].type))
			ret->v[ret->n++] = &t->fields[i];
}
