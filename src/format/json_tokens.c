/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/json_tokens.h"

#include "format/json_input.h"

struct recorder {
	struct strtab *strings, *keys;
	struct tokens *tokens;
	struct json_input json;
};

/* A value of a document that is no object, or nothing wrong. */
static int put(struct recorder *r, enum json_kind kind)
{
	if (!r->tokens->depth && kind != JSON_OBJECT)
		return json_wrong_shape(&r->json, "the document", kind);
	return r->tokens->failed ? json_no_memory(&r->json) : 1;
}

static int on_null(void *ctx)
{
	struct recorder *r = ctx;

	tokens_put(r->tokens, TOKEN_NULL, 0);
	return put(r, JSON_NULL);
}

static int on_boolean(void *ctx, int v)
{
	struct recorder *r = ctx;

	tokens_put(r->tokens, v ? TOKEN_TRUE : TOKEN_FALSE, 0);
	return put(r, JSON_BOOLEAN);
}

static int on_number(void *ctx, const char *text, size_t len)
{
	struct recorder *r = ctx;
	struct number n;

	number_parse(text, len, &n);
	if (n.is_int)
		tokens_put_u64(r->tokens, n.u64);
	else
		tokens_put_f64(r->tokens, n.f64);
	return put(r, JSON_NUMBER);
}

static int put_text(struct recorder *r, struct strtab *t, enum token token, const void *text,
		    size_t len)
{
	uint32_t id = strtab_add(t, len ? text : "", len);

	if (id == STRTAB_NONE)
		return json_no_memory(&r->json);
	tokens_put(r->tokens, token, id);
	return put(r, JSON_STRING);
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	struct recorder *r = ctx;

	return put_text(r, r->strings, TOKEN_STRING, text, len);
}

static int on_key(void *ctx, const unsigned char *text, size_t len)
{
	struct recorder *r = ctx;

	return put_text(r, r->keys, TOKEN_KEY, text, len);
}

static int on_map(void *ctx)
{
	struct recorder *r = ctx;

	tokens_begin(r->tokens, TOKEN_MAP);
	return put(r, JSON_OBJECT);
}

static int on_array(void *ctx)
{
	struct recorder *r = ctx;

	if (!r->tokens->depth)
		return put(r, JSON_LIST);
	tokens_begin(r->tokens, TOKEN_ARRAY);
	return put(r, JSON_LIST);
}

static int on_end(void *ctx)
{
	struct recorder *r = ctx;

	tokens_end(r->tokens);
	r->json.complete = !r->tokens->depth;
	return r->tokens->failed ? json_no_memory(&r->json) : 1;
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

int json_tokens_read(struct reader_input *in, struct strtab *strings, struct strtab *keys,
		     struct tokens *tokens, uint64_t *ret_garbage_at, struct format_error *error)
{
	struct recorder r = {
		.strings = strings, .keys = keys, .tokens = tokens, .json.error = error};
	int ret = json_input_read(&r.json, in, &callbacks, &r);

	*ret_garbage_at = r.json.garbage_at;
	return ret;
}
