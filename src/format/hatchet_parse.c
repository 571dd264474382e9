/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/hatchet_parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/hatchet_kind.h"
#include "format/json_input.h"

enum place {
	AT_TOP,     /* nothing yet */
	IN_LIST,    /* the list around everything */
	IN_UNKNOWN, /* an object of the list without a key so far: a node or the device table */
	IN_NODE,
	IN_CHILDREN,
	IN_FRAME,
	IN_RECORDED, /* metrics, our own key, a device table: recorded as tokens */
	IN_SKIPPED,
	AT_END,
};

/* Ids of short strings that were met lately: the same few keys and values come with every node. */
#define MEMO_SIZE 64
#define MEMO_MAX  32
struct memo {
	uint32_t ids[MEMO_SIZE];
};

struct parser {
	struct hatchet_file *file;
	struct memo keys, values;
	struct json_input json;
	enum place place, back; /* back: where a recorded or skipped value was met */
	uint32_t node;          /* that we are in, or RECORD_NONE */
	uint32_t key;           /* of the node or the frame, for the value that comes next */
	uint32_t metric;        /* key in "metrics" */
	uint32_t skipped;       /* depth within the skipped value */
	uint32_t n_elements;    /* of the list */
	bool in_metrics;
};

/* ---- records ---- */

static int node_begin(struct parser *p, uint32_t parent)
{
	struct hatchet_file *f = p->file;

	if (f->n_records >= RECORD_NONE ||
	    ARRAY_ROOM(f->records, f->cap_records, f->n_records + 1) < 0)
		return json_no_memory(&p->json);
	p->node = (uint32_t)f->n_records++;
	f->records[p->node] = (struct record){.parent = parent};
	p->place = IN_NODE;
	return 1;
}

static int node_end(struct parser *p)
{
	const struct record *r = &p->file->records[p->node];

	if (r->parent == RECORD_NONE && !r->known) {
		p->json.failed =
			format_fail(p->json.error, -EINVAL, FORMAT_NO_OFFSET,
				    "wrong shape: no 'frame', 'metrics' or 'children' in the "
				    "first object of the list");
		return 0;
	}
	p->node = r->parent;
	p->place = p->node == RECORD_NONE ? IN_LIST : IN_CHILDREN;
	return 1;
}

static uint32_t *memo_slot(struct memo *m, const char *s, size_t len)
{
	unsigned first = (unsigned char)s[0], last = (unsigned char)s[len - 1];

	return &m->ids[(first * 7 + last * 3 + (unsigned)len) % MEMO_SIZE];
}

/* strtab_add() with a short memory. */
static uint32_t intern(struct strtab *t, struct memo *m, const char *s, size_t len)
{
	uint32_t *slot;

	if (!len || len > MEMO_MAX)
		return strtab_add(t, s, len);
	slot = memo_slot(m, s, len);
	if (strtab_len(t, *slot) != len || memcmp(strtab_str(t, *slot), s, len) != 0)
		*slot = strtab_add(t, s, len);
	return *slot;
}

static uint32_t intern_key(struct parser *p, const char *s, size_t len)
{
	struct hatchet_file *f = p->file;
	uint32_t n = strtab_count(f->keys), key = intern(f->keys, &p->keys, s, len);

	if (key != n)
		return key;
	if (array_reserve((void **)&f->facts, &f->cap_facts, (size_t)key + 1, 1) < 0 ||
	    array_reserve((void **)&f->hints, &f->cap_hints, (size_t)key + 1, 1) < 0)
		return STRTAB_NONE;
	f->facts[key] = 0;
	f->hints[key] = (uint8_t)hatchet_hint(s, len);
	return key;
}

/* ---- values that are recorded ---- */

static void record_begin(struct parser *p)
{
	p->back = p->place;
	p->place = IN_RECORDED;
}

/* A recorded value is complete: it belongs to the key under which it was met. */
static int record_end(struct parser *p, size_t at)
{
	struct record *r;

	p->place = p->back;
	if (p->file->tokens.failed || at > UINT32_MAX)
		return json_no_memory(&p->json);
	if (p->back == IN_LIST) {
		if (p->file->n_devices < ARRAY_SIZE(p->file->devices))
			p->file->devices[p->file->n_devices++] = at;
		return 1;
	}
	r = &p->file->records[p->node];
	if (p->key == KEY_METRICS)
		r->metrics = (uint32_t)at;
	else
		r->extra = (uint32_t)at;
	p->in_metrics = false;
	return 1;
}

/* A value directly below "metrics": what it tells about its key. */
static void learn(struct parser *p, unsigned fact, bool zero)
{
	struct hatchet_file *f = p->file;
	struct record *r;

	if (!p->in_metrics || f->tokens.depth > 2)
		return;
	r = &f->records[p->node];
	if (r->parent == RECORD_NONE) {
		f->facts[p->metric] |= FACT_ROOT;
		if (zero) /* only says that the metric exists */
			return;
	}
	f->facts[p->metric] |= (uint8_t)fact;
	r->hints |= f->hints[p->metric];
}

/* ---- values that are met: each returns whether to go on ---- */

static int begin_skip(struct parser *p)
{
	p->back = p->place;
	p->place = IN_SKIPPED;
	p->skipped = 1;
	return 1;
}

/* A value, at a place where it is neither recorded nor skipped, of a kind that is not what belongs
 * there. A null stands for nothing, and what only others know is left alone. */
static int misfit(struct parser *p, enum json_kind kind)
{
	static const struct {
		uint32_t key;
		const char *what;
	} expected[] = {
		{KEY_CHILDREN, "'children'"},
		{KEY_METRICS, "'metrics'"},
		{KEY_FRAME, "'frame'"},
	};

	switch (p->place) {
	case AT_TOP:
		return json_wrong_shape(&p->json, "the document", kind);
	case IN_LIST:
		p->n_elements++;
		return kind == JSON_NULL
			       ? 1
			       : json_wrong_shape(&p->json, "an element of the list", kind);
	case IN_CHILDREN:
		return kind == JSON_NULL
			       ? 1
			       : json_wrong_shape(&p->json, "an element of 'children'", kind);
	case IN_FRAME:
		if (p->key == KEY_NAME && kind != JSON_NULL)
			return json_wrong_shape(&p->json, "a frame's 'name'", kind);
		return 1;
	default:
		break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		if (p->key == expected[i].key && kind != JSON_NULL)
			return json_wrong_shape(&p->json, expected[i].what, kind);
	return 1;
}

static int on_null(void *ctx)
{
	struct parser *p = ctx;

	if (p->place == IN_RECORDED)
		tokens_put(&p->file->tokens, TOKEN_NULL, 0);
	else if (p->place != IN_SKIPPED)
		return misfit(p, JSON_NULL);
	return 1;
}

static int on_boolean(void *ctx, int v)
{
	struct parser *p = ctx;

	if (p->place == IN_RECORDED) {
		tokens_put(&p->file->tokens, v ? TOKEN_TRUE : TOKEN_FALSE, 0);
		learn(p, FACT_WHOLE, !v);
	} else if (p->place != IN_SKIPPED) {
		return misfit(p, JSON_BOOLEAN);
	}
	return 1;
}

static void record_number(struct parser *p, const char *text, size_t len)
{
	struct number n;
	unsigned fact = FACT_WHOLE;

	number_parse(text, len, &n);
	if (n.is_int) {
		tokens_put_u64(&p->file->tokens, n.u64);
	} else {
		tokens_put_f64(&p->file->tokens, n.f64);
		fact = FACT_FRACTION;
		if (n.f64 < 0)
			fact |= FACT_NEGATIVE;
		if (n.f64 != floor(n.f64))
			fact |= FACT_PARTIAL;
	}
	learn(p, fact, n.f64 == 0);
}

static int on_number(void *ctx, const char *text, size_t len)
{
	struct parser *p = ctx;

	if (p->place == IN_RECORDED)
		record_number(p, text, len);
	else if (p->place != IN_SKIPPED)
		return misfit(p, JSON_NUMBER);
	return 1;
}

static int on_string(void *ctx, const unsigned char *s, size_t len)
{
	struct parser *p = ctx;
	bool is_name = (p->place == IN_FRAME && p->key == KEY_NAME) ||
		       (p->place == IN_NODE && p->key == KEY_FRAME);
	uint32_t id;

	if (p->place == IN_SKIPPED || (p->place == IN_FRAME && !is_name))
		return 1;
	if (p->place != IN_RECORDED && !is_name)
		return misfit(p, JSON_STRING);
	if (is_name)
		id = strtab_add(p->file->strings, (const char *)s, len);
	else
		id = intern(p->file->strings, &p->values, (const char *)s, len);
	if (id == STRTAB_NONE)
		return json_no_memory(&p->json);
	if (is_name) {
		p->file->records[p->node].name = id;
	} else {
		tokens_put(&p->file->tokens, TOKEN_STRING, id);
		learn(p, FACT_TEXT, false);
	}
	return 1;
}

/* ---- containers ---- */

static int node_value_is_map(struct parser *p)
{
	if (p->key == KEY_FRAME) {
		p->place = IN_FRAME;
		return 1;
	}
	if (p->key == KEY_CHILDREN)
		return misfit(p, JSON_OBJECT);
	if (p->key != KEY_METRICS && p->key != KEY_PROTON)
		return begin_skip(p);
	p->in_metrics = p->key == KEY_METRICS;
	record_begin(p);
	tokens_begin(&p->file->tokens, TOKEN_MAP);
	return 1;
}

static int on_map(void *ctx)
{
	struct parser *p = ctx;

	switch (p->place) {
	case AT_TOP:
		return misfit(p, JSON_OBJECT);
	case IN_LIST:
		p->place = IN_UNKNOWN;
		return 1;
	case IN_CHILDREN:
		return node_begin(p, p->node);
	case IN_NODE:
		return node_value_is_map(p);
	case IN_FRAME:
		return p->key == KEY_NAME ? misfit(p, JSON_OBJECT) : begin_skip(p);
	case IN_RECORDED:
		tokens_begin(&p->file->tokens, TOKEN_MAP);
		return 1;
	default:
		p->skipped++;
		return 1;
	}
}

static int on_array(void *ctx)
{
	struct parser *p = ctx;

	switch (p->place) {
	case AT_TOP:
		p->place = IN_LIST;
		return 1;
	case IN_LIST:
	case IN_CHILDREN:
		return misfit(p, JSON_LIST);
	case IN_NODE:
		if (p->key == KEY_CHILDREN) {
			p->place = IN_CHILDREN;
			return 1;
		}
		if (p->key == KEY_METRICS || p->key == KEY_FRAME)
			return misfit(p, JSON_LIST);
		return begin_skip(p);
	case IN_FRAME:
		return p->key == KEY_NAME ? misfit(p, JSON_LIST) : begin_skip(p);
	case IN_RECORDED:
		tokens_begin(&p->file->tokens, TOKEN_ARRAY);
		return 1;
	default:
		p->skipped++;
		return 1;
	}
}

static int end_container(struct parser *p)
{
	struct tokens *t = &p->file->tokens;
	size_t at = t->open;

	if (p->place == IN_SKIPPED) {
		if (!--p->skipped)
			p->place = p->back;
		return 1;
	}
	tokens_end(t);
	return t->depth ? 1 : record_end(p, at);
}

static int on_map_end(void *ctx)
{
	struct parser *p = ctx;

	switch (p->place) {
	case IN_UNKNOWN: /* {}: an empty tree, or no devices */
		p->n_elements++;
		p->place = IN_LIST;
		return 1;
	case IN_FRAME:
		p->place = IN_NODE;
		return 1;
	case IN_NODE:
		return node_end(p);
	default:
		return end_container(p);
	}
}

static int on_array_end(void *ctx)
{
	struct parser *p = ctx;

	switch (p->place) {
	case IN_CHILDREN:
		p->place = IN_NODE;
		return 1;
	case IN_LIST:
		p->place = AT_END;
		p->json.complete = true;
		return 1;
	default:
		return end_container(p);
	}
}

/* ---- keys ---- */

static int node_key(struct parser *p, const char *s, size_t len)
{
	uint32_t *slot = len && len <= MEMO_MAX ? memo_slot(&p->keys, s, len) : NULL;

	if (slot && strtab_len(p->file->keys, *slot) == len &&
	    !memcmp(strtab_str(p->file->keys, *slot), s, len))
		p->key = *slot;
	else
		p->key = strtab_find(p->file->keys, s, len);
	if (slot && p->key != STRTAB_NONE)
		*slot = p->key;
	if (p->key >= KEY_CHILDREN && p->key <= KEY_METRICS)
		p->file->records[p->node].known = true;
	return 1;
}

/* The first key of an object of the list. The first object is the tree, whatever it begins with;
 * of the others those that look like nodes are more trees (Hatchet's "literal" form). */
static int first_key(struct parser *p, const char *s, size_t len)
{
	uint32_t key = strtab_find(p->file->keys, s, len);
	bool node = p->n_elements == 0 || (key >= KEY_CHILDREN && key <= KEY_PROTON) ||
		    key == KEY_NAME || key == KEY_ATTRIBUTES;

	p->n_elements++;
	if (node)
		return node_begin(p, RECORD_NONE) && node_key(p, s, len);
	p->place = IN_LIST;
	record_begin(p);
	tokens_begin(&p->file->tokens, TOKEN_MAP);
	key = intern_key(p, s, len);
	if (key == STRTAB_NONE)
		return json_no_memory(&p->json);
	tokens_put(&p->file->tokens, TOKEN_KEY, key);
	return 1;
}

static int on_key(void *ctx, const unsigned char *text, size_t len)
{
	struct parser *p = ctx;
	const char *s = (const char *)text;
	uint32_t key;

	switch (p->place) {
	case IN_UNKNOWN:
		return first_key(p, s, len);
	case IN_NODE:
	case IN_FRAME:
		return node_key(p, s, len);
	case IN_RECORDED:
		key = intern_key(p, s, len);
		if (key == STRTAB_NONE)
			return json_no_memory(&p->json);
		if (p->file->tokens.depth == 1)
			p->metric = key;
		tokens_put(&p->file->tokens, TOKEN_KEY, key);
		return 1;
	default:
		return 1;
	}
}

/* ---- the input ---- */

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_map,
	.yajl_map_key = on_key,
	.yajl_end_map = on_map_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_array_end,
};

int hatchet_file_init(struct hatchet_file *file, struct strtab *strings)
{
	static const char *const keys[] = {
#define _(id, text) text,
		HATCHET_KEYS(_)
#undef _
	};

	*file = (struct hatchet_file){.strings = strings, .keys = strtab_new()};
	tokens_init(&file->tokens);
	if (!file->keys || file->tokens.failed ||
	    array_reserve((void **)&file->facts, &file->cap_facts, KEY_N, 1) < 0 ||
	    array_reserve((void **)&file->hints, &file->cap_hints, KEY_N, 1) < 0)
		return -ENOMEM;
	memset(file->facts, 0, KEY_N);
	memset(file->hints, 0, KEY_N);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strtab_adds(file->keys, keys[i]) != i + 1)
			return -ENOMEM;
		file->hints[i + 1] = (uint8_t)hatchet_hint(keys[i], strlen(keys[i]));
	}
	return 0;
}

void hatchet_file_done(struct hatchet_file *file)
{
	strtab_free(file->keys);
	free(file->facts);
	free(file->hints);
	free(file->records);
	tokens_done(&file->tokens);
	*file = (struct hatchet_file){0};
}

int hatchet_parse(struct reader_input *in, struct strtab *strings, struct hatchet_file *file,
		  struct format_error *error)
{
	struct parser p = {.file = file, .json.error = error, .node = RECORD_NONE};
	int r = hatchet_file_init(file, strings);

	if (r < 0)
		return format_fail_code(error, r);
	r = json_input_read(&p.json, in, &callbacks, &p);
	file->garbage_at = p.json.garbage_at;
	return r;
}
