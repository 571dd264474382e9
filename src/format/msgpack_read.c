/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Hatchet profiles in MessagePack, which Triton's Proton writes as `.hatchet_msgpack`: the same
 * tree as in Hatchet JSON. It is turned into that as it is read, item by item, so that everything
 * else about reading it is known already.
 *
 *   bytes ── item by item, no recursion ──> JSON text ──> hatchet_read() */
#include "format/msgpack.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/hatchet.h"
#include "format/json_writer.h"

#define DEPTH_MAX (1u << 24) /* of containers within containers */

/* A container that is not complete. Keys and values of a map are counted one by one. */
struct open {
	uint64_t left;
	bool map, key, first; /* key: a key comes next */
};

struct msgpack {
	struct reader_input *in;
	struct format_error *error;
	struct buf text; /* JSON that nobody has read yet, from text_at on */
	size_t text_at;
	struct open *open;
	size_t n_open, cap_open;
	uint64_t offset;      /* of the next byte */
	uint64_t string_left; /* bytes of the string that we are in */
	uint64_t skip_left;   /* bytes of an extension, which means nothing to us */
	bool in_string, in_skip, done;
	int failed;
	size_t data_len, data_at;
	char data[16384];
};

static int fail(struct msgpack *m, int code, uint64_t offset, const char *why)
{
	m->failed = format_fail(m->error, code, offset, "%s", why);
	return m->failed;
}

/* ---- bytes ---- */

/* At least one byte in data. */
static int fill(struct msgpack *m)
{
	ssize_t n;

	if (m->data_at < m->data_len)
		return 0;
	n = reader_read(m->in, m->data, sizeof(m->data));
	if (n < 0)
		return fail(m, (int)n, FORMAT_NO_OFFSET, strerror((int)-n));
	if (n == 0)
		return fail(m, -EBADMSG, m->offset, "truncated");
	m->data_len = (size_t)n;
	m->data_at = 0;
	return 0;
}

/* An unsigned number of n bytes, most significant first. */
static int take(struct msgpack *m, unsigned n, uint64_t *ret)
{
	uint64_t v = 0;

	while (n-- > 0) {
		if (fill(m) < 0)
			return m->failed;
		v = v << 8 | (unsigned char)m->data[m->data_at++];
		m->offset++;
	}
	*ret = v;
	return 0;
}

/* ---- text ---- */

static void put_escaped(struct msgpack *m, const char *p, size_t n)
{
	size_t plain = 0; /* bytes before i that stand for themselves */

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c >= 0x20 && c != '"' && c != '\\') {
			plain++;
			continue;
		}
		buf_put(&m->text, p + i - plain, plain);
		plain = 0;
		buf_printf(&m->text, c < 0x20 ? "\\u%04x" : "\\%c", c);
	}
	buf_put(&m->text, p + n - plain, plain);
}

/* Before an item: a comma where one belongs. Keys must be strings. */
static int begin_item(struct msgpack *m, bool is_string, uint64_t at)
{
	struct open *o = m->n_open ? &m->open[m->n_open - 1] : NULL;

	if (!o)
		return 0;
	if (o->map && o->key && !is_string)
		return fail(m, -EINVAL, at, "wrong shape: a key that is no string");
	if (!o->first && (!o->map || o->key))
		buf_putc(&m->text, ',');
	o->first = false;
	return 0;
}

/* After an item: close what is complete by it. */
static void end_item(struct msgpack *m)
{
	while (m->n_open) {
		struct open *o = &m->open[m->n_open - 1];

		if (o->left && --o->left) {
			if (o->map && o->key)
				buf_putc(&m->text, ':');
			o->key = o->map && !o->key;
			return;
		}
		buf_putc(&m->text, o->map ? '}' : ']');
		m->n_open--;
	}
	m->done = true;
}

/* ---- items ---- */

static int container(struct msgpack *m, bool map, uint64_t n)
{
	if (m->n_open >= DEPTH_MAX)
		return fail(m, -EINVAL, m->offset, "wrong shape: nested too deep");
	if (ARRAY_ROOM(m->open, m->cap_open, m->n_open + 1) < 0)
		return fail(m, -ENOMEM, FORMAT_NO_OFFSET, "out of memory");
	buf_putc(&m->text, map ? '{' : '[');
	m->open[m->n_open++] =
		(struct open){.left = map ? 2 * n : n, .map = map, .key = map, .first = true};
	if (!n)
		end_item(m);
	return 0;
}

static int string(struct msgpack *m, uint64_t n)
{
	buf_putc(&m->text, '"');
	m->string_left = n;
	m->in_string = true;
	return 0;
}

/* An extension: a type and n bytes, read as null. */
static int extension(struct msgpack *m, uint64_t n)
{
	buf_puts(&m->text, "null");
	m->skip_left = n + 1;
	m->in_skip = true;
	return 0;
}

static int word(struct msgpack *m, const char *text)
{
	buf_puts(&m->text, text);
	end_item(m);
	return 0;
}

static int whole(struct msgpack *m, uint64_t v, bool negative)
{
	char digits[21], *p = digits + sizeof(digits);
	uint64_t rest = negative ? -v : v;

	do {
		*--p = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (negative)
		*--p = '-';
	buf_put(&m->text, p, (size_t)(digits + sizeof(digits) - p));
	end_item(m);
	return 0;
}

static int fraction(struct msgpack *m, uint64_t bits, unsigned size)
{
	uint32_t bits32 = (uint32_t)bits;
	char text[JSON_NUMBER_MAX];
	double v;
	float f;

	if (size == 4) {
		memcpy(&f, &bits32, sizeof(f));
		v = f;
	} else {
		memcpy(&v, &bits, sizeof(v));
	}
	buf_put(&m->text, text, json_format_f64(text, v));
	end_item(m);
	return 0;
}

/* Signed numbers of 1, 2, 4 or 8 bytes. */
static int whole_signed(struct msgpack *m, uint64_t v, unsigned size)
{
	unsigned shift = 64 - 8 * size;
	int64_t i = (int64_t)(v << shift) >> shift;

	return whole(m, (uint64_t)i, i < 0);
}

enum item {
	ITEM_NULL,
	ITEM_FALSE,
	ITEM_TRUE,
	ITEM_STRING,
	ITEM_EXT,
	ITEM_FLOAT,
	ITEM_UINT,
	ITEM_INT,
	ITEM_ARRAY,
	ITEM_MAP,
	ITEM_FIXEXT,
	ITEM_BAD
};

/* What stands for itself from 0xc0 to 0xdf: the kind, and the size of the number that follows. */
static const struct {
	uint8_t item, size;
} items[32] = {
	{ITEM_NULL, 0},   {ITEM_BAD, 0},    {ITEM_FALSE, 0},  {ITEM_TRUE, 0},   {ITEM_STRING, 1},
	{ITEM_STRING, 2}, {ITEM_STRING, 4}, {ITEM_EXT, 1},    {ITEM_EXT, 2},    {ITEM_EXT, 4},
	{ITEM_FLOAT, 4},  {ITEM_FLOAT, 8},  {ITEM_UINT, 1},   {ITEM_UINT, 2},   {ITEM_UINT, 4},
	{ITEM_UINT, 8},   {ITEM_INT, 1},    {ITEM_INT, 2},    {ITEM_INT, 4},    {ITEM_INT, 8},
	{ITEM_FIXEXT, 1}, {ITEM_FIXEXT, 2}, {ITEM_FIXEXT, 4}, {ITEM_FIXEXT, 8}, {ITEM_FIXEXT, 16},
	{ITEM_STRING, 1}, {ITEM_STRING, 2}, {ITEM_STRING, 4}, {ITEM_ARRAY, 2},  {ITEM_ARRAY, 4},
	{ITEM_MAP, 2},    {ITEM_MAP, 4},
};

static int long_item(struct msgpack *m, unsigned tag, uint64_t at)
{
	enum item item = (enum item)items[tag - 0xc0].item;
	unsigned size = items[tag - 0xc0].size;
	uint64_t v = 0;

	if (item == ITEM_BAD)
		return fail(m, -EBADMSG, at, "not MessagePack: a byte that means nothing");
	if (begin_item(m, item == ITEM_STRING, at) < 0 ||
	    (item != ITEM_FIXEXT && take(m, size, &v) < 0))
		return m->failed;
	switch (item) {
	case ITEM_STRING:
		return string(m, v);
	case ITEM_FIXEXT:
		return extension(m, size);
	case ITEM_EXT:
		return extension(m, v);
	case ITEM_FLOAT:
		return fraction(m, v, size);
	case ITEM_UINT:
		return whole(m, v, false);
	case ITEM_INT:
		return whole_signed(m, v, size);
	case ITEM_ARRAY:
	case ITEM_MAP:
		return container(m, item == ITEM_MAP, v);
	case ITEM_FALSE:
	case ITEM_TRUE:
		return word(m, item == ITEM_TRUE ? "true" : "false");
	default:
		return word(m, "null");
	}
}

static int next_item(struct msgpack *m)
{
	uint64_t tag = 0, at;

	if (take(m, 1, &tag) < 0)
		return m->failed;
	at = m->offset;
	if (tag >= 0xc0 && tag < 0xe0)
		return long_item(m, (unsigned)tag, at);
	if (begin_item(m, tag >= 0xa0 && tag < 0xc0, at) < 0)
		return m->failed;
	if (tag < 0x80)
		return whole(m, tag, false);
	if (tag >= 0xe0)
		return whole_signed(m, tag, 1);
	if (tag >= 0xa0)
		return string(m, tag & 31);
	return container(m, tag < 0x90, tag & 15);
}

static int next_bytes(struct msgpack *m)
{
	uint64_t *left = m->in_string ? &m->string_left : &m->skip_left;
	size_t n;

	if (*left) {
		if (fill(m) < 0)
			return m->failed;
		n = m->data_len - m->data_at;
		n = *left < n ? (size_t)*left : n;
		if (m->in_string)
			put_escaped(m, m->data + m->data_at, n);
		m->data_at += n;
		m->offset += n;
		*left -= n;
		return 0;
	}
	if (m->in_string)
		buf_putc(&m->text, '"');
	m->in_string = m->in_skip = false;
	end_item(m);
	return 0;
}

/* What hatchet_read() reads from. */
static ssize_t read_text(void *ctx, void *data, size_t cap)
{
	struct msgpack *m = ctx;
	size_t n;

	if (m->text_at == m->text.len) {
		buf_clear(&m->text);
		m->text_at = 0;
	}
	while (!m->failed && !m->done && !m->text.error && m->text.len < 4096)
		if (m->in_string || m->in_skip)
			next_bytes(m);
		else
			next_item(m);
	if (m->text.error)
		fail(m, m->text.error, FORMAT_NO_OFFSET, "out of memory");
	if (m->failed)
		return m->failed;
	n = MIN(cap, m->text.len - m->text_at);
	if (n)
		memcpy(data, m->text.data + m->text_at, n);
	m->text_at += n;
	return (ssize_t)n;
}

int msgpack_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct msgpack *m = calloc(1, sizeof(*m));
	struct reader_input text = {.read = read_text, .ctx = m, .fd = -1};
	struct format_error why = {0};
	int r;

	if (!m)
		return format_fail_code(error, -ENOMEM);
	m->in = in;
	m->error = &why;
	buf_init(&m->text, 0);
	r = hatchet_read(&text, s, error);
	if (m->failed) {
		*error = why;
		r = m->failed;
	} else if (r < 0) {
		error->offset = FORMAT_NO_OFFSET; /* it counted bytes of JSON */
	}
	buf_done(&m->text);
	free(m->open);
	free(m);
	return r;
}

static bool is_map(unsigned char tag)
{
	return (tag >= 0x80 && tag < 0x90) || tag == 0xde || tag == 0xdf;
}

/* A list of one or two that begins with a map. */
bool msgpack_detect(const char *head, size_t n)
{
	return n >= 2 && (head[0] == '\x91' || head[0] == '\x92') && is_map((unsigned char)head[1]);
}

const struct format format_msgpack = {
	.name = "hatchet_msgpack",
	.suffix = ".hatchet_msgpack",
	.names = NAME_RAW,
	.help = "Hatchet in MessagePack, as Triton's Proton writes it",
	.detect = msgpack_detect,
	.read = msgpack_read,
	.write = msgpack_write,
};
