/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/json_input.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* yajl begins anew with a token that did not end within a chunk: chunks grow with what was read, so
 * that a name of 100 MB costs little more than its bytes. */
#define CHUNK_MIN ((size_t)256 << 10)
#define CHUNK_MAX ((size_t)4 << 20)

/* ---- yajl's memory ---- */

/* yajl does not check whether it got memory. Where there is none, we do not return to it: we jump
 * out of it and free all the blocks that it had. */
struct block {
	_Alignas(16) struct block *next;
	struct block **link; /* what points here */
	size_t size, room;   /* asked for; there */
};

struct memory {
	struct json_input *j;
	struct block *blocks;
	jmp_buf failed;
};

static void link_block(struct memory *m, struct block *b)
{
	b->next = m->blocks;
	b->link = &m->blocks;
	if (b->next)
		b->next->link = &b->next;
	m->blocks = b;
}

static void unlink_block(struct block *b)
{
	*b->link = b->next;
	if (b->next)
		b->next->link = b->link;
}

/* A token that does not end within a chunk is kept in a buffer that doubles; a byte for each open
 * bracket is on a stack that grows by a little. */
static bool is_stack(const struct block *old, size_t size)
{
	return old && size < 2 * old->size;
}

/* The one place to see how long a token gets, whatever it is made of, and how deep brackets are. */
static void look_at_size(struct json_input *j, bool stack, size_t size)
{
	if (stack)
		j->too_deep = j->too_deep || size > JSON_DEPTH_MAX;
	else
		j->too_long = j->too_long || size > FORMAT_NAME_MAX;
}

static void *yajl_grow(void *ctx, void *p, size_t size)
{
	struct block *old = p ? (struct block *)p - 1 : NULL, *b = old;
	struct memory *m = ctx;
	bool stack = is_stack(old, size);
	/* What grows by a little will again: not each time with a copy of all that is there. */
	size_t room = stack ? size + size / 2 : size;

	look_at_size(m->j, stack, size);
	if (!old || size > old->room) {
		if (old)
			unlink_block(old);
		b = realloc(old, sizeof(*b) + room);
		if (b || old)
			link_block(m, b ? b : old);
		if (!b)
			longjmp(m->failed, 1);
		b->room = room;
	}
	b->size = size;
	return b + 1;
}

static void *yajl_take(void *ctx, size_t size)
{
	return yajl_grow(ctx, NULL, size);
}

static void yajl_give(void *ctx, void *p)
{
	(void)ctx;
	if (!p)
		return;
	unlink_block((struct block *)p - 1);
	free((struct block *)p - 1);
}

static void memory_done(struct memory *m)
{
	struct block *b, *next;

	for (b = m->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
}

/* ---- errors ---- */

/* The offset is filled in by whoever knows it. */
int json_wrong_shape(struct json_input *j, const char *what, enum json_kind kind)
{
	static const char *const words[] = {"null",     "a boolean", "a number",
					    "a string", "an object", "a list"};

	j->failed = format_fail(j->error, -EINVAL, FORMAT_NO_OFFSET, "wrong shape: %s is %s", what,
				words[kind]);
	return 0;
}

int json_no_memory(struct json_input *j)
{
	j->failed = format_fail_code(j->error, -ENOMEM);
	return 0;
}

/* A number that Python writes and JSON does not have, where reading failed: the parser stops at its
 * first letter or behind it. NULL: none. */
static const char *no_number(const char *data, size_t len, size_t used)
{
	static const char *const words[] = {"NaN", "Infinity"};

	for (size_t at = used ? used - 1 : 0; at < len && at <= used; at++)
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (!strncmp(data + at, words[i], MIN(strlen(words[i]), len - at)))
				return words[i];
	return NULL;
}

/* yajl's sentence without its category and its full stop. */
static int not_json(struct json_input *j, yajl_handle h, uint64_t offset)
{
	unsigned char *text = yajl_get_error(h, 0, NULL, 0);
	const char *colon = text ? strstr((const char *)text, ": ") : NULL;
	const char *why = colon ? colon + 2 : "invalid";
	int r = format_fail(j->error, -EBADMSG, offset, "not JSON: %.*s", (int)strcspn(why, ".\n"),
			    why);

	yajl_free_error(h, text);
	return r;
}

static int parse_failed(struct json_input *j, yajl_handle h, const char *data, size_t n,
			uint64_t before)
{
	size_t used = yajl_get_bytes_consumed(h);
	const char *word = no_number(data, n, used);

	if (!j->failed && word)
		return format_fail(j->error, -EBADMSG, before + used,
				   "not JSON, which has no %s (write null)", word);
	if (!j->failed)
		return not_json(j, h, before + used);
	j->error->offset = before + used;
	return j->failed;
}

static void look_for_garbage(struct json_input *j, const char *data, size_t len, uint64_t offset)
{
	size_t space = text_blanks(data, len);

	if (space < len && !j->garbage_at)
		j->garbage_at = offset + space;
}

static int parse_chunk(struct json_input *j, yajl_handle h, const char *data, size_t n,
		       uint64_t offset)
{
	size_t skip = offset ? 0 : text_mark(data, n);

	if (j->complete) {
		look_for_garbage(j, data, n, offset);
		return 0;
	}
	data += skip;
	n -= skip;
	if (yajl_parse(h, (const unsigned char *)data, n) != yajl_status_ok)
		return parse_failed(j, h, data, n, offset + skip);
	if (j->too_long)
		return format_fail(j->error, -EFBIG, offset, FORMAT_NAME_LONG);
	if (j->too_deep)
		return format_fail(j->error, -EFBIG, offset, "nested deeper than %zu levels",
				   JSON_DEPTH_MAX);
	if (j->complete) {
		size_t used = yajl_get_bytes_consumed(h);

		look_for_garbage(j, data + used, n - used, offset + skip + used);
	}
	return 0;
}

/* A whole chunk, also where the input gives little at a time; less only at the end. */
static ssize_t read_chunk(struct reader_input *in, char *chunk, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (len < size && n > 0) {
		n = reader_read(in, chunk + len, size - len);
		if (n > 0)
			len += (size_t)n;
	}
	return n < 0 ? n : (ssize_t)len;
}

static int parse_input(struct json_input *j, yajl_handle h, struct reader_input *in,
		       struct buf *chunk)
{
	uint64_t offset = 0;
	ssize_t n = 1;
	size_t size;
	int r;

	while (!j->garbage_at && n > 0) {
		size = (size_t)CLAMP(offset / 4, CHUNK_MIN, CHUNK_MAX);
		buf_clear(chunk);
		if (!buf_extend(chunk, size))
			return format_fail_code(j->error, -ENOMEM);
		n = read_chunk(in, chunk->data, size);
		if (n < 0)
			return format_fail_code(j->error, (int)n);
		r = n ? parse_chunk(j, h, chunk->data, (size_t)n, offset) : 0;
		if (r < 0)
			return r;
		offset += (uint64_t)n;
	}
	if (j->complete || j->may_stop)
		return 0;
	return format_fail(j->error, -EBADMSG, offset, offset ? "truncated" : "the file is empty");
}

static int parse_with(struct json_input *j, yajl_alloc_funcs *memory, struct reader_input *in,
		      const yajl_callbacks *callbacks, void *ctx, struct buf *chunk)
{
	yajl_handle h = yajl_alloc(callbacks, memory, ctx);

	yajl_config(h, yajl_dont_validate_strings, 1);
	yajl_config(h, yajl_allow_trailing_garbage, 1);
	return parse_input(j, h, in, chunk);
}

int json_input_read(struct json_input *j, struct reader_input *in, const yajl_callbacks *callbacks,
		    void *ctx)
{
	struct memory memory = {.j = j};
	yajl_alloc_funcs funcs = {yajl_take, yajl_grow, yajl_give, &memory};
	struct buf chunk;
	int r;

	buf_init(&chunk, 0);
	if (setjmp(memory.failed) == 0)
		r = parse_with(j, &funcs, in, callbacks, ctx, &chunk);
	else
		r = format_fail_code(j->error, -ENOMEM);
	memory_done(&memory);
	buf_done(&chunk);
	return r;
}
