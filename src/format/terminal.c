/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/terminal.h"

#include "base/shown.h"

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* How many bytes at the end may be the beginning of a character, or of the end of a line. */
static size_t unfinished(const char *data, size_t len)
{
	size_t n = 1;

	if (len && data[len - 1] == '\r')
		return 1;
	while (n < 4 && n < len && is_continuation(data[len - n]))
		n++;
	return len && n < 4 && (unsigned char)data[len - n] >= 0xc0 ? n : 0;
}

static int write_shown(void *ctx, const char *data, size_t len)
{
	struct terminal *t = ctx;
	struct buf all, shown;
	size_t rest;
	int r;

	buf_init(&all, 0);
	buf_init(&shown, 0);
	buf_put(&all, t->rest, t->n_rest);
	buf_put(&all, data, len);
	rest = unfinished(all.data, all.len);
	/* Ends of lines are the format's own or the name's: neither does harm. */
	shown_put_lines(&shown, all.data, all.len - rest);
	r = all.error ? all.error : shown.error;
	if (r == 0) {
		t->n_rest = rest;
		memcpy(t->rest, all.data + all.len - rest, rest);
		r = out_write_fd((void *)(intptr_t)t->fd, shown.data, shown.len);
	}
	buf_done(&all);
	buf_done(&shown);
	return r;
}

void out_to_terminal(struct out *o, struct terminal *t, int fd)
{
	*t = (struct terminal){.fd = fd};
	out_init(o, write_shown, t);
}

int terminal_end(struct terminal *t)
{
	struct buf shown;
	int r;

	buf_init(&shown, 0);
	shown_put(&shown, t->rest, t->n_rest);
	t->n_rest = 0;
	r = shown.error ? shown.error
			: out_write_fd((void *)(intptr_t)t->fd, shown.data, shown.len);
	buf_done(&shown);
	return r;
}
