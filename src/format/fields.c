/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/strips.h"

const char *const process_end_words[3] = {"runs", "ended", "vanished"};
const char *const channel_kind_words[CHANNEL_N_KINDS] = {"", "compute", "copy", "decompress"};
const char *const reason_words[UNRECORDED_N] = {"", "paused", "window", "aside", "full"};
const char *const direction_words[COPY_N_DIRECTIONS] = {"", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP"};
const char *const note_level_words[3] = {"info", "warning", "error"};
const char *const metric_type_words[3] = {"u64", "f64", "text"};
const char *const metric_scope_words[3] = {"inclusive", "exclusive", "property"};
const char *const metric_add_words[METRIC_N_ADDS] = {"sum",   "min",   "max", "last",
						     "wmean", "gauge", "peak"};

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

static void write_field(const struct fields_writer *f, const struct field *field, const void *row)
{
	const void *p = (const char *)row + field->offset;

	switch (field->type) {
	case FIELD_STRING:
		fields_write_string(f, *(const uint32_t *)p);
		break;
	case FIELD_WORDS:
		write_words(f, *(const uint32_t *)p);
		break;
	case FIELD_U32:
	case FIELD_AMOUNT:
	case FIELD_LATENCY:
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
	case FIELD_LANE:
	case FIELD_EPOCH:
	case FIELD_PROCESS:
	case FIELD_DEVICE:
	case FIELD_PART:
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
static bool field_default(const struct field *field, const void *row)
{
	const void *p = (const char *)row + field->offset;

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
	case FIELD_AMOUNT:
	case FIELD_LATENCY:
	case FIELD_STATUS:
		return *(const uint32_t *)p == 0;
	case FIELD_U64:
		return *(const uint64_t *)p == 0;
	case FIELD_TOLD:
		return is_untold(*(const double *)p, 0);
	case FIELD_COUNTED:
		return is_untold(*(const double *)p, NAN);
	case FIELD_INDEX:
	case FIELD_LANE:
	case FIELD_PROCESS:
	case FIELD_DEVICE:
		return *(const uint32_t *)p == SESSION_NONE;
	case FIELD_LOSSES:
		return fields_losses_none(p);
	default:
		return false;
	}
}

static bool is_pages(const struct session *s, const void *row)
{
	return interval_is_pages(s, row);
}

static bool may_be_launched(const struct session *s, const void *row)
{
	return !interval_is_pages(s, row);
}

/* Has a row a field? NULL: each has. */
static bool (*const has[FIELD_N])(const struct session *s, const void *row) = {
	[FIELD_AMOUNT] = is_pages, [FIELD_LATENCY] = may_be_launched};

static void write_row(const struct fields_writer *f, const struct row_table *table, const void *row)
{
	jsonw_object_flat(f->json); /* one row a line */
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct field *field = &table->fields[i];

		if (!field->key || (has[field->type] && !has[field->type](f->session, row)) ||
		    (!f->all && field_default(field, row)))
			continue;
		jsonw_key(f->json, field->key);
		write_field(f, field, row);
	}
	jsonw_object_end(f->json);
}

void fields_write_table(const struct fields_writer *f, enum table_id id)
{
	size_t n = f->session->tables[id].n;

	if (!n && !f->all)
		return;
	jsonw_key_array(f->json, row_tables[id].key);
	for (size_t i = 0; i < n; i++)
		write_row(f, &row_tables[id], row_at(f->session, id, i));
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
