/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Second half of reading a Hatchet file: what hatchet_parse.c recorded becomes a session.
 *
 *   tables of the root's "proton" ─> metrics, processes, devices, lanes, sets …
 *   records                       ─> nodes, in the order of the file
 *   "metrics" or our own "rows"   ─> rows
 *   intervals, samples, notes …   ─> what refers to nodes and lanes, at the end
 *
 * Indices in a file are never trusted: each goes through a map of what was really there. */
#include "format/hatchet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/fields.h"
#include "format/hatchet_kind.h"
#include "format/hatchet_parse.h"

#define METRICS_MAX 10000 /* beyond, a file is not a profile: its other keys are left out */
#define VECTOR_MAX  1024  /* elements of one vector metric */

/* Index in the file -> id in the session. */
struct id_map {
	uint32_t *ids;
	size_t n, cap;
};

/* A device as the nodes of a file name it. */
struct named_device {
	uint32_t type; /* string id */
	int32_t index;
	uint32_t id;
};

struct reader {
	struct session *s;
	struct hatchet_file f;
	struct id_map sections[SECTION_N];
	struct id_map sets, frames;
	struct id_map nodes; /* number of a written node's part -> session node */
	uint32_t *first_node, *n_nodes; /* of a record: its first part's number, how many */
	uint32_t *metric_of_key;
	bool root_is_complete; /* the root lists inclusive metrics beyond those of kernels */
	struct named_device *devices;
	size_t n_devices, cap_devices;
	uint32_t *scratch; /* metric ids of a row */
	size_t cap_scratch;
	union metric_value *scratch_values;
	size_t cap_scratch_values;
	size_t extra; /* the root's own key, 0 = none */
	unsigned warned; /* enum warning bits */
};

/* Each is said once. */
#define WARNINGS(_)                                                                                \
	_(GARBAGE, "text after the end of the profile was ignored")                                \
	_(NEGATIVE, "negative values of a metric that counts were ignored (an overflow in the "    \
		    "program that wrote the file?)")                                               \
	_(PARTIAL, "fractions of a metric that counts were rounded")                               \
	_(MIXED, "texts in a metric that has numbers elsewhere were ignored")                      \
	_(METRICS, "too many metrics: some were ignored")                                          \
	_(VECTOR, "a list of values was cut at 1024 elements")                                     \
	_(INDEX, "entries that refer to something outside of the file were ignored")               \
	_(NEWER, "written by a newer version of proton: some of it may be missing")

enum warning {
#define _(id, text) WARNING_##id,
	WARNINGS(_)
#undef _
	WARNING_N
};

static int warn(struct reader *r, enum warning warning)
{
	static const char *const texts[WARNING_N] = {
#define _(id, text) [WARNING_##id] = text,
		WARNINGS(_)
#undef _
	};

	if (r->warned & 1u << warning)
		return 0;
	r->warned |= 1u << warning;
	return session_note(r->s, SESSION_NONE, NOTE_WARNING, texts[warning]);
}

/* ---- small helpers ---- */

static int map_add(struct id_map *m, uint32_t id)
{
	if (id == SESSION_NONE)
		return -ENOMEM;
	if (array_reserve((void **)&m->ids, &m->cap, m->n + 1, sizeof(*m->ids)) < 0)
		return -ENOMEM;
	m->ids[m->n++] = id;
	return 0;
}

static uint32_t map_get(const struct id_map *m, uint64_t index)
{
	return index < m->n ? m->ids[index] : SESSION_NONE;
}

static const char *key_text(const struct reader *r, size_t key_at)
{
	return strtab_str(r->f.keys, (uint32_t)token_payload(&r->f.tokens, key_at));
}

static size_t find(const struct reader *r, size_t map, enum hatchet_key key)
{
	return token_find(&r->f.tokens, map, key);
}

static uint64_t get_u64(const struct reader *r, size_t at, uint64_t missing)
{
	uint64_t v;

	return at && token_u64(&r->f.tokens, at, &v) ? v : missing;
}

static uint32_t get_u32(const struct reader *r, size_t at, uint32_t missing)
{
	uint64_t v = get_u64(r, at, missing);

	return v <= UINT32_MAX ? (uint32_t)v : missing;
}

/* Bytes of a string of hexadecimal digits, as a string of the session; 0 when it is none. */
static uint32_t string_of_hex(struct reader *r, const char *hex, size_t len)
{
	_cleanup_(freep) char *bytes = malloc(len / 2 + 1);
	uint32_t id;

	for (size_t i = 0; bytes && i + 1 < len; i += 2) {
		unsigned v;
		char pair[3] = {hex[i], hex[i + 1], '\0'};

		if (sscanf(pair, "%2x", &v) != 1)
			return 0;
		bytes[i / 2] = (char)v;
	}
	id = bytes ? strtab_add(r->s->strings, bytes, len / 2) : STRTAB_NONE;
	return id == STRTAB_NONE ? 0 : id;
}

/* A string of the session: plain, or {"hex": "…"} when it is not UTF-8. 0 when it is neither. */
static uint32_t get_string(struct reader *r, size_t at)
{
	const struct tokens *t = &r->f.tokens;
	size_t hex;
	uint32_t id;

	if (!at)
		return 0;
	if (token_at(t, at) == TOKEN_STRING)
		return (uint32_t)token_payload(t, at);
	hex = find(r, at, KEY_HEX);
	if (!hex || token_at(t, hex) != TOKEN_STRING)
		return 0;
	id = (uint32_t)token_payload(t, hex);
	return string_of_hex(r, strtab_str(r->s->strings, id), strtab_len(r->s->strings, id));
}

static const char *get_text(const struct reader *r, size_t at)
{
	if (!at || token_at(&r->f.tokens, at) != TOKEN_STRING)
		return "";
	return strtab_str(r->s->strings, (uint32_t)token_payload(&r->f.tokens, at));
}

static uint8_t get_word(const struct reader *r, size_t at, const char *const *words, uint8_t n)
{
	const char *text = get_text(r, at);

	for (uint8_t i = 0; i < n; i++)
		if (!strcmp(words[i], text))
			return i;
	return 0;
}

/* A number, or one of the words for what JSON has no number for. */
static bool get_f64(const struct reader *r, size_t at, double *ret)
{
	static const struct {
		const char *word;
		double v;
	} words[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};

	if (token_is_number(&r->f.tokens, at)) {
		*ret = token_f64(&r->f.tokens, at);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(get_text(r, at), words[i].word)) {
			*ret = words[i].v;
			return true;
		}
	}
	return false;
}

/* ---- the small structures ---- */

static void read_losses(const struct reader *r, size_t map, uint64_t losses[LOSS_N])
{
	const struct tokens *t = &r->f.tokens;

	if (!map || token_at(t, map) != TOKEN_MAP)
		return;
	for (size_t at = token_first(map); token_at(t, at) == TOKEN_KEY; at = token_next(t, at + 1))
		for (unsigned i = 0; i < LOSS_N; i++)
			if (!strcmp(loss_word((enum loss)i), key_text(r, at)))
				losses[i] = get_u64(r, at + 1, 0);
}

static int32_t get_i32(const struct reader *r, size_t at)
{
	double v = token_f64(&r->f.tokens, at);

	return v >= INT32_MIN && v <= INT32_MAX ? (int32_t)v : 0;
}

static uint32_t get_metric(const struct reader *r, size_t at)
{
	return metric_table_find(r->s->metrics, get_text(r, at));
}

static void read_field(struct reader *r, const struct field *field, size_t at, void *element)
{
	void *p = (char *)element + field->offset;

	switch (field->type) {
	case FIELD_STRING:
		*(uint32_t *)p = get_string(r, at);
		break;
	case FIELD_U8:
		*(uint8_t *)p = (uint8_t)get_u32(r, at, 0);
		break;
	case FIELD_U32:
		*(uint32_t *)p = get_u32(r, at, 0);
		break;
	case FIELD_I32:
		*(int32_t *)p = get_i32(r, at);
		break;
	case FIELD_U64:
		*(uint64_t *)p = get_u64(r, at, 0);
		break;
	case FIELD_F64:
		if (!get_f64(r, at, p))
			*(double *)p = NAN;
		break;
	case FIELD_BOOL:
		*(bool *)p = token_at(&r->f.tokens, at) == TOKEN_TRUE;
		break;
	case FIELD_HEX64:
		*(uint64_t *)p = strtoull(get_text(r, at), NULL, 16);
		break;
	case FIELD_INDEX:
	case FIELD_NODE:
		*(uint32_t *)p = get_u32(r, at, SESSION_NONE);
		break;
	case FIELD_METRIC:
		*(uint32_t *)p = get_metric(r, at);
		break;
	case FIELD_END:
		*(uint8_t *)p = get_word(r, at, process_end_words, 3);
		break;
	case FIELD_LEVEL:
		*(uint8_t *)p = get_word(r, at, note_level_words, 3);
		break;
	case FIELD_LOSSES:
		read_losses(r, at, p);
		break;
	}
}

static void read_element(struct reader *r, const struct section *section, size_t map, void *element)
{
	const struct tokens *t = &r->f.tokens;

	memset(element, 0, section->element_size);
	for (size_t i = 0; i < section->n_fields; i++)
		if (section->fields[i].type == FIELD_INDEX || section->fields[i].type == FIELD_NODE)
			*(uint32_t *)((char *)element + section->fields[i].offset) = SESSION_NONE;
	for (size_t at = token_first(map); token_at(t, at) == TOKEN_KEY;
	     at = token_next(t, at + 1)) {
		const char *key = key_text(r, at);

		for (size_t i = 0; i < section->n_fields; i++)
			if (!strcmp(section->fields[i].key, key))
				read_field(r, &section->fields[i], at + 1, element);
	}
}

static uint32_t section_id(const struct reader *r, enum section_id section, uint32_t index)
{
	return map_get(&r->sections[section], index);
}

static int add_process(struct reader *r, void *element)
{
	struct session_process *p = element;
	uint32_t id = session_process_add(r->s, p->instance);

	if (id != SESSION_NONE)
		r->s->processes[id] = *p;
	return map_add(&r->sections[SECTION_PROCESSES], id);
}

static int add_device(struct reader *r, void *element)
{
	return map_add(&r->sections[SECTION_DEVICES], session_device_intern(r->s, element));
}

static int add_epoch(struct reader *r, void *element)
{
	return map_add(&r->sections[SECTION_EPOCHS], session_epoch_intern(r->s, element));
}

static int add_module(struct reader *r, void *element)
{
	return map_add(&r->sections[SECTION_MODULES], session_module_intern(r->s, element));
}

static int add_lane(struct reader *r, void *element)
{
	struct session_lane *lane = element;

	lane->process = section_id(r, SECTION_PROCESSES, lane->process);
	lane->device = section_id(r, SECTION_DEVICES, lane->device);
	return map_add(&r->sections[SECTION_LANES], session_lane_intern(r->s, lane));
}

static int add_note(struct reader *r, void *element)
{
	const struct session_note *note = element;

	return session_note(r->s, section_id(r, SECTION_PROCESSES, note->process),
			    (enum note_level)note->level, strtab_str(r->s->strings, note->text));
}

static int add_clock(struct reader *r, void *element)
{
	struct session_clock *clock = element;

	clock->process = section_id(r, SECTION_PROCESSES, clock->process);
	return session_clock_add(r->s, clock);
}

static int add_sample(struct reader *r, void *element)
{
	struct session_sample *sample = element;

	sample->device = section_id(r, SECTION_DEVICES, sample->device);
	if (sample->metric == METRIC_NONE)
		return warn(r, WARNING_INDEX);
	return session_sample_add(r->s, sample);
}

static int add_interval(struct reader *r, void *element)
{
	struct session_interval *interval = element;

	interval->node = map_get(&r->nodes, interval->node);
	interval->lane = section_id(r, SECTION_LANES, interval->lane);
	if (interval->node == SESSION_NONE || interval->lane == SESSION_NONE)
		return warn(r, WARNING_INDEX);
	return session_interval_add(r->s, interval);
}

static int read_section(struct reader *r, enum section_id id)
{
	static int (*const add[SECTION_N])(struct reader *, void *) = {
		[SECTION_CLOCKS] = add_clock,       [SECTION_DEVICES] = add_device,
		[SECTION_EPOCHS] = add_epoch,       [SECTION_INTERVALS] = add_interval,
		[SECTION_LANES] = add_lane,         [SECTION_MODULES] = add_module,
		[SECTION_NOTES] = add_note,         [SECTION_PROCESSES] = add_process,
		[SECTION_SAMPLES] = add_sample,
	};
	const struct tokens *t = &r->f.tokens;
	const struct section *section = &sections[id];
	uint32_t key = strtab_find(r->f.keys, section->key, strlen(section->key));
	size_t list = key == STRTAB_NONE ? 0 : token_find(t, r->extra, key);
	union {
		struct session_process process;
		struct session_device device;
		struct session_lane lane;
		struct session_epoch epoch;
		struct session_module module;
		struct session_note note;
		struct session_sample sample;
		struct session_interval interval;
		struct session_clock clock;
	} element;
	int ret = 0;

	if (!list || token_at(t, list) != TOKEN_ARRAY)
		return 0;
	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at)) {
		if (token_at(t, at) != TOKEN_MAP)
			continue;
		read_element(r, section, at, &element);
		ret = add[id](r, &element);
	}
	return ret;
}

/* ---- metrics ---- */

static int read_metric(struct reader *r, size_t map)
{
	struct metric m = {
		.name = get_text(r, find(r, map, KEY_NAME)),
		.unit = get_text(r, find(r, map, KEY_UNIT)),
		.type = get_word(r, find(r, map, KEY_TYPE), metric_type_words, 3),
		.scope = get_word(r, find(r, map, KEY_SCOPE), metric_scope_words, 3),
		.add = get_word(r, find(r, map, KEY_ADD), metric_add_words, 5),
		.weight = METRIC_NONE,
	};
	size_t weight = find(r, map, KEY_WEIGHT);

	if (weight)
		m.weight = get_metric(r, weight);
	if (metric_table_count(r->s->metrics) >= METRICS_MAX)
		return warn(r, WARNING_METRICS);
	return metric_table_add(r->s->metrics, &m) == METRIC_NONE ? -ENOMEM : 0;
}

/* A root that lists anything that a user gave is from the time when all inclusive metrics were. */
static int learn_metrics(struct reader *r)
{
	uint32_t n = strtab_count(r->f.keys);

	r->metric_of_key = malloc((size_t)n * sizeof(*r->metric_of_key));
	if (!r->metric_of_key)
		return -ENOMEM;
	for (uint32_t key = 0; key < n; key++) {
		r->metric_of_key[key] = METRIC_NONE;
		if (r->f.facts[key] & FACT_ROOT && !hatchet_is_measured(strtab_str(r->f.keys, key)))
			r->root_is_complete = true;
	}
	return 0;
}

static enum metric_type type_of_facts(unsigned facts)
{
	if (facts & (FACT_FRACTION | FACT_NEGATIVE))
		return METRIC_F64;
	return facts & FACT_TEXT && !(facts & FACT_WHOLE) ? METRIC_TEXT : METRIC_U64;
}

/* A metric that the file only mentions: what it is follows from its values and its name. */
static int add_metric(struct reader *r, const char *name, unsigned facts, uint32_t *ret_id)
{
	struct metric m;

	*ret_id = metric_table_find(r->s->metrics, name);
	if (*ret_id != METRIC_NONE)
		return 0;
	if (metric_table_count(r->s->metrics) >= METRICS_MAX)
		return warn(r, WARNING_METRICS);
	metric_guess(name, type_of_facts(facts), &m);
	if (m.scope == METRIC_INCLUSIVE && r->root_is_complete && !(facts & FACT_ROOT))
		m.scope = METRIC_EXCLUSIVE;
	else if (m.scope == METRIC_EXCLUSIVE && facts & FACT_ROOT)
		m.scope = METRIC_INCLUSIVE;
	*ret_id = metric_table_add(r->s->metrics, &m);
	return *ret_id == METRIC_NONE ? -ENOMEM : 0;
}

static int metric_of_key(struct reader *r, uint32_t key, uint32_t *ret_id)
{
	int ret = 0;

	if (r->metric_of_key[key] == METRIC_NONE)
		ret = add_metric(r, strtab_str(r->f.keys, key), r->f.facts[key],
				 &r->metric_of_key[key]);
	*ret_id = r->metric_of_key[key];
	return ret;
}

/* A value as its metric has it. 1: done, 0: it has none. */
static int get_value(struct reader *r, uint32_t metric, size_t at, union metric_value *ret)
{
	const struct tokens *t = &r->f.tokens;
	const struct metric *m = metric_table_get(r->s->metrics, metric);
	double v;

	if (token_at(t, at) == TOKEN_NULL || !m)
		return 0;
	if (m->type == METRIC_TEXT) {
		ret->text = get_string(r, at);
		return token_is_number(t, at) ? 0 : 1;
	}
	if (m->type == METRIC_F64) {
		if (get_f64(r, at, &ret->f64))
			return 1;
		return warn(r, WARNING_MIXED);
	}
	if (token_u64(t, at, &ret->u64)) {
		v = token_f64(t, at);
		return v == floor(v) ? 1 : warn(r, WARNING_PARTIAL) < 0 ? -ENOMEM : 1;
	}
	return warn(r, token_is_number(t, at) ? WARNING_NEGATIVE : WARNING_MIXED);
}

/* ---- devices ---- */

static int name_device(struct reader *r, uint32_t type, int32_t index, uint32_t id)
{
	if (id == SESSION_NONE ||
	    array_reserve((void **)&r->devices, &r->cap_devices, r->n_devices + 1,
			  sizeof(*r->devices)) < 0)
		return -ENOMEM;
	r->devices[r->n_devices++] = (struct named_device){type, index, id};
	return 0;
}

/* The device of this type and index, made when there is none. */
static int device_of(struct reader *r, uint32_t type, int32_t index, uint32_t *ret_id)
{
	struct session_device d = {.type = type, .index = index};

	for (size_t i = 0; i < r->n_devices; i++) {
		if (r->devices[i].type == type && r->devices[i].index == index) {
			*ret_id = r->devices[i].id;
			return 0;
		}
	}
	*ret_id = session_device_intern(r->s, &d);
	return name_device(r, type, index, *ret_id);
}

/* "0" or 0; false when it is no number. */
static bool get_device_index(const struct reader *r, size_t at, int32_t *ret)
{
	const char *text = get_text(r, at);
	uint64_t v;
	char *end;
	long n;

	if (token_u64(&r->f.tokens, at, &v)) {
		*ret = (int32_t)MIN(v, (uint64_t)INT32_MAX);
		return true;
	}
	n = strtol(text, &end, 10);
	*ret = (int32_t)CLAMP(n, INT32_MIN, INT32_MAX);
	return end != text && !*end;
}

/* "CUDA"; upstream's in-kernel profiler writes its number instead. */
static uint32_t get_device_type(struct reader *r, size_t at)
{
	const char *text = get_text(r, at);

	if (!strcmp(text, "1"))
		return strtab_adds(r->s->strings, "CUDA");
	if (!strcmp(text, "0"))
		return strtab_adds(r->s->strings, "HIP");
	return strtab_adds(r->s->strings, text);
}

static int read_device(struct reader *r, uint32_t type, const char *id, size_t map)
{
	struct session_device d = {
		.type = type,
		.index = atoi(id),
		.arch = get_string(r, find(r, map, KEY_ARCH)),
		.bus_width_bits = get_u32(r, find(r, map, KEY_BUS_WIDTH), 0),
		.clock_khz = get_u32(r, find(r, map, KEY_CLOCK_RATE), 0),
		.memory_clock_khz = get_u32(r, find(r, map, KEY_MEMORY_CLOCK_RATE), 0),
		.num_sms = get_u32(r, find(r, map, KEY_NUM_SMS), 0),
	};

	return name_device(r, type, d.index, session_device_intern(r->s, &d));
}

/* {"CUDA": {"0": {"arch": "90", …}}} */
static int read_device_table(struct reader *r, size_t map)
{
	const struct tokens *t = &r->f.tokens;
	int ret = 0;

	for (size_t at = token_first(map); ret == 0 && token_at(t, at) == TOKEN_KEY;
	     at = token_next(t, at + 1)) {
		uint32_t type = strtab_adds(r->s->strings, key_text(r, at));

		if (type == STRTAB_NONE)
			return -ENOMEM;
		if (token_at(t, at + 1) != TOKEN_MAP)
			continue;
		for (size_t d = token_first(at + 1); ret == 0 && token_at(t, d) == TOKEN_KEY;
		     d = token_next(t, d + 1))
			if (token_at(t, d + 1) == TOKEN_MAP)
				ret = read_device(r, type, key_text(r, d), d + 1);
	}
	return ret;
}

/* Our own list says all that the table says, and more. */
static int read_devices(struct reader *r)
{
	int ret = read_section(r, SECTION_DEVICES);

	for (size_t i = 0; ret == 0 && i < r->sections[SECTION_DEVICES].n; i++) {
		uint32_t id = r->sections[SECTION_DEVICES].ids[i];

		ret = name_device(r, r->s->devices[id].type, r->s->devices[id].index, id);
	}
	if (r->n_devices)
		return ret;
	for (size_t i = 0; ret == 0 && i < r->f.n_devices; i++)
		ret = read_device_table(r, r->f.devices[i]);
	return ret;
}

/* ---- the tables of the root's own key ---- */

/* The kind of a listed frame is its node's; until then its place in the tokens is kept. */
static int read_frame(struct reader *r, size_t map)
{
	return map_add(&r->frames, (uint32_t)map);
}

#define SET_UNKNOWN (SESSION_NONE - 1)

static int read_set(struct reader *r, size_t list)
{
	const struct tokens *t = &r->f.tokens;
	uint32_t n = 0;

	for (size_t at = token_first(list); token_at(t, at) != TOKEN_END; at = token_next(t, at)) {
		if (array_reserve((void **)&r->scratch, &r->cap_scratch, n + 1,
				  sizeof(*r->scratch)) < 0)
			return -ENOMEM;
		r->scratch[n] = get_metric(r, at);
		if (r->scratch[n++] == METRIC_NONE)
			return map_add(&r->sets, SET_UNKNOWN);
	}
	return map_add(&r->sets, n ? session_set_intern(r->s, r->scratch, n) : SET_UNKNOWN);
}

/* Each element of this kind in a list of the root's own key. */
static int read_list(struct reader *r, enum hatchet_key key, enum token element,
		     int (*read)(struct reader *, size_t))
{
	const struct tokens *t = &r->f.tokens;
	size_t list = find(r, r->extra, key);
	int ret = 0;

	if (!list || token_at(t, list) != TOKEN_ARRAY)
		return 0;
	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at))
		if (token_at(t, at) == element)
			ret = read(r, at);
	return ret;
}

static void read_session_values(struct reader *r)
{
	r->s->source = get_string(r, find(r, r->extra, KEY_SOURCE));
	r->s->start_ns = get_u64(r, find(r, r->extra, KEY_START_NS), 0);
	r->s->end_ns = get_u64(r, find(r, r->extra, KEY_END_NS), 0);
	read_losses(r, find(r, r->extra, KEY_LOSSES), r->s->losses);
}

/* Everything that nodes and rows refer to. */
static int read_tables(struct reader *r)
{
	int ret = 0;

	if (get_u64(r, find(r, r->extra, KEY_VERSION), 1) > 1)
		ret = warn(r, WARNING_NEWER);
	read_session_values(r);
	if (ret == 0)
		ret = read_list(r, KEY_METRICS, TOKEN_MAP, read_metric);
	if (ret == 0)
		ret = learn_metrics(r);
	if (ret == 0)
		ret = read_section(r, SECTION_PROCESSES);
	if (ret == 0)
		ret = read_devices(r);
	if (ret == 0)
		ret = read_section(r, SECTION_EPOCHS);
	if (ret == 0)
		ret = read_section(r, SECTION_LANES);
	if (ret == 0)
		ret = read_section(r, SECTION_MODULES);
	if (ret == 0)
		ret = read_list(r, KEY_FRAMES, TOKEN_MAP, read_frame);
	if (ret == 0)
		ret = read_list(r, KEY_SETS, TOKEN_ARRAY, read_set);
	return ret;
}

/* What refers to nodes and lanes. */
static int read_references(struct reader *r)
{
	int ret = read_section(r, SECTION_INTERVALS);

	if (ret == 0)
		ret = read_section(r, SECTION_SAMPLES);
	if (ret == 0)
		ret = read_section(r, SECTION_CLOCKS);
	if (ret == 0)
		ret = read_section(r, SECTION_NOTES);
	return ret;
}

/* ---- nodes ---- */

static enum frame_kind get_kind(const struct reader *r, size_t part, uint32_t name, unsigned hints)
{
	size_t kind = find(r, part, KEY_KIND);

	if (kind)
		return frame_kind_parse(get_text(r, kind));
	return hatchet_guess_kind(strtab_str(r->s->strings, name),
				  strtab_len(r->s->strings, name), hints);
}

/* A frame of the list: a (module, offset), or a name with a symbol. */
static uint32_t listed_frame(struct reader *r, size_t map, enum frame_kind kind)
{
	uint32_t module = get_u32(r, find(r, map, KEY_MODULE), SESSION_NONE);
	uint32_t frame = session_frame_intern(r->s, kind, get_string(r, find(r, map, KEY_NAME)),
					      section_id(r, SECTION_MODULES, module),
					      get_u64(r, find(r, map, KEY_OFFSET), 0));

	if (frame != SESSION_NONE)
		session_frame_symbol(r->s, frame, get_string(r, find(r, map, KEY_SYMBOL)),
				     get_string(r, find(r, map, KEY_FILE)),
				     get_u32(r, find(r, map, KEY_LINE), 0));
	return frame;
}

static uint32_t frame_of(struct reader *r, const struct record *record, size_t part)
{
	enum frame_kind kind = get_kind(r, part, record->name, record->hints);
	uint32_t name = record->name, listed;
	size_t hex;

	listed = map_get(&r->frames, get_u32(r, find(r, part, KEY_FRAME), SESSION_NONE));
	if (listed != SESSION_NONE)
		return listed_frame(r, listed, kind);
	hex = find(r, part, KEY_NAME_HEX);
	if (hex) {
		const char *text = get_text(r, hex);

		name = string_of_hex(r, text, strlen(text));
	}
	return session_frame_intern(r->s, kind, name, SESSION_NONE, 0);
}

/* The session node below which a part belongs. */
static uint32_t parent_of(const struct reader *r, const struct record *record, size_t part)
{
	uint32_t i;

	if (record->parent == RECORD_NONE)
		return SESSION_ROOT;
	i = get_u32(r, find(r, part, KEY_PARENT), 0);
	if (i >= r->n_nodes[record->parent])
		i = 0;
	return r->nodes.ids[r->first_node[record->parent] + i];
}

static int add_part(struct reader *r, uint32_t i, size_t part)
{
	const struct record *record = &r->f.records[i];
	uint32_t frame = frame_of(r, record, part), node;

	if (frame == SESSION_NONE)
		return -ENOMEM;
	node = session_node_append(r->s, parent_of(r, record, part), frame);
	r->n_nodes[i]++;
	return map_add(&r->nodes, node);
}

/* Of the trees in a file the one called ROOT is the session's root; others hang below it. */
static bool is_root(const struct reader *r, const struct record *record)
{
	return record->parent == RECORD_NONE &&
	       (!record->name || !strcmp(strtab_str(r->s->strings, record->name), "ROOT"));
}

static int add_parts(struct reader *r, uint32_t i, size_t parts)
{
	const struct tokens *t = &r->f.tokens;
	int ret = 0;

	for (size_t at = token_first(parts); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at))
		if (token_at(t, at) == TOKEN_MAP)
			ret = add_part(r, i, at);
	if (ret == 0 && !r->n_nodes[i])
		ret = add_part(r, i, 0);
	return ret;
}

static int add_record(struct reader *r, uint32_t i)
{
	const struct record *record = &r->f.records[i];
	size_t parts = find(r, record->extra, KEY_PARTS);

	r->first_node[i] = (uint32_t)r->nodes.n;
	if (is_root(r, record)) {
		r->n_nodes[i] = 1;
		return map_add(&r->nodes, SESSION_ROOT);
	}
	if (parts && token_at(&r->f.tokens, parts) == TOKEN_ARRAY)
		return add_parts(r, i, parts);
	return add_part(r, i, record->extra);
}

static int read_nodes(struct reader *r)
{
	size_t n = r->f.n_records;
	int ret = 0;

	r->first_node = malloc((n + 1) * sizeof(*r->first_node));
	r->n_nodes = calloc(n + 1, sizeof(*r->n_nodes));
	if (!r->first_node || !r->n_nodes ||
	    array_reserve((void **)&r->nodes.ids, &r->nodes.cap, n, sizeof(*r->nodes.ids)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; ret == 0 && i < n; i++)
		ret = add_record(r, i);
	return ret;
}

/* ---- rows ---- */

/* A value of a row. Two lanes of the file may be one here: then it is there already. */
static void store_value(struct reader *r, uint32_t row, uint32_t k, union metric_value v)
{
	const struct session *s = r->s;
	uint32_t at = s->rows[row].values + k;
	const struct metric *m = metric_table_get(s->metrics, s->sets[s->rows[row].set].metrics[k]);

	if (s->present[at])
		v = metric_combine(m, s->values[at], 1, v, 1);
	session_row_set(r->s, row, k, v);
}

/* [lane, epoch, set, value, value …] of our own key. */
static int read_row(struct reader *r, uint32_t node, size_t list)
{
	const struct tokens *t = &r->f.tokens;
	uint64_t head[3];
	size_t at = token_first(list);
	union metric_value v;
	uint32_t row, set;
	int ret;

	for (unsigned i = 0; i < ARRAY_SIZE(head); i++) {
		if (!token_u64(t, at, &head[i]))
			return warn(r, WARNING_INDEX);
		at = token_next(t, at);
	}
	set = map_get(&r->sets, head[2]);
	if (set >= r->s->n_sets || map_get(&r->sections[SECTION_LANES], head[0]) == SESSION_NONE)
		return warn(r, WARNING_INDEX);
	row = session_row_intern(r->s, node, r->sections[SECTION_LANES].ids[head[0]],
				 MIN(map_get(&r->sections[SECTION_EPOCHS], head[1]),
				     (uint32_t)r->s->n_epochs - 1), set);
	if (row == SESSION_NONE)
		return -ENOMEM;
	for (uint32_t k = 0; k < r->s->sets[set].n && token_at(t, at) != TOKEN_END; k++) {
		ret = get_value(r, r->s->sets[set].metrics[k], at, &v);
		if (ret > 0)
			store_value(r, row, k, v);
		else if (ret < 0)
			return ret;
		at = token_next(t, at);
	}
	return 0;
}

static int read_rows(struct reader *r, uint32_t node, size_t list)
{
	const struct tokens *t = &r->f.tokens;
	int ret = 0;

	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at))
		if (token_at(t, at) == TOKEN_ARRAY)
			ret = read_row(r, node, at);
	return ret;
}

static int read_hist(struct reader *r, uint32_t node, size_t map)
{
	const struct tokens *t = &r->f.tokens;
	size_t buckets = find(r, map, KEY_BUCKETS);
	uint32_t counts[HIST_BUCKETS] = {0};
	uint32_t device = get_u32(r, find(r, map, KEY_DEVICE), SESSION_NONE);
	uint32_t process = get_u32(r, find(r, map, KEY_PROCESS), SESSION_NONE);

	if (!buckets || token_at(t, buckets) != TOKEN_ARRAY)
		return 0;
	for (size_t at = token_first(buckets); token_at(t, at) != TOKEN_END;
	     at = token_next(t, at)) {
		uint32_t b;

		if (token_at(t, at) != TOKEN_ARRAY || token_at(t, token_first(at)) == TOKEN_END)
			continue;
		b = get_u32(r, token_first(at), HIST_BUCKETS);
		if (b < HIST_BUCKETS)
			counts[b] = get_u32(r, token_next(t, token_first(at)), 0);
	}
	return session_hist_set(r->s, node, section_id(r, SECTION_DEVICES, device),
				section_id(r, SECTION_PROCESSES, process), counts);
}

static int read_hists(struct reader *r, uint32_t node, size_t list)
{
	const struct tokens *t = &r->f.tokens;
	int ret = 0;

	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at))
		if (token_at(t, at) == TOKEN_MAP)
			ret = read_hist(r, node, at);
	return ret;
}

/* A row of the metrics that were collected in scratch: their set is sorted by id. */
struct row_draft {
	uint32_t lane;
	union metric_value kernel[2];
	bool has_kernel[2];
	uint32_t n; /* of the others */
};

static int draft_value(struct reader *r, struct row_draft *d, uint32_t metric, size_t at)
{
	union metric_value v;
	uint32_t i;
	int ret = get_value(r, metric, at, &v);

	if (ret <= 0)
		return ret;
	if (metric == METRIC_TIME || metric == METRIC_COUNT) {
		d->kernel[metric] = v;
		d->has_kernel[metric] = true;
		return 0;
	}
	if (array_reserve((void **)&r->scratch, &r->cap_scratch, d->n + 1, sizeof(*r->scratch)) < 0 ||
	    array_reserve((void **)&r->scratch_values, &r->cap_scratch_values, d->n + 1,
			  sizeof(*r->scratch_values)) < 0)
		return -ENOMEM;
	for (i = d->n; i > 0 && r->scratch[i - 1] > metric; i--) {
		r->scratch[i] = r->scratch[i - 1];
		r->scratch_values[i] = r->scratch_values[i - 1];
	}
	r->scratch[i] = metric;
	r->scratch_values[i] = v;
	d->n++;
	return 0;
}

/* [1, 2.5]: one metric an element, "name[0]", "name[1]" … */
static int draft_vector(struct reader *r, struct row_draft *d, uint32_t key, size_t list)
{
	const struct tokens *t = &r->f.tokens;
	char name[512];
	uint32_t i = 0, metric;
	int ret = 0;

	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at), i++) {
		if (i == VECTOR_MAX)
			return warn(r, WARNING_VECTOR);
		if (!token_is_number(t, at))
			continue;
		snprintf(name, sizeof(name), "%.480s[%u]", strtab_str(r->f.keys, key), i);
		ret = add_metric(r, name, r->f.facts[key] & ~FACT_TEXT, &metric);
		if (ret == 0)
			ret = draft_value(r, d, metric, at);
	}
	return ret;
}

/* The root's zeros say that a metric exists, not that it was measured. */
static bool is_schema(const struct reader *r, const struct record *record, size_t at)
{
	return record->parent == RECORD_NONE && token_is_number(&r->f.tokens, at) &&
	       token_f64(&r->f.tokens, at) == 0;
}

static int draft_key(struct reader *r, const struct record *record, struct row_draft *d, size_t at)
{
	const struct tokens *t = &r->f.tokens;
	uint32_t key = (uint32_t)token_payload(t, at), metric;
	int ret;

	if (key == KEY_DEVICE_ID || key == KEY_DEVICE_TYPE || is_schema(r, record, at + 1))
		return 0;
	if (token_at(t, at + 1) == TOKEN_ARRAY)
		return draft_vector(r, d, key, at + 1);
	if (token_at(t, at + 1) == TOKEN_MAP || token_at(t, at + 1) == TOKEN_NULL)
		return 0;
	ret = metric_of_key(r, key, &metric);
	return ret < 0 || metric == METRIC_NONE ? ret : draft_value(r, d, metric, at + 1);
}

static int draft_lane(struct reader *r, size_t metrics, uint32_t *ret_lane)
{
	struct session_lane lane = {SESSION_NONE, SESSION_NONE, 0, 0, 0};
	size_t id = find(r, metrics, KEY_DEVICE_ID), type = find(r, metrics, KEY_DEVICE_TYPE);
	int32_t index;
	int ret = 0;

	if (id && get_device_index(r, id, &index)) {
		uint32_t word = get_device_type(r, type);

		if (word == STRTAB_NONE)
			return -ENOMEM;
		ret = device_of(r, word, index, &lane.device);
	}
	*ret_lane = ret < 0 ? SESSION_NONE : session_lane_intern(r->s, &lane);
	return *ret_lane == SESSION_NONE ? -ENOMEM : 0;
}

static int draft_store(struct reader *r, const struct row_draft *d, uint32_t node)
{
	uint32_t row, set;

	if (d->has_kernel[0] || d->has_kernel[1]) {
		row = session_row_intern(r->s, node, d->lane, 0, SET_KERNEL);
		if (row == SESSION_NONE)
			return -ENOMEM;
		for (uint32_t k = 0; k < 2; k++)
			if (d->has_kernel[k])
				session_row_set(r->s, row, k, d->kernel[k]);
	}
	if (!d->n)
		return 0;
	set = session_set_intern(r->s, r->scratch, d->n);
	row = set == SESSION_NONE ? set : session_row_intern(r->s, node, d->lane, 0, set);
	if (row == SESSION_NONE)
		return -ENOMEM;
	for (uint32_t k = 0; k < d->n; k++)
		session_row_set(r->s, row, k, r->scratch_values[k]);
	return 0;
}

/* The rows of a node of which the file knows "metrics" only: the kernel's two first, then one row
 * of all others. The writer leaves our own rows out when they are just these. */
static int rows_from_metrics(struct reader *r, const struct record *record, uint32_t node)
{
	const struct tokens *t = &r->f.tokens;
	struct row_draft d = {0};
	int ret = 0;

	for (size_t at = token_first(record->metrics); ret == 0 && token_at(t, at) == TOKEN_KEY;
	     at = token_next(t, at + 1))
		ret = draft_key(r, record, &d, at);
	if (ret < 0 || (!d.n && !d.has_kernel[0] && !d.has_kernel[1]))
		return ret;
	ret = draft_lane(r, record->metrics, &d.lane);
	return ret < 0 ? ret : draft_store(r, &d, node);
}

/* The rows and histograms of one part; *ret_rows: it had rows of its own. */
static int read_part(struct reader *r, uint32_t node, size_t part, bool *ret_rows)
{
	const struct tokens *t = &r->f.tokens;
	size_t rows = find(r, part, KEY_ROWS), hists = find(r, part, KEY_HISTOGRAMS);
	int ret = 0;

	if (rows && token_at(t, rows) == TOKEN_ARRAY) {
		*ret_rows = true;
		ret = read_rows(r, node, rows);
	}
	if (ret == 0 && hists && token_at(t, hists) == TOKEN_ARRAY)
		ret = read_hists(r, node, hists);
	return ret;
}

static int read_parts(struct reader *r, uint32_t i, size_t parts, bool *ret_rows)
{
	const struct tokens *t = &r->f.tokens;
	uint32_t k = 0;
	int ret = 0;

	for (size_t at = token_first(parts); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at))
		if (token_at(t, at) == TOKEN_MAP)
			ret = read_part(r, r->nodes.ids[r->first_node[i] + k++], at, ret_rows);
	return ret;
}

static int read_values(struct reader *r, uint32_t i)
{
	const struct record *record = &r->f.records[i];
	uint32_t node = r->nodes.ids[r->first_node[i]];
	size_t extra = record->extra, parts;
	bool rows = false;
	int ret;

	if (extra && node == SESSION_ROOT)
		extra = find(r, extra, KEY_ROOT);
	parts = extra && node != SESSION_ROOT ? find(r, extra, KEY_PARTS) : 0;
	if (parts && token_at(&r->f.tokens, parts) == TOKEN_ARRAY)
		ret = read_parts(r, i, parts, &rows);
	else
		ret = extra ? read_part(r, node, extra, &rows) : 0;
	if (ret == 0 && !rows && record->metrics)
		ret = rows_from_metrics(r, record, node);
	return ret;
}

/* ---- the whole ---- */

static int build(struct reader *r)
{
	int ret;

	for (size_t i = 0; i < r->f.n_records && !r->extra; i++)
		if (r->f.records[i].parent == RECORD_NONE)
			r->extra = r->f.records[i].extra;
	ret = read_tables(r);
	if (ret == 0)
		ret = read_nodes(r);
	for (uint32_t i = 0; ret == 0 && i < r->f.n_records; i++)
		ret = read_values(r, i);
	if (ret == 0)
		ret = read_references(r);
	if (ret == 0 && r->f.garbage_at)
		ret = warn(r, WARNING_GARBAGE);
	r->s->ended = true;
	return ret;
}

static void reader_done(struct reader *r)
{
	void *all[] = {r->sets.ids, r->frames.ids,    r->nodes.ids, r->first_node,     r->n_nodes,
		       r->devices,  r->metric_of_key, r->scratch,   r->scratch_values};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		free(all[i]);
	for (size_t i = 0; i < SECTION_N; i++)
		free(r->sections[i].ids);
	hatchet_file_done(&r->f);
}

int hatchet_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct reader r = {.s = s};
	int ret = hatchet_parse(in, s->strings, &r.f, error);

	if (ret == 0) {
		ret = build(&r);
		if (ret < 0)
			format_fail(error, ret, FORMAT_NO_OFFSET, "%s", strerror(-ret));
	}
	reader_done(&r);
	return ret;
}

/* A list: whether it is one of ours is for the reader to say, with the place where it is not. */
bool hatchet_detect(const char *head, size_t n)
{
	size_t i = n >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;

	while (i < n && head[i] && strchr(" \t\r\n", head[i]))
		i++;
	return i < n && head[i] == '[';
}
