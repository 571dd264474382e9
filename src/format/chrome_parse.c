/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "format/tokens.h"

enum place {
	AT_TOP,
	IN_DOCUMENT,
	IN_EVENTS,
	IN_EVENT,
	IN_ARGS,
	IN_CALL_STACK,
	IN_METRICS,
	IN_GRID,
	IN_BLOCK,
	IN_DEVICES,
	IN_DEVICE,
	IN_DISTRIBUTED,
	IN_SKIPPED,
	AT_END,
};

/* What a value may be. null is always allowed, and is no value. */
enum {
	NUMBER = 1 << JSON_NUMBER,
	STRING = 1 << JSON_STRING,
	OBJECT = 1 << JSON_OBJECT,
	LIST = 1 << JSON_LIST,
	ANY = 1 << JSON_NULL, /* what is not understood is left alone */
};

/* What becomes of a value. The comment says in which type of field of struct parser it is kept. */
enum form {
	MENTIONED, /* nowhere: that its key was there is all */
	LETTER,    /* char; 0 when it is not a single one */
	TIME,      /* int64_t, ns */
	TEXT,      /* uint32_t, string id of the session */
	WHOLE_32,  /* uint32_t; 0 when it does not fit */
	WHOLE_64,  /* uint64_t */
	ID,        /* uint64_t that only tells one from another */
	INDEX,     /* int32_t; -1 when it is none */
};

struct key;

struct parser {
	struct session *s;
	const struct chrome_sink *sink;
	struct json_input json;
	enum place place, back; /* back: where a value is skipped */
	uint32_t skipped;       /* depth within it */
	const struct key *key;  /* of the value that comes next */
	bool bare;              /* the document is the list of events */
	bool events_seen;
	struct chrome_event event;
	struct session_device device;
	uint64_t base_ns, major, minor, warp;
	int32_t rank;
	bool has_compute;
	uint32_t metric;    /* name of the metric whose value comes next */
	unsigned dimension; /* of a grid or a block, likewise */
};

static const struct key {
	enum place place;
	const char *text; /* case does not matter: writers differ, "External id", "external id" */
	unsigned takes;
	enum form form;
	size_t field;     /* offset in struct parser */
	size_t said;      /* offset of a bool that becomes true; 0 = none */
	enum place leads; /* of an object or a list: where its members are */
	bool prefix;      /* only the beginning must be equal */
} keys[] = {
#define IN(member) offsetof(struct parser, member)
	{IN_EVENT, "ph", STRING, LETTER, IN(event.ph)},
	{IN_EVENT, "cat", STRING, TEXT, IN(event.cat)},
	{IN_EVENT, "name", STRING | ANY, TEXT, IN(event.name)},
	{IN_EVENT, "ts", NUMBER | STRING, TIME, IN(event.ts_ns), IN(event.has_ts)},
	{IN_EVENT, "dur", NUMBER | STRING, TIME, IN(event.dur_ns), IN(event.has_dur)},
	{IN_EVENT, "pid", NUMBER | STRING, TEXT, IN(event.pid)},
	{IN_EVENT, "tid", NUMBER | STRING, TEXT, IN(event.tid)},
	{IN_EVENT, "args", OBJECT | ANY, .leads = IN_ARGS},
	{IN_ARGS, "external id", NUMBER | ANY, WHOLE_64, IN(event.external)},
	{IN_ARGS, "correlation", NUMBER | STRING | ANY, WHOLE_64, IN(event.correlation),
	 .prefix = true},
	{IN_ARGS, "device", NUMBER | STRING | ANY, INDEX, IN(event.device)},
	{IN_ARGS, "context", NUMBER | ANY, ID, IN(event.context)},
	{IN_ARGS, "stream", NUMBER | STRING | ANY, ID, IN(event.stream), IN(event.has_stream)},
	{IN_ARGS, "bytes", NUMBER | ANY, WHOLE_64, IN(event.bytes)},
	{IN_ARGS, "bytes_mean_of", NUMBER | ANY, MENTIONED, .said = IN(event.is_mean)},
	{IN_ARGS, "count", NUMBER | ANY, WHOLE_64, IN(event.n_pages)},
	{IN_ARGS, "latency_ns", NUMBER | ANY, WHOLE_64, IN(event.latency_ns)},
	{IN_ARGS, "thread", NUMBER | ANY, WHOLE_64, IN(event.thread)},
	{IN_ARGS, "deviceId", NUMBER | STRING | ANY, INDEX, IN(event.device)},
	{IN_ARGS, "streamId", NUMBER | STRING | ANY, ID, IN(event.stream), IN(event.has_stream)},
	{IN_ARGS, "contextId", NUMBER | ANY, ID, IN(event.context)},
	{IN_ARGS, "Frequency (MHz)", NUMBER | ANY, MENTIONED, .said = IN(event.in_cycles)},
	{IN_ARGS, "name", STRING | ANY, TEXT, IN(event.arg_name)},
	{IN_ARGS, "reason", STRING | ANY, TEXT, IN(event.reason)},
	{IN_ARGS, "graph node id", NUMBER | STRING | ANY, WHOLE_64, IN(event.graph_node)},
	{IN_ARGS, "original_stream", NUMBER | ANY, ID, IN(event.original_stream),
	 IN(event.has_original_stream)},
	{IN_ARGS, "str", STRING | ANY, TEXT, IN(event.arg_str)},
	{IN_ARGS, "module_fqn", STRING | ANY, TEXT, IN(event.module)},
	{IN_ARGS, "autograd_phase", STRING | ANY, TEXT, IN(event.phase)},
	{IN_ARGS, "call_stack", LIST | ANY, .leads = IN_CALL_STACK},
	{IN_ARGS, "metrics", OBJECT | ANY, .leads = IN_METRICS},
	{IN_ARGS, "grid", LIST | ANY, .leads = IN_GRID},
	{IN_ARGS, "block", LIST | ANY, .leads = IN_BLOCK},
	{IN_ARGS, "registers per thread", NUMBER | ANY, WHOLE_32, IN(event.config.registers)},
	{IN_ARGS, "shared memory", NUMBER | ANY, WHOLE_32, IN(event.config.static_shared)},
	{IN_DOCUMENT, "traceEvents", LIST, .leads = IN_EVENTS},
	{IN_DOCUMENT, "baseTimeNanoseconds", NUMBER | STRING, WHOLE_64, IN(base_ns)},
	{IN_DOCUMENT, "deviceProperties", LIST | ANY, .leads = IN_DEVICES},
	{IN_DOCUMENT, "distributedInfo", OBJECT | ANY, .leads = IN_DISTRIBUTED},
	{IN_DEVICE, "id", NUMBER | ANY, INDEX, IN(device.index)},
	{IN_DEVICE, "name", STRING | ANY, TEXT, IN(device.name)},
	{IN_DEVICE, "totalGlobalMem", NUMBER | ANY, WHOLE_64, IN(device.memory_bytes)},
	{IN_DEVICE, "computeMajor", NUMBER | ANY, WHOLE_64, IN(major), IN(has_compute)},
	{IN_DEVICE, "computeMinor", NUMBER | ANY, WHOLE_64, IN(minor)},
	{IN_DEVICE, "warpSize", NUMBER | ANY, WHOLE_64, IN(warp)},
	{IN_DEVICE, "numSms", NUMBER | ANY, WHOLE_32, IN(device.num_sms)},
	{IN_DEVICE, "type", STRING | ANY, TEXT, IN(device.type)},
	{IN_DEVICE, "arch", STRING | ANY, TEXT, IN(device.arch)},
	{IN_DEVICE, "uuid", STRING | ANY, TEXT, IN(device.uuid)},
	{IN_DEVICE, "clockRate", NUMBER | ANY, WHOLE_32, IN(device.clock_khz)},
	{IN_DEVICE, "memoryClockRate", NUMBER | ANY, WHOLE_32, IN(device.memory_clock_khz)},
	{IN_DEVICE, "memoryBusWidth", NUMBER | ANY, WHOLE_32, IN(device.bus_width_bits)},
	{IN_DISTRIBUTED, "rank", NUMBER | ANY, INDEX, IN(rank)},
#undef IN
};

static const struct key no_key = {.takes = ANY};

/* ---- numbers ---- */

/* Digits, a point and digits, in thousandths; false for any other form and beyond 63 bits. */
static bool parse_thousandths(const char *text, size_t len, int64_t *ret)
{
	const char *p = text, *end = text + len;
	int64_t v = 0;
	int decimals = -1;

	for (; p < end && decimals < 3; p++) {
		if (*p == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*p < '0' || *p > '9' || v > INT64_C(400000000000000000))
			return false;
		v = v * 10 + (*p - '0');
		decimals += decimals >= 0;
	}
	/* Beyond the third decimal only rounding is left. */
	v += p < end && *p >= '5' && *p <= '9';
	for (; p < end; p++)
		if (*p < '0' || *p > '9')
			return false;
	for (decimals = MAX(decimals, 0); decimals < 3; decimals++)
		if (__builtin_mul_overflow(v, 10, &v))
			return false;
	*ret = v;
	return len > 0;
}

/* Microseconds in decimal as nanoseconds, without the loss of a double: times since 1970 need 61
 * bits. False: not a number, or beyond 2^62 ns. */
static bool parse_us(const char *text, size_t len, int64_t *ret_ns)
{
	bool negative = len && *text == '-';
	struct number n;

	if (parse_thousandths(text + negative, len - negative, ret_ns)) {
		*ret_ns = negative ? -*ret_ns : *ret_ns;
		return llabs(*ret_ns) < INT64_C(1) << 62;
	}
	for (size_t i = 0; i < len; i++)
		if (!memchr("0123456789+-.eE", text[i], 15))
			return false;
	number_parse(text, len, &n);
	if (!len || !(n.f64 > -4.6e15 && n.f64 < 4.6e15))
		return false;
	*ret_ns = (int64_t)(n.f64 * 1000 + (n.f64 < 0 ? -0.5 : 0.5));
	return true;
}

static uint64_t parse_u64(const char *text, size_t len)
{
	struct number n;

	number_parse(text, len, &n);
	if (n.is_int)
		return n.u64;
	return n.f64 >= 0 && n.f64 < 1.8e19 ? (uint64_t)n.f64 : 0;
}

/* A number that only tells one from another, also below zero or beyond 64 bits. */
static uint64_t parse_id(const char *text, size_t len)
{
	struct number n;

	number_parse(text, len, &n);
	if (n.is_int || (n.f64 >= 0 && n.f64 < 1.8e19))
		return n.is_int ? n.u64 : (uint64_t)n.f64;
	return len > 1 && strchr("-123456789", *text) ? hash_bytes(text, len) : 0;
}

static int32_t parse_index(const char *text, size_t len)
{
	uint64_t v = len && *text >= '0' && *text <= '9' ? parse_u64(text, len) : UINT64_MAX;

	return v <= INT32_MAX ? (int32_t)v : -1;
}

static uint32_t parse_u32(const char *text, size_t len)
{
	uint64_t v = parse_u64(text, len);

	return v <= UINT32_MAX ? (uint32_t)v : 0;
}

/* ---- values ---- */

static int out_of_range(struct parser *p)
{
	p->json.failed = format_fail(p->json.error, -EINVAL, FORMAT_NO_OFFSET,
				     "wrong shape: '%s' is no time", p->key->text);
	return 0;
}

static int string_id(struct parser *p, const char *text, size_t len, uint32_t *ret)
{
	*ret = strtab_add(p->s->strings, text, len);
	return *ret == STRTAB_NONE ? json_no_memory(&p->json) : 1;
}

/* Keep the value of p->key where its row says. */
static int keep(struct parser *p, const char *text, size_t len)
{
	void *field = (char *)p + p->key->field;

	if (p->key->said)
		*(bool *)((char *)p + p->key->said) = true;
	switch (p->key->form) {
	case MENTIONED:
		break;
	case LETTER:
		*(char *)field = len == 1 ? *text : 0;
		break;
	case TIME:
		return parse_us(text, len, field) ? 1 : out_of_range(p);
	case TEXT:
		return string_id(p, text, len, field);
	case WHOLE_32:
		*(uint32_t *)field = parse_u32(text, len);
		break;
	case WHOLE_64:
		*(uint64_t *)field = parse_u64(text, len);
		break;
	case ID:
		*(uint64_t *)field = parse_id(text, len);
		break;
	case INDEX:
		*(int32_t *)field = parse_index(text, len);
		break;
	}
	return 1;
}

static int call_stack_value(struct parser *p, const char *text, size_t len)
{
	struct chrome_event *e = &p->event;

	if (ARRAY_ROOM(e->call_stack, e->cap_call_stack, e->n_call_stack + 1) < 0)
		return json_no_memory(&p->json);
	return string_id(p, text, len, &e->call_stack[e->n_call_stack++]);
}

/* Numbers, which Proton writes as strings. */
static int metric_value(struct parser *p, const char *text, size_t len)
{
	struct chrome_event *e = &p->event;
	struct number n;

	if (!len || !strchr("-0123456789", *text))
		return 1;
	number_parse(text, len, &n);
	if (ARRAY_ROOM(e->metrics, e->cap_metrics, e->n_metrics + 1) < 0)
		return json_no_memory(&p->json);
	e->metrics[e->n_metrics++] = (struct chrome_metric){p->metric, n.f64};
	return 1;
}

/* A dimension of a grid or a block; further ones are left alone. */
static int extent_value(struct parser *p, uint32_t of[3], const char *text, size_t len)
{
	if (p->dimension < 3)
		of[p->dimension++] = parse_u32(text, len);
	return 1;
}

/* ---- events ---- */

static void event_clear(struct chrome_event *e)
{
	struct chrome_event empty = {.device = -1,
				     .config.local = LAUNCH_LOCAL_UNKNOWN,
				     .call_stack = e->call_stack,
				     .cap_call_stack = e->cap_call_stack,
				     .metrics = e->metrics,
				     .cap_metrics = e->cap_metrics};

	*e = empty;
}

/* What the sink returned, turned into what a callback returns. */
static int sunk(struct parser *p, int r)
{
	if (r == -ENOMEM)
		return json_no_memory(&p->json);
	if (r < 0)
		p->json.failed = format_fail(p->json.error, r, FORMAT_NO_OFFSET,
					     "wrong shape: more devices than anybody has");
	return r == 0;
}

static int event_end(struct parser *p)
{
	p->place = IN_EVENTS;
	p->json.may_stop = p->bare;
	return sunk(p, p->sink->event(p->sink->ctx, &p->event));
}

static int device_end(struct parser *p)
{
	char arch[48];

	p->place = IN_DEVICES;
	if (p->device.index < 0)
		return 1;
	/* Devices of AMD have numbers there that are those of others elsewhere. */
	if (p->has_compute && !p->device.arch && (!p->warp || p->warp == 32)) {
		snprintf(arch, sizeof(arch), "%llu%llu", (unsigned long long)p->major,
			 (unsigned long long)p->minor);
		p->device.arch = strtab_adds(p->s->strings, arch);
		if (p->device.arch == STRTAB_NONE)
			return json_no_memory(&p->json);
	}
	return sunk(p, p->sink->device(p->sink->ctx, &p->device));
}

/* ---- what yajl calls ---- */

static int skip(struct parser *p)
{
	p->back = p->place;
	p->place = IN_SKIPPED;
	p->skipped = 1;
	return 1;
}

/* A value that does not fit its key: an error, or nothing. */
static int misfit(struct parser *p, enum json_kind kind)
{
	char what[64];

	if (p->key->takes & ANY || kind == JSON_NULL)
		return kind == JSON_OBJECT || kind == JSON_LIST ? skip(p) : 1;
	snprintf(what, sizeof(what), "'%s'", p->key->text);
	return json_wrong_shape(&p->json, what, kind);
}

/* A value at a place that holds only containers. */
static int no_container(struct parser *p, enum json_kind kind)
{
	if (p->place == AT_TOP)
		return json_wrong_shape(&p->json, "the document", kind);
	if (p->place == IN_EVENTS && kind != JSON_NULL)
		return json_wrong_shape(&p->json, "an event", kind);
	return kind == JSON_LIST || kind == JSON_OBJECT ? skip(p) : 1;
}

static bool is_said(enum json_kind kind)
{
	return kind == JSON_STRING || kind == JSON_NUMBER;
}

static int on_plain(struct parser *p, enum json_kind kind, const char *text, size_t len)
{
	switch (p->place) {
	case IN_SKIPPED:
		return 1;
	case AT_TOP:
	case IN_EVENTS:
	case IN_DEVICES:
		return no_container(p, kind);
	case IN_CALL_STACK:
		return is_said(kind) ? call_stack_value(p, text, len) : 1;
	case IN_METRICS:
		return is_said(kind) ? metric_value(p, text, len) : 1;
	case IN_GRID:
		return extent_value(p, p->event.config.shape.grid, text, len);
	case IN_BLOCK:
		return extent_value(p, p->event.config.shape.block, text, len);
	default:
		break;
	}
	if (!(p->key->takes & 1u << kind) || kind == JSON_NULL)
		return misfit(p, kind);
	return keep(p, text, len);
}

static int on_null(void *ctx)
{
	return on_plain(ctx, JSON_NULL, "", 0);
}

static int on_boolean(void *ctx, int v)
{
	(void)v;
	return on_plain(ctx, JSON_BOOLEAN, "", 0);
}

static int on_number(void *ctx, const char *text, size_t len)
{
	return on_plain(ctx, JSON_NUMBER, text, len);
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	return on_plain(ctx, JSON_STRING, len ? (const char *)text : "", len);
}

/* An object or list that is the value of a key: where it leads. */
static int on_value_container(struct parser *p, enum json_kind kind)
{
	if (!p->key->leads || !(p->key->takes & 1u << kind))
		return misfit(p, kind);
	p->place = p->key->leads;
	p->dimension = 0;
	p->events_seen = p->events_seen || p->place == IN_EVENTS;
	return 1;
}

static int event_begin(struct parser *p)
{
	event_clear(&p->event);
	p->json.may_stop = false;
	p->place = IN_EVENT;
	return 1;
}

static int device_begin(struct parser *p)
{
	p->device = (struct session_device){.index = -1};
	p->has_compute = false;
	p->major = p->minor = p->warp = 0;
	p->place = IN_DEVICE;
	return 1;
}

/* The document is an object, or the list of events alone. */
static int document_begin(struct parser *p, enum json_kind kind)
{
	p->bare = p->events_seen = p->json.may_stop = kind == JSON_LIST;
	p->place = kind == JSON_LIST ? IN_EVENTS : IN_DOCUMENT;
	return 1;
}

static int on_container(struct parser *p, enum json_kind kind)
{
	switch (p->place) {
	case AT_TOP:
		return document_begin(p, kind);
	case IN_EVENTS:
		return kind == JSON_OBJECT ? event_begin(p) : no_container(p, kind);
	case IN_DEVICES:
		return kind == JSON_OBJECT ? device_begin(p) : no_container(p, kind);
	case IN_SKIPPED:
		p->skipped++;
		return 1;
	case IN_CALL_STACK:
	case IN_METRICS:
	case IN_GRID:
	case IN_BLOCK:
		return skip(p);
	default:
		return on_value_container(p, kind);
	}
}

static int on_map(void *ctx)
{
	return on_container(ctx, JSON_OBJECT);
}

static int on_array(void *ctx)
{
	return on_container(ctx, JSON_LIST);
}

static int on_end(void *ctx)
{
	static const enum place backs[] = {
		[IN_DOCUMENT] = AT_END,
		[IN_EVENTS] = IN_DOCUMENT,
		[IN_EVENT] = IN_EVENTS,
		[IN_ARGS] = IN_EVENT,
		[IN_CALL_STACK] = IN_ARGS,
		[IN_METRICS] = IN_ARGS,
		[IN_GRID] = IN_ARGS,
		[IN_BLOCK] = IN_ARGS,
		[IN_DEVICES] = IN_DOCUMENT,
		[IN_DEVICE] = IN_DEVICES,
		[IN_DISTRIBUTED] = IN_DOCUMENT,
	};
	struct parser *p = ctx;

	if (p->place == IN_SKIPPED) {
		if (!--p->skipped)
			p->place = p->back;
		return 1;
	}
	if (p->place == IN_EVENT)
		return event_end(p);
	if (p->place == IN_DEVICE)
		return device_end(p);
	p->place = p->place == IN_EVENTS && p->bare ? AT_END : backs[p->place];
	p->json.complete = p->place == AT_END;
	return 1;
}

static int on_key(void *ctx, const unsigned char *text, size_t len)
{
	struct parser *p = ctx;

	if (p->place == IN_METRICS)
		return string_id(p, (const char *)text, len, &p->metric);
	p->key = &no_key;
	for (size_t i = 0; p->place != IN_SKIPPED && i < ARRAY_SIZE(keys); i++) {
		size_t n = keys[i].place == p->place ? strlen(keys[i].text) : SIZE_MAX;

		if ((len == n || (keys[i].prefix && len > n)) &&
		    !strncasecmp((const char *)text, keys[i].text, n)) {
			p->key = &keys[i];
			break;
		}
	}
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_end,
};

int chrome_parse(struct reader_input *in, struct session *s, const struct chrome_sink *sink,
		 struct chrome_document *ret, struct format_error *error)
{
	struct parser p = {.s = s, .sink = sink, .json.error = error, .key = &no_key, .rank = -1};
	int r = json_input_read(&p.json, in, &callbacks, &p);

	free(p.event.call_stack);
	free(p.event.metrics);
	if (r == 0 && !p.events_seen)
		return format_fail(error, -EINVAL, FORMAT_NO_OFFSET,
				   "wrong shape: no 'traceEvents' in the object, and a Hatchet "
				   "profile is a list");
	*ret = (struct chrome_document){
		.base_ns = p.base_ns < UINT64_C(1) << 62 ? (int64_t)p.base_ns : 0,
		.rank = p.rank,
		.garbage_at = p.json.garbage_at,
		.unfinished = !p.json.complete,
	};
	return r;
}
