/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The tables of a Hatchet file: metrics, processes, devices, lanes, sets … */
#include "format/hatchet_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "core/ranges_wanted.h"
#include "format/hatchet_kind.h"

#define METRICS_MAX 10000 /* beyond, a file is not a profile: its other keys are left out */

int hread_warn(struct hread *r, enum warning warning)
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

int hread_map_add(struct id_map *m, uint32_t id)
{
	if (id == SESSION_NONE)
		return -ENOMEM;
	if (ARRAY_ROOM(m->ids, m->cap, m->n + 1) < 0)
		return -ENOMEM;
	m->ids[m->n++] = id;
	return 0;
}

/* An entry of the wrong kind takes a number as well, since the file refers to entries by number. */
static int map_add_nothing(struct id_map *m)
{
	int ret = hread_map_add(m, 0);

	if (ret == 0)
		m->ids[m->n - 1] = SESSION_NONE;
	return ret;
}

uint32_t hread_map_get(const struct id_map *m, uint64_t index)
{
	return index < m->n ? m->ids[index] : SESSION_NONE;
}

static const char *text_of_key(const struct hread *r, uint32_t key)
{
	return strtab_whole(r->f.keys, key, r->s->strings);
}

static const char *key_text(const struct hread *r, size_t key_at)
{
	return text_of_key(r, (uint32_t)token_payload(&r->f.tokens, key_at));
}

size_t hread_find(const struct hread *r, size_t map, enum hatchet_key key)
{
	return token_find(&r->f.tokens, map, key);
}

uint64_t hread_u64(const struct hread *r, size_t at, uint64_t missing)
{
	uint64_t v;

	return at && token_u64(&r->f.tokens, at, &v) ? v : missing;
}

uint32_t hread_u32(const struct hread *r, size_t at, uint32_t missing)
{
	uint64_t v = hread_u64(r, at, missing);

	return v <= UINT32_MAX ? (uint32_t)v : missing;
}

uint32_t hread_hex(struct hread *r, const char *hex, size_t len)
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

uint32_t hread_string(struct hread *r, size_t at)
{
	const struct tokens *t = &r->f.tokens;
	size_t hex;
	uint32_t id;

	if (!at)
		return 0;
	if (token_at(t, at) == TOKEN_STRING)
		return (uint32_t)token_payload(t, at);
	hex = hread_find(r, at, KEY_HEX);
	if (!hex || token_at(t, hex) != TOKEN_STRING)
		return 0;
	id = (uint32_t)token_payload(t, hex);
	return hread_hex(r, strtab_str(r->s->strings, id), strtab_len(r->s->strings, id));
}

const char *hread_text(const struct hread *r, size_t at)
{
	if (!at || token_at(&r->f.tokens, at) != TOKEN_STRING)
		return "";
	return session_text(r->s, (uint32_t)token_payload(&r->f.tokens, at));
}

int hread_each(struct hread *r, size_t list, enum token kind, uint32_t of,
	       int (*f)(struct hread *r, uint32_t of, size_t at))
{
	const struct tokens *t = &r->f.tokens;
	int ret = 0;

	if (!list || token_at(t, list) != TOKEN_ARRAY)
		return 0;
	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at))
		if (kind == TOKEN_NONE || token_at(t, at) == kind)
			ret = f(r, of, at);
	return ret;
}

static uint8_t get_word(const struct hread *r, size_t at, const char *const *words, uint8_t n)
{
	const char *text = hread_text(r, at);

	for (uint8_t i = 0; i < n; i++)
		if (!strcmp(words[i], text))
			return i;
	return 0;
}

/* A number, or one of the words for numbers that JSON does not have. */
static bool get_f64(const struct hread *r, size_t at, double *ret)
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
		if (!strcmp(hread_text(r, at), words[i].word)) {
			*ret = words[i].v;
			return true;
		}
	}
	return false;
}

/* ---- the small structures ---- */

static struct newer_loss *newer_loss(struct hread *r, const char *word)
{
	size_t i = 0;

	while (i < r->n_newer && i < NEWER_LOSSES - 1 && strcmp(r->newer[i].word, word) != 0)
		i++;
	if (i == r->n_newer)
		r->newer[r->n_newer++].word = i < NEWER_LOSSES - 1 ? word : NULL;
	return &r->newer[i];
}

static void add_newer_loss(struct hread *r, const char *word, size_t at)
{
	bool is_number = token_is_number(&r->f.tokens, at);
	uint64_t n = hread_u64(r, at, 0);
	struct newer_loss *loss;

	if (is_number && token_f64(&r->f.tokens, at) == 0)
		return;
	loss = newer_loss(r, word);
	loss->is_vague = loss->is_vague || !n;
	if (__builtin_add_overflow(loss->n, n, &loss->n))
		loss->n = UINT64_MAX;
}

static void read_losses(struct hread *r, size_t map, uint64_t losses[LOSS_N])
{
	const struct tokens *t = &r->f.tokens;

	if (!map || token_at(t, map) != TOKEN_MAP)
		return;
	for (size_t at = token_first(map); token_at(t, at) == TOKEN_KEY;
	     at = token_next(t, at + 1)) {
		unsigned i = 0;

		while (i < LOSS_N && strcmp(loss_word((enum loss)i), key_text(r, at)) != 0)
			i++;
		if (i < LOSS_N)
			losses[i] = hread_u64(r, at + 1, 0);
		else
			add_newer_loss(r, key_text(r, at), at + 1);
	}
}

/* What a newer version counted is a loss all the same: as a note, it stays with the profile, also
 * when that is written again. */
static int note_newer_losses(struct hread *r)
{
	_cleanup_(buf_done) struct buf text = {0};
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < r->n_newer; i++) {
		const struct newer_loss *loss = &r->newer[i];

		buf_clear(&text);
		buf_puts(&text, LOSS_NEWER);
		if (loss->n)
			buf_printf(&text, "%s%" PRIu64 " ", loss->is_vague ? "at least " : "",
				   loss->n);
		buf_printf(&text, "%.64s", loss->word ? loss->word : "of further kinds");
		ret = text.error ? -ENOMEM
				 : session_note(r->s, SESSION_NONE, NOTE_WARNING, buf_str(&text));
	}
	return ret;
}

static int32_t get_i32(const struct hread *r, size_t at)
{
	double v = token_f64(&r->f.tokens, at);

	return v >= INT32_MIN && v <= INT32_MAX ? (int32_t)v : 0;
}

static uint32_t get_metric(const struct hread *r, size_t at)
{
	if (!at || token_at(&r->f.tokens, at) != TOKEN_STRING)
		return METRIC_NONE;
	return metric_table_find(r->s->metrics, hread_text(r, at));
}

/* A list of strings as one string, each word with a NUL behind it. */
static uint32_t get_words(struct hread *r, size_t list)
{
	const struct tokens *t = &r->f.tokens;
	_cleanup_(buf_done) struct buf words = {0};

	if (token_at(t, list) != TOKEN_ARRAY)
		return 0;
	for (size_t at = token_first(list); token_at(t, at) != TOKEN_END; at = token_next(t, at)) {
		uint32_t word = hread_string(r, at);
		const char *s = strtab_str(r->s->strings, word);

		buf_put(&words, s, strlen(s)); /* up to a NUL: no program got more */
		buf_putc(&words, 0);
	}
	if (words.error)
		return 0;
	list = strtab_add(r->s->strings, buf_str(&words), words.len);
	return list == STRTAB_NONE ? 0 : (uint32_t)list;
}

/* What is no number of one is not made into one. */
static uint32_t get_status(const struct hread *r, size_t at)
{
	double v;

	return get_f64(r, at, &v) && v == trunc(v) ? hread_u32(r, at, SESSION_NONE) : SESSION_NONE;
}

static void read_field(struct hread *r, const struct field *field, size_t at, void *row)
{
	void *p = (char *)row + field->offset;

	switch (field->type) {
	case FIELD_STRING:
		*(uint32_t *)p = hread_string(r, at);
		break;
	case FIELD_WORDS:
		*(uint32_t *)p = get_words(r, at);
		break;
	case FIELD_U32:
	case FIELD_AMOUNT:
	case FIELD_LATENCY:
		*(uint32_t *)p = hread_u32(r, at, 0);
		break;
	case FIELD_STATUS:
		*(uint32_t *)p = get_status(r, at);
		break;
	case FIELD_I32:
		*(int32_t *)p = get_i32(r, at);
		break;
	case FIELD_U64:
		*(uint64_t *)p = hread_u64(r, at, 0);
		break;
	case FIELD_F64:
	case FIELD_COUNTED:
		if (!get_f64(r, at, p))
			*(double *)p = NAN;
		break;
	case FIELD_TOLD:
		if (!get_f64(r, at, p))
			*(double *)p = 0;
		break;
	case FIELD_BOOL:
		*(bool *)p = token_at(&r->f.tokens, at) == TOKEN_TRUE;
		break;
	case FIELD_HEX64:
		*(uint64_t *)p = strtoull(hread_text(r, at), NULL, 16);
		break;
	case FIELD_INDEX:
	case FIELD_NODE:
	case FIELD_LANE:
	case FIELD_EPOCH:
	case FIELD_PROCESS:
	case FIELD_DEVICE:
	case FIELD_PART:
		*(uint32_t *)p = hread_u32(r, at, SESSION_NONE);
		break;
	case FIELD_METRIC:
		*(uint32_t *)p = get_metric(r, at);
		break;
	case FIELD_END:
		*(uint8_t *)p = get_word(r, at, process_end_words, 3);
		break;
	case FIELD_DIRECTION:
		*(uint8_t *)p = get_word(r, at, direction_words, COPY_N_DIRECTIONS);
		break;
	case FIELD_CHANNEL:
		*(uint8_t *)p = get_word(r, at, channel_kind_words, CHANNEL_N_KINDS);
		break;
	case FIELD_REASON:
		*(uint8_t *)p = get_word(r, at, reason_words, UNRECORDED_N);
		break;
	case FIELD_LEVEL:
		*(uint8_t *)p = get_word(r, at, note_level_words, 3);
		break;
	case FIELD_LOSSES:
		read_losses(r, at, p);
		break;
	}
}

/* Where a file has no such field: numbers are 0. */
static void begin_table(struct hread *r, enum table_id id)
{
	const struct row_table *table = &row_tables[id];

	memset(&r->empty, 0, sizeof(r->empty));
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct field *f = &table->fields[i];

		if (f->key && field_is_id(f->type))
			*row_id(&r->empty, f) = SESSION_NONE;
		else if (f->type == FIELD_COUNTED)
			*(double *)(void *)((char *)&r->empty + f->offset) = NAN;
	}
	row_ids(id, &r->ids);
}

static void read_row(struct hread *r, const struct row_table *table, size_t map, void *row)
{
	const struct tokens *t = &r->f.tokens;

	memcpy(row, &r->empty, table->row_size);
	for (size_t at = token_first(map); token_at(t, at) == TOKEN_KEY;
	     at = token_next(t, at + 1)) {
		const char *key = key_text(r, at);

		for (size_t i = 0; i < table->n_fields; i++)
			if (table->fields[i].key && !strcmp(table->fields[i].key, key))
				read_field(r, &table->fields[i], at + 1, row);
	}
}

uint32_t hread_row_id(const struct hread *r, enum table_id table, uint32_t index)
{
	return hread_map_get(&r->tables[table], index);
}

/* Each process that a file lists is one, also where it says no instance, or the same one again. */
static int add_process(struct hread *r, void *row)
{
	struct session_process *p = row;
	uint64_t instance = p->instance;
	uint32_t id;

	while (!instance || session_process_find(r->s, instance) != SESSION_NONE)
		instance = hash_u64(instance + r->s->n_processes + 1);
	if (p->instance)
		p->instance = instance;
	id = session_process_add(r->s, instance);

	if (id != SESSION_NONE)
		r->s->processes[id] = *p;
	return hread_map_add(&r->tables[TABLE_PROCESSES], id);
}

static int add_device(struct hread *r, void *row)
{
	return hread_map_add(&r->tables[TABLE_DEVICES], session_device_intern(r->s, row));
}

static int add_epoch(struct hread *r, void *row)
{
	return hread_map_add(&r->tables[TABLE_EPOCHS], session_epoch_intern(r->s, row));
}

static int add_module(struct hread *r, void *row)
{
	return hread_map_add(&r->tables[TABLE_MODULES], session_module_intern(r->s, row));
}

static int add_lane(struct hread *r, void *row)
{
	struct session_lane *lane = row;

	lane->process = hread_row_id(r, TABLE_PROCESSES, lane->process);
	lane->device = hread_row_id(r, TABLE_DEVICES, lane->device);
	return hread_map_add(&r->tables[TABLE_LANES], session_lane_intern(r->s, lane));
}

/* One that says nothing is none. Without its number it is not known how a run ended: not that all
 * was well. */
static int add_run(struct hread *r, void *row)
{
	struct session_run *run = row;

	if (run->exit_status == SESSION_NONE || run->signal == SESSION_NONE) {
		run->exit_status = run->signal = 0;
		run->end = PROCESS_VANISHED;
	}

	if (!run->strings[RUN_COMMAND] && !run->start_ns && !run->wall_ns)
		return 0;
	return session_run_add(r->s, run);
}

/* What is a part is no more than the whole. */
static int add_use(struct hread *r, void *row)
{
	struct session_use *use = row;

	for (unsigned i = 0; i < USE_N; i++)
		use->v[i] = MIN(use->v[i], use->v[use_at_most[i]]);
	return session_use_set(r->s, use);
}

/* A channel that is no number is not known. What is listed twice in one place, as it is then, adds up. */
static int add_copy_lane(struct hread *r, void *row)
{
	struct session_copy_lane *lane = row, *into;

	if (lane->channel == SESSION_NONE) {
		lane->channel = 0;
		lane->channel_kind = CHANNEL_UNKNOWN;
	}
	lane->hidden_ns = MIN(lane->hidden_ns, lane->time_ns);
	into = session_copy_lane_of(r->s, lane);
	if (!into)
		return -ENOMEM;
	for (size_t i = 0; i < COPY_LANE_N; i++)
		if (__builtin_add_overflow(into->v[i], lane->v[i], &into->v[i]))
			into->v[i] = UINT64_MAX;
	return 0;
}

static uint32_t id_of_node(const struct hread *r, uint32_t of)
{
	return hread_map_get(&r->nodes, of);
}

static uint32_t id_of_lane(const struct hread *r, uint32_t of)
{
	return hread_row_id(r, TABLE_LANES, of);
}

static uint32_t id_of_process(const struct hread *r, uint32_t of)
{
	return hread_row_id(r, TABLE_PROCESSES, of);
}

static uint32_t id_of_device(const struct hread *r, uint32_t of)
{
	return hread_row_id(r, TABLE_DEVICES, of);
}

/* What a file names by number, as the session has it. SESSION_NONE: it is not there. */
static uint32_t (*const id_of[FIELD_N])(const struct hread *r, uint32_t of) = {
	[FIELD_NODE] = id_of_node,
	[FIELD_LANE] = id_of_lane,
	[FIELD_PROCESS] = id_of_process,
	[FIELD_DEVICE] = id_of_device,
};

/* False: a row of nothing that is there. */
static bool name_ids(const struct hread *r, void *row)
{
	for (size_t i = 0; i < r->ids.n; i++) {
		const struct field *f = r->ids.v[i];
		uint32_t of = *row_id(row, f), id = id_of[f->type] ? id_of[f->type](r, of) : of;

		*row_id(row, f) = id;
		if (id == SESSION_NONE &&
		    (f->flags & FIELD_NEEDED || (f->flags & FIELD_OWNED && of != SESSION_NONE)))
			return false;
	}
	return true;
}

/* What is told of one twice becomes one by the table's rule: two nodes of the file may be one of ours. */
static int add_row(struct hread *r, enum table_id table, void *row)
{
	static int (*const add[TABLE_N])(struct hread *, void *) = {
		[TABLE_RUNS] = add_run, [TABLE_USES] = add_use, [TABLE_COPY_LANES] = add_copy_lane};
	int e;

	if (!name_ids(r, row))
		return hread_warn(r, WARNING_INDEX);
	e = add[table] ? add[table](r, row) : session_table_add(r->s, table, row);
	return e == -EINVAL ? hread_warn(r, WARNING_INDEX) : e;
}

static int read_entry(struct hread *r, uint32_t table, size_t at)
{
	static int (*const dimensions[TABLE_N])(struct hread *, void *) = {
		[TABLE_DEVICES] = add_device,    [TABLE_EPOCHS] = add_epoch,
		[TABLE_LANES] = add_lane,        [TABLE_MODULES] = add_module,
		[TABLE_PROCESSES] = add_process,
	};
	union any_row row;

	if (token_at(&r->f.tokens, at) != TOKEN_MAP)
		return map_add_nothing(&r->tables[table]);
	read_row(r, &row_tables[table], at, &row);
	return dimensions[table] ? dimensions[table](r, &row) : add_row(r, table, &row);
}

static int read_table(struct hread *r, enum table_id id)
{
	const char *name = row_tables[id].key;
	uint32_t key = strtab_find(r->f.keys, name, strlen(name));
	size_t list = key == STRTAB_NONE ? 0 : token_find(&r->f.tokens, r->extra, key);

	begin_table(r, id);
	return hread_each(r, list, TOKEN_NONE, id, read_entry);
}

static int read_tables(struct hread *r, const enum table_id *ids, size_t n)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = read_table(r, ids[i]);
	return ret;
}

/* ---- metrics ---- */

/* Missing, or one of the words. */
static bool is_word(const struct hread *r, size_t at, const char *const *words, uint8_t n)
{
	return !at || !strcmp(words[get_word(r, at, words, n)], hread_text(r, at));
}

/* A newer version may know further rules. How values add up by these is not known: they do not. */
static int check_rule(struct hread *r, size_t map, struct metric *m)
{
	bool known = is_word(r, hread_find(r, map, KEY_SCOPE), metric_scope_words, 3) &&
		     is_word(r, hread_find(r, map, KEY_ADD), metric_add_words, METRIC_N_ADDS);

	if (known)
		return 0;
	m->scope = METRIC_PROPERTY;
	m->add = METRIC_LAST;
	return hread_warn(r, WARNING_RULE);
}

/* late: the others are all there, so that a weight is, too, if there is one. A mean may be listed
 * before its weight. */
static int read_metric(struct hread *r, uint32_t late, size_t map)
{
	struct metric m = {
		.name = hread_text(r, hread_find(r, map, KEY_NAME)),
		.unit = hread_text(r, hread_find(r, map, KEY_UNIT)),
		.type = get_word(r, hread_find(r, map, KEY_TYPE), metric_type_words, 3),
		.scope = get_word(r, hread_find(r, map, KEY_SCOPE), metric_scope_words, 3),
		.add = get_word(r, hread_find(r, map, KEY_ADD), metric_add_words, METRIC_N_ADDS),
		.weight = METRIC_NONE,
	};
	size_t weight = hread_find(r, map, KEY_WEIGHT);
	int ret;

	if (token_at(&r->f.tokens, map) != TOKEN_MAP ||
	    metric_table_find(r->s->metrics, m.name) != METRIC_NONE)
		return 0;
	if (weight)
		m.weight = get_metric(r, weight);
	if (weight && m.weight == METRIC_NONE && !late)
		return 0;
	if (metric_table_count(r->s->metrics) >= METRICS_MAX)
		return hread_warn(r, WARNING_METRICS);
	ret = check_rule(r, map, &m);
	if (ret < 0)
		return ret;
	return metric_table_add(r->s->metrics, &m) == METRIC_NONE ? -ENOMEM : 0;
}

/* A root that lists a metric of a user comes from a version of Proton that lists all inclusive ones
 * there. */
static int learn_metrics(struct hread *r)
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
	/* Until 2024 Proton wrote "Time (ns)", "Count", "DeviceId". */
	r->is_old = r->f.facts[KEY_OLD_TIME] && !r->f.facts[KEY_TIME];
	if (r->is_old) {
		r->metric_of_key[KEY_OLD_TIME] = METRIC_TIME;
		r->metric_of_key[KEY_OLD_COUNT] = METRIC_COUNT;
	}
	return 0;
}

static enum metric_type type_of_facts(unsigned facts)
{
	if (facts & (FACT_FRACTION | FACT_NEGATIVE))
		return METRIC_F64;
	return facts & FACT_TEXT && !(facts & FACT_WHOLE) ? METRIC_TEXT : METRIC_U64;
}

/* What hardware counted has one name everywhere, which says how it adds up: means by the time in which they were
 * measured, where the file has that. */
static int guess_counted(struct hread *r, struct metric *m)
{
	static const char time[] = RANGES_TIME;
	uint32_t key = strtab_find(r->f.keys, time, sizeof(time) - 1);

	m->add = range_metric_add(m->name);
	if (m->add != METRIC_WMEAN)
		return 0;
	m->type = METRIC_F64;
	if (key == STRTAB_NONE || type_of_facts(r->f.facts[key]) == METRIC_TEXT)
		return 0;
	return hread_add_metric(r, time, r->f.facts[key], &m->weight);
}

/* A metric that the file only mentions: what it is follows from its values and its name. */
int hread_add_metric(struct hread *r, const char *name, unsigned facts, uint32_t *ret_id)
{
	struct metric m;
	int ret = 0;

	*ret_id = metric_table_find(r->s->metrics, name);
	if (*ret_id != METRIC_NONE)
		return 0;
	metric_guess(name, type_of_facts(facts), &m);
	if (m.type != METRIC_TEXT && range_metric_is(name))
		ret = guess_counted(r, &m);
	if (ret < 0)
		return ret;
	if (metric_table_count(r->s->metrics) >= METRICS_MAX)
		return hread_warn(r, WARNING_METRICS);
	if (m.add == METRIC_SUM && m.scope == METRIC_INCLUSIVE && r->root_is_complete &&
	    !(facts & FACT_ROOT))
		m.scope = METRIC_EXCLUSIVE;
	else if (m.scope == METRIC_EXCLUSIVE && facts & FACT_ROOT)
		m.scope = METRIC_INCLUSIVE;
	*ret_id = metric_table_add(r->s->metrics, &m);
	return *ret_id == METRIC_NONE ? -ENOMEM : 0;
}

int hread_metric_of_key(struct hread *r, uint32_t key, uint32_t *ret_id)
{
	int ret = 0;

	if (r->metric_of_key[key] == METRIC_NONE)
		ret = hread_add_metric(r, text_of_key(r, key), r->f.facts[key],
				       &r->metric_of_key[key]);
	*ret_id = r->metric_of_key[key];
	return ret;
}

int hread_value(struct hread *r, uint32_t metric, size_t at, union metric_value *ret)
{
	const struct tokens *t = &r->f.tokens;
	const struct metric *m = metric_table_get(r->s->metrics, metric);
	double v;

	if (token_at(t, at) == TOKEN_NULL || !m)
		return 0;
	if (m->type == METRIC_TEXT) {
		ret->text = hread_string(r, at);
		return token_is_number(t, at) ? 0 : 1;
	}
	if (m->type == METRIC_F64) {
		if (get_f64(r, at, &ret->f64))
			return 1;
		return hread_warn(r, WARNING_MIXED);
	}
	if (token_u64(t, at, &ret->u64)) {
		v = token_f64(t, at);
		return v == floor(v) ? 1 : hread_warn(r, WARNING_PARTIAL) < 0 ? -ENOMEM : 1;
	}
	return hread_warn(r, token_is_number(t, at) ? WARNING_NEGATIVE : WARNING_MIXED);
}

void hread_store(struct hread *r, uint32_t row, uint32_t k, union metric_value v)
{
	const struct session *s = r->s;
	uint32_t at = s->rows[row].values + k;
	const struct metric *m = metric_table_get(s->metrics, s->sets[s->rows[row].set].metrics[k]);

	if (s->present[at])
		v = metric_combine(m, s->values[at], 1, v, 1);
	session_row_set(r->s, row, k, v);
}

/* ---- devices ---- */

static int name_device(struct hread *r, uint32_t type, int32_t index, uint32_t id)
{
	if (id == SESSION_NONE || ARRAY_ROOM(r->devices, r->cap_devices, r->n_devices + 1) < 0 ||
	    idindex_add(&r->device_names, hash_pair(type, (uint32_t)index),
			(uint32_t)r->n_devices) < 0)
		return -ENOMEM;
	r->devices[r->n_devices++] = (struct named_device){type, index, id};
	return 0;
}

static bool device_is_named(const void *ctx, uint32_t i, const void *key)
{
	const struct named_device *a = &((const struct hread *)ctx)->devices[i], *b = key;

	return a->type == b->type && a->index == b->index;
}

int hread_device(struct hread *r, uint32_t type, int32_t index, uint32_t *ret_id)
{
	struct session_device d = {.type = type, .index = index};
	const struct named_device key = {type, index, 0};
	uint32_t i = idindex_find(&r->device_names, hash_pair(type, (uint32_t)index),
				  device_is_named, r, &key);

	if (i != IDINDEX_NONE) {
		*ret_id = r->devices[i].id;
		return 0;
	}
	*ret_id = session_device_intern(r->s, &d);
	return name_device(r, type, index, *ret_id);
}

bool hread_device_index(const struct hread *r, size_t at, int32_t *ret)
{
	const char *text = hread_text(r, at);
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
uint32_t hread_device_type(struct hread *r, size_t at)
{
	const char *text = hread_text(r, at);

	if (!strcmp(text, "1"))
		return strtab_adds(r->s->strings, "CUDA");
	if (!strcmp(text, "0"))
		return strtab_adds(r->s->strings, "HIP");
	return strtab_adds(r->s->strings, text);
}

/* "90", and in old files 86. */
static uint32_t device_arch(struct hread *r, size_t at)
{
	uint64_t number;
	char text[24];

	if (!at || !token_is_number(&r->f.tokens, at) || !token_u64(&r->f.tokens, at, &number))
		return hread_string(r, at);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return strtab_adds(r->s->strings, text);
}

static int read_device(struct hread *r, uint32_t type, const char *id, size_t map)
{
	struct session_device d = {
		.type = type,
		.index = atoi(id),
		.arch = device_arch(r, hread_find(r, map, KEY_ARCH)),
		.bus_width_bits = hread_u32(r, hread_find(r, map, KEY_BUS_WIDTH), 0),
		.clock_khz = hread_u32(r, hread_find(r, map, KEY_CLOCK_RATE), 0),
		.memory_clock_khz = hread_u32(r, hread_find(r, map, KEY_MEMORY_CLOCK_RATE), 0),
		.num_sms = hread_u32(r, hread_find(r, map, KEY_NUM_SMS), 0),
	};

	return name_device(r, type, d.index, session_device_intern(r->s, &d));
}

/* {"CUDA": {"0": {"arch": "90", …}}} */
static int read_device_table(struct hread *r, size_t map)
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
static int read_devices(struct hread *r)
{
	int ret = read_table(r, TABLE_DEVICES);

	for (size_t i = 0; ret == 0 && i < r->tables[TABLE_DEVICES].n; i++) {
		uint32_t id = r->tables[TABLE_DEVICES].ids[i];

		if (id == SESSION_NONE)
			continue;
		ret = name_device(r, r->s->devices[id].type, r->s->devices[id].index, id);
	}
	if (r->n_devices)
		return ret;
	for (size_t i = 0; ret == 0 && i < r->f.n_devices; i++)
		ret = read_device_table(r, r->f.devices[i]);
	return ret;
}

/* ---- the tables of the root's own key ---- */

/* A listed frame has no kind without its node: until that is read, keep where it is in the
 * tokens. */
static int read_frame(struct hread *r, uint32_t unused, size_t map)
{
	(void)unused;
	return token_at(&r->f.tokens, map) == TOKEN_MAP ? hread_map_add(&r->frames, (uint32_t)map)
							: map_add_nothing(&r->frames);
}

#define SET_UNKNOWN (SESSION_NONE - 1)

/* Add a metric to a set, of which *n are different so far. If it comes again, the later place
 * counts. */
static int add_to_set(struct hread *r, uint32_t metric, uint32_t *n)
{
	struct set_seen *seen = &r->seen[metric];
	uint32_t place = *n, set = (uint32_t)r->sets.n + 1;
	int ret = 0;

	if (seen->set == set) {
		place = r->places.ids[seen->place];
		r->places.ids[seen->place] = PLACE_NONE;
		ret = hread_warn(r, WARNING_TWICE);
	} else if (ARRAY_ROOM(r->scratch, r->cap_scratch, *n + 1) < 0) {
		return -ENOMEM;
	} else {
		r->scratch[(*n)++] = metric;
	}
	*seen = (struct set_seen){set, (uint32_t)r->places.n};
	return ret < 0 ? ret : hread_map_add(&r->places, place);
}

static int read_set(struct hread *r, uint32_t unused, size_t list)
{
	const struct tokens *t = &r->f.tokens;
	uint32_t n = 0, metric;
	int ret = hread_map_add(&r->first_place, (uint32_t)r->places.n);

	(void)unused;
	if (ret == 0 && token_at(t, list) != TOKEN_ARRAY)
		return hread_map_add(&r->sets, SET_UNKNOWN);
	if (!r->seen)
		r->seen = calloc(metric_table_count(r->s->metrics), sizeof(*r->seen));
	if (!r->seen)
		return -ENOMEM;
	for (size_t at = token_first(list); ret == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at)) {
		metric = get_metric(r, at);
		if (metric == METRIC_NONE)
			return hread_map_add(&r->sets, SET_UNKNOWN);
		ret = add_to_set(r, metric, &n);
	}
	if (ret < 0)
		return ret;
	return hread_map_add(&r->sets, n ? session_set_intern(r->s, r->scratch, n) : SET_UNKNOWN);
}

const uint32_t *hread_places(const struct hread *r, uint64_t set, uint32_t *ret_n)
{
	uint32_t first = hread_map_get(&r->first_place, set);
	uint32_t next =
		set + 1 < r->first_place.n ? r->first_place.ids[set + 1] : (uint32_t)r->places.n;

	*ret_n = next - first;
	return r->places.ids + first;
}

/* The elements of a list of the root's own key. */
static int read_list(struct hread *r, enum hatchet_key key, uint32_t of,
		     int (*read)(struct hread *r, uint32_t of, size_t at))
{
	return hread_each(r, hread_find(r, r->extra, key), TOKEN_NONE, of, read);
}

static void read_session_values(struct hread *r)
{
	r->s->source = hread_string(r, hread_find(r, r->extra, KEY_SOURCE));
	r->s->start_ns = hread_u64(r, hread_find(r, r->extra, KEY_START_NS), 0);
	r->s->end_ns = hread_u64(r, hread_find(r, r->extra, KEY_END_NS), 0);
	read_losses(r, hread_find(r, r->extra, KEY_LOSSES), r->s->losses);
}

int hread_tables(struct hread *r)
{
	static const enum table_id dimensions[] = {TABLE_EPOCHS, TABLE_LANES, TABLE_MODULES};
	int ret = 0;

	if (hread_u64(r, hread_find(r, r->extra, KEY_VERSION), 1) > 1)
		ret = hread_warn(r, WARNING_NEWER);
	read_session_values(r);
	if (ret == 0)
		ret = read_list(r, KEY_METRICS, false, read_metric);
	if (ret == 0)
		ret = read_list(r, KEY_METRICS, true, read_metric);
	if (ret == 0)
		ret = learn_metrics(r);
	if (ret == 0)
		ret = read_table(r, TABLE_PROCESSES);
	if (ret == 0)
		ret = read_devices(r);
	if (ret == 0)
		ret = read_tables(r, dimensions, ARRAY_SIZE(dimensions));
	if (ret == 0)
		ret = read_list(r, KEY_FRAMES, 0, read_frame);
	if (ret == 0)
		ret = read_list(r, KEY_SETS, 0, read_set);
	if (ret == 0)
		ret = note_newer_losses(r);
	return ret;
}

int hread_references(struct hread *r)
{
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < TABLE_N; i++)
		if (row_tables[i].part != PART_DIMENSION)
			ret = read_table(r, (enum table_id)i);
	return ret;
}

void hread_done(struct hread *r)
{
	void *all[] = {r->sets.ids,      r->frames.ids,      r->nodes.ids,
		       r->first_node,    r->n_nodes,         r->devices,
		       r->metric_of_key, r->scratch,         r->scratch_values,
		       r->places.ids,    r->first_place.ids, r->seen,
		       r->sums};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		free(all[i]);
	for (size_t i = 0; i < TABLE_N; i++)
		free(r->tables[i].ids);
	idindex_done(&r->device_names);
	hatchet_file_done(&r->f);
}
