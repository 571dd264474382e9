/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/strips.h"

#define F(type, key, structure, member)                                                            \
	{                                                                                          \
		key, FIELD_##type, offsetof(struct structure, member)                              \
	}

static const struct field clock_fields[] = {
	F(U64, "clock_ns", session_clock, clock_ns),
	F(U64, "monotonic_ns", session_clock, monotonic_ns),
	F(STRING, "name", session_clock, name),
	F(INDEX, "process", session_clock, process),
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

static bool is_pages(const struct session *s, const void *element)
{
	return interval_is_pages(s, element);
}

static bool may_be_launched(const struct session *s, const void *element)
{
	return !interval_is_pages(s, element);
}

static const struct field interval_fields[] = {
	{"amount", FIELD_U32, offsetof(struct session_interval, amount), is_pages},
	F(U64, "end_ns", session_interval, end_ns),
	F(INDEX, "lane", session_interval, lane),
	{"latency_ns", FIELD_U32, offsetof(struct session_interval, latency_ns), may_be_launched},
	F(NODE, "node", session_interval, node),
	F(U64, "start_ns", session_interval, start_ns),
};

static const struct field lane_fields[] = {
	F(U32, "context", session_lane, context),   F(INDEX, "device", session_lane, device),
	F(INDEX, "process", session_lane, process), F(INDEX, "stream", session_lane, stream),
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
	F(INDEX, "process", session_note, process),
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
	F(INDEX, "device", session_sample, device),   F(METRIC, "metric", session_sample, metric),
	F(INDEX, "process", session_sample, process), F(U64, "time_ns", session_sample, time_ns),
	F(F64, "value", session_sample, value),
};

static const struct field sensor_fields[] = {
#define _(id, number, key, ...) F(TOLD, key, session_sensors, of.v[number]),
	SENSORS(_)
#undef _
		F(INDEX, "device", session_sensors, device),
};

static const struct field use_fields[] = {
#define _(number, most) F(U64, #number, session_use, number),
	USE_NUMBERS(_)
#undef _
		F(INDEX, "device", session_use, device),
	F(INDEX, "process", session_use, process),
};

static const struct field copy_lane_fields[] = {
	F(STATUS, "channel", session_copy_lane, channel),
	F(CHANNEL, "channel_kind", session_copy_lane, channel_kind),
	F(INDEX, "context", session_copy_lane, context),
	F(INDEX, "device", session_copy_lane, device),
	F(DIRECTION, "direction", session_copy_lane, direction),
	F(INDEX, "process", session_copy_lane, process),
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
	F(U64, "count", session_config, count),
	F(INDEX, "device", session_config, device),
	F(U32, "dynamic_shared_bytes", session_config, of.dynamic_shared),
	F(U32, "grid_x", session_config, of.shape.grid[0]),
	F(U32, "grid_y", session_config, of.shape.grid[1]),
	F(U32, "grid_z", session_config, of.shape.grid[2]),
	F(INDEX, "local_bytes", session_config, of.local), /* LAUNCH_LOCAL_UNKNOWN: absent */
	F(NODE, "node", session_config, node),
	F(INDEX, "process", session_config, process),
	F(U32, "registers", session_config, of.registers),
	F(U32, "static_shared_bytes", session_config, of.static_shared),
	F(U64, "time_ns", session_config, time_ns),
};

static const struct field counters_fields[] = {
	F(U64, "counted_ns", session_counters, of.counted_ns),
	F(INDEX, "device", session_counters, device),
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
	F(INDEX, "process", session_unrecorded, process),
	F(REASON, "reason", session_unrecorded, reason),
	F(U64, "start_ns", session_unrecorded, start_ns),
};

#define S(id, key, what, fields)                                                                   \
	[SECTION_##id] = {key,                                                                     \
			  fields,                                                                  \
			  ARRAY_SIZE(fields),                                                      \
			  sizeof(*((struct session *)0)->what),                                    \
			  offsetof(struct session, what),                                          \
			  offsetof(struct session, n_##what)}

const struct field_section sections[SECTION_N] = {
	S(CLOCKS, "clocks", clocks, clock_fields),
	S(COPY_LANES, "copy_lanes", copy_lanes, copy_lane_fields),
	S(COUNTERS, "counters", counters, counters_fields),
	S(DEVICES, "devices", devices, device_fields),
	S(EPOCHS, "epochs", epochs, epoch_fields),
	S(INTERVALS, "intervals", intervals, interval_fields),
	S(LANES, "lanes", lanes, lane_fields),
	S(CONFIGS, "launch_configs", configs, config_fields),
	S(MODULES, "modules", modules, module_fields),
	S(NOTES, "notes", notes, note_fields),
	S(PROCESSES, "processes", processes, process_fields),
	S(RUNS, "runs", runs, run_fields),
	S(SAMPLES, "samples", samples, sample_fields),
	S(SENSORS, "sensors", sensors, sensor_fields),
	S(UNRECORDED, "unrecorded", unrecorded, unrecorded_fields),
	S(USES, "uses", uses, use_fields),
};

const char *const process_end_words[3] = {"runs", "ended", "vanished"};
const char *const channel_kind_words[CHANNEL_N_KINDS] = {"", "compute", "copy", "decompress"};
const char *const reason_words[UNRECORDED_N] = {"", "paused", "window", "aside", "full"};
const char *const direction_words[COPY_N_DIRECTIONS] = {"", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP"};
const char *const note_level_words[3] = {"info", "warning", "error"};
const char *const metric_type_words[3] = {"u64", "f64", "text"};
const char *const metric_scope_words[3] = {"inclusive", "exclusive", "property"};
const char *const metric_add_words[METRIC_N_ADDS] = {"sum",   "min",   "max", "last",
						     "wmean", "gauge", "peak"};

size_t section_count(const struct session *s, const struct field_section *section)
{
	return *(const size_t *)((const char *)s + section->count);
}

const void *section_element(const struct session *s, const struct field_section *section, size_t i)
{
	const char *array = *(const char *const *)((const char *)s + section->array);

	return array + i * section->element_size;
}

static void write_bytes(const struct fields_writer *f, const char *s, size_t len)
{
	if (!f->hex || utf8_valid(s, len)) {
		jsonw_string(f->json, s, len);
		return;
	}
	jsonw_object(f->json);
	jsonw_key(f->json, "hex");
	jsonw_hex(f->json, s, len);
	jsonw_object_end(f->json);
}

void fields_write_string(const struct fields_writer *f, uint32_t string)
{
	write_bytes(f, strtab_str(f->session->strings, string),
		    strtab_len(f->session->strings, string));
}

static void write_words(const struct fields_writer *f, uint32_t string)
{
	const char *word = strtab_str(f->session->strings, string);
	const char *end = word + strtab_len(f->session->strings, string);

	jsonw_array(f->json);
	for (; word < end; word += strlen(word) + 1)
		write_bytes(f, word, strlen(word));
	jsonw_array_end(f->json);
}

void fields_key_string(const struct fields_writer *f, const char *key, uint32_t string)
{
	jsonw_key(f->json, key);
	fields_write_string(f, string);
}

bool fields_losses_none(const uint64_t losses[LOSS_N])
{
	for (unsigned i = 0; i < LOSS_N; i++)
		if (losses[i])
			return false;
	return true;
}

void fields_write_losses(const struct fields_writer *f, const uint64_t losses[LOSS_N])
{
	jsonw_object(f->json);
	for (unsigned i = 0; i < LOSS_N; i++) {
		if (!losses[i])
			continue;
		jsonw_key(f->json, loss_word((enum loss)i));
		jsonw_u64(f->json, losses[i]);
	}
	jsonw_object_end(f->json);
}

static void write_index(const struct fields_writer *f, uint32_t index)
{
	if (index == SESSION_NONE)
		jsonw_null(f->json);
	else
		jsonw_u64(f->json, index);
}

static void write_word(const struct fields_writer *f, const char *const words[3], uint8_t i)
{
	jsonw_strings(f->json, words[i < 3 ? i : 0]);
}

static void write_hex64(const struct fields_writer *f, uint64_t v)
{
	char text[20];

	snprintf(text, sizeof(text), "0x%016" PRIx64, v);
	jsonw_strings(f->json, text);
}

/* JSON has no infinities: they are words, which the reader knows. */
static void write_f64(const struct fields_writer *f, double v)
{
	if (v != v)
		jsonw_strings(f->json, "nan");
	else if (v - v != 0)
		jsonw_strings(f->json, v > 0 ? "inf" : "-inf");
	else
		jsonw_f64(f->json, v);
}

/* Is it the number that stands for none? */
static bool is_untold(double v, double none)
{
	return v == none || (isnan(v) && isnan(none));
}

static void write_told(const struct fields_writer *f, double v, double none)
{
	if (is_untold(v, none))
		jsonw_null(f->json);
	else
		write_f64(f, v);
}

static void write_node(const struct fields_writer *f, uint32_t node)
{
	if (node >= f->session->n_nodes)
		jsonw_null(f->json);
	else
		jsonw_u64(f->json, f->node_numbers ? f->node_numbers[node] : node);
}

static void write_metric_name(const struct fields_writer *f, uint32_t id)
{
	const struct metric *m = metric_table_get(f->session->metrics, id);

	if (m)
		jsonw_strings(f->json, m->name);
	else
		jsonw_null(f->json);
}

static void write_field(const struct fields_writer *f, const struct field *field,
			const void *element)
{
	const void *p = (const char *)element + field->offset;

	switch (field->type) {
	case FIELD_STRING:
		fields_write_string(f, *(const uint32_t *)p);
		break;
	case FIELD_WORDS:
		write_words(f, *(const uint32_t *)p);
		break;
	case FIELD_U32:
	case FIELD_STATUS:
		jsonw_u64(f->json, *(const uint32_t *)p);
		break;
	case FIELD_I32:
		jsonw_i64(f->json, *(const int32_t *)p);
		break;
	case FIELD_U64:
		jsonw_u64(f->json, *(const uint64_t *)p);
		break;
	case FIELD_F64:
		write_f64(f, *(const double *)p);
		break;
	case FIELD_TOLD:
		write_told(f, *(const double *)p, 0);
		break;
	case FIELD_COUNTED:
		write_told(f, *(const double *)p, NAN);
		break;
	case FIELD_BOOL:
		jsonw_bool(f->json, *(const bool *)p);
		break;
	case FIELD_HEX64:
		write_hex64(f, *(const uint64_t *)p);
		break;
	case FIELD_INDEX:
		write_index(f, *(const uint32_t *)p);
		break;
	case FIELD_NODE:
		write_node(f, *(const uint32_t *)p);
		break;
	case FIELD_METRIC:
		write_metric_name(f, *(const uint32_t *)p);
		break;
	case FIELD_DIRECTION:
		jsonw_strings(f->json, direction_words[*(const uint8_t *)p % COPY_N_DIRECTIONS]);
		break;
	case FIELD_CHANNEL:
		jsonw_strings(f->json, channel_kind_words[*(const uint8_t *)p % CHANNEL_N_KINDS]);
		break;
	case FIELD_REASON:
		jsonw_strings(f->json, reason_words[*(const uint8_t *)p % UNRECORDED_N]);
		break;
	case FIELD_END:
		write_word(f, process_end_words, *(const uint8_t *)p);
		break;
	case FIELD_LEVEL:
		write_word(f, note_level_words, *(const uint8_t *)p);
		break;
	case FIELD_LOSSES:
		fields_write_losses(f, p);
		break;
	}
}

/* Is the value the one that a reader assumes when the key is not there? */
static bool field_default(const struct field *field, const void *element)
{
	const void *p = (const char *)element + field->offset;

	switch (field->type) {
	case FIELD_BOOL:
	case FIELD_END:
	case FIELD_LEVEL:
	case FIELD_DIRECTION:
	case FIELD_CHANNEL:
	case FIELD_REASON:
		return *(const uint8_t *)p == 0;
	case FIELD_STRING:
	case FIELD_WORDS:
	case FIELD_U32:
	case FIELD_STATUS:
		return *(const uint32_t *)p == 0;
	case FIELD_U64:
		return *(const uint64_t *)p == 0;
	case FIELD_TOLD:
		return is_untold(*(const double *)p, 0);
	case FIELD_COUNTED:
		return is_untold(*(const double *)p, NAN);
	case FIELD_INDEX:
		return *(const uint32_t *)p == SESSION_NONE;
	case FIELD_LOSSES:
		return fields_losses_none(p);
	default:
		return false;
	}
}

static void write_element(const struct fields_writer *f, const struct field_section *section,
			  const void *element)
{
	jsonw_object_flat(f->json); /* one element a line */
	for (size_t i = 0; i < section->n_fields; i++) {
		const struct field *field = &section->fields[i];

		if ((field->has && !field->has(f->session, element)) ||
		    (!f->all && field_default(field, element)))
			continue;
		jsonw_key(f->json, field->key);
		write_field(f, field, element);
	}
	jsonw_object_end(f->json);
}

void fields_write_section(const struct fields_writer *f, const struct field_section *section)
{
	size_t n = section_count(f->session, section);

	if (!n && !f->all)
		return;
	jsonw_key_array(f->json, section->key);
	for (size_t i = 0; i < n; i++)
		write_element(f, section, section_element(f->session, section, i));
	jsonw_array_end(f->json);
}

void fields_write_metric(const struct fields_writer *f, const struct metric *m)
{
	const struct metric *weight = metric_table_get(f->session->metrics, m->weight);

	jsonw_object_flat(f->json);
	jsonw_key_text(f->json, "add", metric_add_words[m->add]);
	jsonw_key_text(f->json, "name", m->name);
	jsonw_key_text(f->json, "scope", metric_scope_words[m->scope]);
	jsonw_key_text(f->json, "type", metric_type_words[m->type]);
	jsonw_key_text(f->json, "unit", m->unit);
	if (weight)
		jsonw_key_text(f->json, "weight", weight->name);
	jsonw_object_end(f->json);
}

void fields_write_value(const struct fields_writer *f, const struct metric *m, union metric_value v)
{
	if (m->type == METRIC_TEXT)
		fields_write_string(f, v.text);
	else if (m->type == METRIC_F64)
		write_f64(f, v.f64);
	else
		jsonw_u64(f->json, v.u64);
}

/* ---- histograms ---- */

static void write_octave(struct json_writer *json, const struct hist_octave *octave)
{
	for (unsigned b = 0; b < HIST_WIDTH; b++) {
		if (!octave->n[b])
			continue;
		jsonw_array(json);
		jsonw_u64(json, hist_bin_start(octave->octave * HIST_WIDTH + b));
		jsonw_u64(json, octave->n[b]);
		jsonw_array_end(json);
	}
}

void fields_write_hist(struct json_writer *json, const char *key, const struct hist *hist)
{
	jsonw_key_array(json, key);
	for (size_t i = 0; i < hist->n; i++)
		write_octave(json, &hist->v[i]);
	jsonw_array_end(json);
}

int hist_chains_init(struct hist_chains *c, const struct session *s)
{
	if (!s->n_hists)
		return 0;
	c->first = malloc(s->n_nodes * sizeof(*c->first));
	c->next = malloc(s->n_hists * sizeof(*c->next));
	if (!c->first || !c->next)
		return -ENOMEM;
	memset(c->first, 0xff, s->n_nodes * sizeof(*c->first));
	for (size_t i = s->n_hists; i-- > 0;) {
		c->next[i] = c->first[s->hists[i].node];
		c->first[s->hists[i].node] = (uint32_t)i;
	}
	return 0;
}

void hist_chains_done(struct hist_chains *c)
{
	free(c->first);
	free(c->next);
}

uint32_t hist_chains_first(const struct hist_chains *c, uint32_t node)
{
	return c->first ? c->first[node] : SESSION_NONE;
}
