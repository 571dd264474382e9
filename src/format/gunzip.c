/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/gunzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZLIB
#include <zlib.h>

bool gunzip_detect(const char *head, size_t n)
{
	return n >= 3 && !memcmp(head, "\x1f\x8b\x08", 3);
}

struct gunzip {
	struct reader_input *in;
	z_stream z;
	uint64_t offset; /* of the byte behind data */
	bool within;     /* a member has begun and not ended */
	bool begun, done;
	struct format_error error;
	char data[65536];
};

static struct gunzip *gunzip_new(struct reader_input *in)
{
	struct gunzip *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->in = in;
	if (inflateInit2(&g->z, 15 + 16) == Z_OK)
		return g;
	free(g);
	return NULL;
}

static struct gunzip *gunzip_free(struct gunzip *g)
{
	if (!g)
		return NULL;
	inflateEnd(&g->z);
	free(g);
	return NULL;
}

/* More packed bytes. Behind the last member zeros and what else is there do not count. */
static int fill(struct gunzip *g)
{
	ssize_t n = reader_read(g->in, g->data, sizeof(g->data));

	if (n < 0)
		return format_fail_code(&g->error, (int)n);
	if (n == 0 && g->within)
		return format_fail(&g->error, -EBADMSG, g->offset, "gzip: truncated");
	g->done = n == 0;
	g->offset += (uint64_t)n;
	g->z.next_in = (Bytef *)g->data;
	g->z.avail_in = (uInt)n;
	return 0;
}

static void member_begin(struct gunzip *g)
{
	g->done = g->begun && *g->z.next_in != 0x1f;
	if (g->done)
		return;
	if (g->begun)
		inflateReset(&g->z);
	g->begun = g->within = true;
}

static int step(struct gunzip *g)
{
	int r;

	if (!g->z.avail_in && (fill(g) < 0 || g->done))
		return g->error.code;
	if (!g->within)
		member_begin(g);
	if (g->done)
		return 0;
	r = inflate(&g->z, Z_NO_FLUSH);
	if (r == Z_STREAM_END)
		g->within = false;
	else if (r == Z_MEM_ERROR)
		return format_fail_code(&g->error, -ENOMEM);
	else if (r != Z_OK && r != Z_BUF_ERROR)
		return format_fail(&g->error, -EBADMSG, g->offset - g->z.avail_in, "gzip: %s",
				   g->z.msg ? g->z.msg : "broken");
	return 0;
}

static ssize_t gunzip_read(void *ctx, void *data, size_t cap)
{
	struct gunzip *g = ctx;
	uInt want = (uInt)MIN(cap, (size_t)1 << 30);

	g->z.next_out = data;
	g->z.avail_out = want;
	while (!g->done && !g->error.code && g->z.avail_out)
		step(g);
	if (g->error.code && g->z.avail_out == want)
		return g->error.code;
	return (ssize_t)(want - g->z.avail_out);
}

static void gunzip_init_reader(struct gunzip *g, struct reader_input *unpacked)
{
	unpacked->annotations = g->in->annotations;
	unpacked->read = gunzip_read;
	unpacked->ctx = g;
	unpacked->fd = -1;
	unpacked->head_len = unpacked->head_used = 0;
}

static int gunzip_failed(const struct gunzip *g, struct format_error *error)
{
	if (g->error.code)
		*error = g->error;
	return g->error.code;
}

int gunzip_through(struct reader_input *in,
		   int (*plain)(struct reader_input *in, void *ctx, struct format_error *error),
		   void *ctx, struct format_error *error)
{
	_cleanup_(freep) struct reader_input *unpacked = NULL;
	struct gunzip *g;
	int r = reader_peek(in);

	if (r < 0)
		return format_fail_code(error, r);
	if (!gunzip_detect(in->head, in->head_len))
		return plain(in, ctx, error);
	unpacked = malloc(sizeof(*unpacked));
	g = unpacked ? gunzip_new(in) : NULL;
	if (!g)
		return format_fail_code(error, -ENOMEM);
	gunzip_init_reader(g, unpacked);
	r = plain(unpacked, ctx, error);
	error->unpacked = r < 0;
	r = gunzip_failed(g, error) < 0 ? error->code : r;
	gunzip_free(g);
	return r;
}

#else /* HAVE_ZLIB */

bool gunzip_detect(const char *head, size_t n)
{
	(void)head;
	(void)n;
	return false;
}

int gunzip_through(struct reader_input *in,
		   int (*plain)(struct reader_input *in, void *ctx, struct format_error *error),
		   void *ctx, struct format_error *error)
{
	return plain(in, ctx, error);
}

#endif
