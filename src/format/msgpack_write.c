/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Hatchet in MessagePack, keys in the order of Triton's Proton: a node is a map of frame, metrics
 * and children. The sizes of maps and lists come before what is in them, and children come last,
 * so one walk in preorder writes the tree. */
#include "format/msgpack.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/export.h"
#include "format/given.h"
#include "format/hatchet_kind.h"

struct writer {
	const struct session *s;
	struct out *out;
	struct buf text;
	uint8_t *occurs; /* by metric */
	struct given_list columns;
	bool host_if_asked;
};

/* ---- items ---- */

static void put_number(struct out *out, unsigned tag, uint64_t v, unsigned size)
{
	char bytes[9] = {(char)tag};

	for (unsigned i = 0; i < size; i++)
		bytes[1 + i] = (char)(v >> (8 * (size - 1 - i)));
	out_put(out, bytes, 1 + size);
}

static void put_u64(struct out *out, uint64_t v)
{
	if (v < 0x80)
		out_putc(out, (char)v);
	else if (v <= UINT8_MAX)
		put_number(out, 0xcc, v, 1);
	else if (v <= UINT16_MAX)
		put_number(out, 0xcd, v, 2);
	else if (v <= UINT32_MAX)
		put_number(out, 0xce, v, 4);
	else
		put_number(out, 0xcf, v, 8);
}

static void put_f64(struct out *out, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	if (isfinite(v))
		put_number(out, 0xcb, bits, 8);
	else
		out_putc(out, '\xc0');
}

/* A list (fix 0x90, long 0xdc) or a map (0x80, 0xde) of n. */
static void put_size(struct out *out, unsigned fix, unsigned tag, uint32_t n)
{
	if (n < 16)
		out_putc(out, (char)(fix | n));
	else if (n <= UINT16_MAX)
		put_number(out, tag, n, 2);
	else
		put_number(out, tag + 1, n, 4);
}

static void put_map(struct writer *w, uint32_t n)
{
	put_size(w->out, 0x80, 0xde, n);
}

static void put_string(struct writer *w, const char *text, size_t len)
{
	buf_clear(&w->text);
	export_put_text(&w->text, text, len);
	len = w->text.len;
	if (len < 32)
		out_putc(w->out, (char)(0xa0 | len));
	else if (len <= UINT8_MAX)
		put_number(w->out, 0xd9, len, 1);
	else if (len <= UINT16_MAX)
		put_number(w->out, 0xda, len, 2);
	else
		put_number(w->out, 0xdb, len, 4);
	if (len)
		out_put(w->out, w->text.data, len);
}

static void put_word(struct writer *w, const char *text)
{
	put_string(w, text, strlen(text));
}

static void put_interned(struct writer *w, uint32_t id)
{
	put_string(w, strtab_str(w->s->strings, id), strtab_len(w->s->strings, id));
}

/* ---- nodes ---- */

static bool host_is_asked(const struct session *s, uint32_t node)
{
	uint32_t i = session_first_row(s, node);

	while (i != SESSION_NONE && !export_host_is_asked(s, &s->rows[i]))
		i = session_next_row(s, i);
	return i != SESSION_NONE;
}

static bool is_left_out(const struct writer *w, uint32_t node, uint32_t metric)
{
	return w->host_if_asked && (metric == METRIC_CPU_COUNT ||
				    (metric == METRIC_CPU_TIME && !host_is_asked(w->s, node)));
}

static bool has_value(const struct writer *w, uint32_t node, uint32_t metric, union metric_value *v)
{
	if (!w->occurs[metric] || !export_is_column(metric) || is_left_out(w, node, metric))
		return false;
	if (session_value(w->s, node, metric, v))
		return true;
	/* The root lists what adds up along the tree. */
	*v = (union metric_value){0};
	return node == SESSION_ROOT && export_adds_up(metric_table_get(w->s->metrics, metric));
}

/* … on the root, too, only what it has itself. */
static bool has_element(const struct writer *w, uint32_t node, uint32_t metric,
			union metric_value *v)
{
	return w->occurs[metric] && session_value(w->s, node, metric, v);
}

/* The device of a node's first row that has one. */
static const struct session_device *device_of(const struct session *s, uint32_t node)
{
	for (uint32_t i = session_first_row(s, node); i != SESSION_NONE;
	     i = session_next_row(s, i)) {
		uint32_t device = s->lanes[s->rows[i].lane].device;

		if (device < s->n_devices)
			return &s->devices[device];
	}
	return NULL;
}

static void put_value(struct writer *w, uint32_t metric, union metric_value v)
{
	const struct metric *m = metric_table_get(w->s->metrics, metric);

	if (m->type == METRIC_TEXT)
		put_interned(w, v.text);
	else if (m->type == METRIC_F64)
		put_f64(w->out, v.f64);
	else
		put_u64(w->out, v.u64);
}

static void put_index(struct writer *w, int32_t index)
{
	char digits[16];
	int n = snprintf(digits, sizeof(digits), "%d", index < 0 ? 0 : index);

	put_string(w, digits, (size_t)n);
}

/* Of the columns of one key: how many pairs of key and value a node has. *ret_list: how many of its columns, from
 * *ret_first on, are one list; 0: none are. */
static uint32_t count_columns(const struct writer *w, uint32_t node, const struct given *c,
			      uint32_t n, const struct given **ret_first, uint32_t *ret_list)
{
	uint32_t pairs = 0, elements = 0;
	union metric_value v;

	*ret_list = 0;
	for (; n && c->element == GIVEN_WHOLE; c++, n--)
		pairs += has_value(w, node, c->metric, &v);
	*ret_first = c;
	while (n && !has_element(w, node, c[n - 1].metric, &v))
		n--;
	for (uint32_t i = 0; i < n; i++)
		elements += has_element(w, node, c[i].metric, &v);
	if (pairs || !n)
		return pairs + elements;
	*ret_list = n;
	return 1;
}

static void put_list(struct writer *w, uint32_t node, const struct given *c, uint32_t n)
{
	uint32_t next = 0;
	union metric_value v;

	put_size(w->out, 0x90, 0xdc, c[n - 1].element + 1);
	for (uint32_t i = 0; i < n; i++) {
		if (c[i].element < next || !has_element(w, node, c[i].metric, &v))
			continue;
		for (; next < c[i].element; next++)
			out_putc(w->out, '\xc0');
		put_value(w, c[i].metric, v);
		next++;
	}
}

/* The columns of one key: of several values the first goes by it, others by their names. */
static void put_columns(struct writer *w, uint32_t node, const struct given *c, uint32_t n)
{
	const struct given *first;
	bool taken = false, has;
	union metric_value v;
	uint32_t list;

	count_columns(w, node, c, n, &first, &list);
	if (list) {
		put_word(w, c->key);
		put_list(w, node, first, list);
		return;
	}
	for (; n; c++, n--) {
		has = c->element == GIVEN_WHOLE ? has_value(w, node, c->metric, &v)
						: has_element(w, node, c->metric, &v);
		if (!has)
			continue;
		put_word(w, taken ? metric_table_get(w->s->metrics, c->metric)->name : c->key);
		put_value(w, c->metric, v);
		taken = true;
	}
}

static void put_device_of(struct writer *w, const struct session_device *device)
{
	put_word(w, "device_id");
	put_index(w, device->index);
	put_word(w, "device_type");
	put_interned(w, device->type);
}

static void put_metrics(struct writer *w, uint32_t node)
{
	const struct session_device *device = device_of(w->s, node);
	const struct given_list *l = &w->columns;
	const struct given *first;
	uint32_t n = device ? 2 : 0, i, run, list;

	for (i = 0; i < l->n; i += run) {
		run = given_run(l, i);
		n += count_columns(w, node, &l->given[i], run, &first, &list);
	}
	put_map(w, n);
	for (i = 0; i < l->n; i += run) {
		run = given_run(l, i);
		put_columns(w, node, &l->given[i], run);
		if (l->given[i].metric == METRIC_COUNT && device)
			put_device_of(w, device);
	}
}

static void put_node(struct writer *w, uint32_t node)
{
	uint32_t n = 0;

	put_map(w, 3);
	put_word(w, "frame");
	put_map(w, 2);
	put_word(w, "name");
	put_word(w, node == SESSION_ROOT ? "ROOT" : export_raw_name(w->s, node));
	put_word(w, "type");
	put_word(w, "function");
	put_word(w, "metrics");
	put_metrics(w, node);
	put_word(w, "children");
	for (uint32_t c = w->s->nodes[node].first_child; c != SESSION_NONE;
	     c = w->s->nodes[c].next_sibling)
		n++;
	put_size(w->out, 0x90, 0xdc, n);
}

static uint32_t next_in_preorder(const struct session *s, uint32_t node)
{
	if (s->nodes[node].first_child != SESSION_NONE)
		return s->nodes[node].first_child;
	while (node != SESSION_ROOT && s->nodes[node].next_sibling == SESSION_NONE)
		node = s->nodes[node].parent;
	return node == SESSION_ROOT ? SESSION_NONE : s->nodes[node].next_sibling;
}

/* ---- devices ---- */

static void put_device(struct writer *w, const struct session_device *d)
{
	const struct {
		const char *key;
		uint32_t value;
	} numbers[] = {
		{"clock_rate", d->clock_khz},
		{"memory_clock_rate", d->memory_clock_khz},
		{"bus_width", d->bus_width_bits},
	};

	put_index(w, d->index);
	put_map(w, 5);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		put_word(w, numbers[i].key);
		put_u64(w->out, numbers[i].value);
	}
	put_word(w, "arch");
	put_interned(w, d->arch);
	put_word(w, "num_sms");
	put_u64(w->out, d->num_sms);
}

/* The first device of its type and index; of its type alone. */
static bool is_first(const struct session *s, size_t i, bool by_index)
{
	for (size_t k = 0; k < i; k++)
		if (s->devices[k].type == s->devices[i].type &&
		    (!by_index || s->devices[k].index == s->devices[i].index))
			return false;
	return true;
}

static void put_devices_of(struct writer *w, uint32_t type)
{
	const struct session *s = w->s;
	uint32_t n = 0;

	for (size_t i = 0; i < s->n_devices; i++)
		n += s->devices[i].type == type && is_first(s, i, true);
	put_interned(w, type);
	put_map(w, n);
	for (size_t i = 0; i < s->n_devices; i++)
		if (s->devices[i].type == type && is_first(s, i, true))
			put_device(w, &s->devices[i]);
}

/* The table has its type: not one that would read as another tree. */
static bool begins_type(const struct session *s, size_t i)
{
	return is_first(s, i, false) &&
	       !hatchet_is_node_key(strtab_str(s->strings, s->devices[i].type));
}

static void put_devices(struct writer *w)
{
	uint32_t n = 0;

	for (size_t i = 0; i < w->s->n_devices; i++)
		n += begins_type(w->s, i);
	put_map(w, n);
	for (size_t i = 0; i < w->s->n_devices; i++)
		if (begins_type(w->s, i))
			put_devices_of(w, w->s->devices[i].type);
}

int msgpack_write(const struct session *s, const struct write_options *options, struct out *out)
{
	struct writer w = {.s = s, .out = out, .host_if_asked = options && options->host_if_asked};
	uint32_t node;
	int r;

	w.occurs = export_occurring(s);
	if (given_list_init(&w.columns, s->metrics, !options || !options->as_given) < 0 ||
	    !w.occurs) {
		given_list_done(&w.columns);
		free(w.occurs);
		return -ENOMEM;
	}
	given_list_sort_by_metric(&w.columns);
	buf_init(&w.text, UINT32_MAX);
	put_size(out, 0x90, 0xdc, 2);
	for (node = SESSION_ROOT; node != SESSION_NONE; node = next_in_preorder(s, node))
		put_node(&w, node);
	put_devices(&w);
	r = w.text.error;
	buf_done(&w.text);
	given_list_done(&w.columns);
	free(w.occurs);
	return r < 0 ? r : out->error;
}
