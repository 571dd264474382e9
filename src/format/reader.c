/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/named_file.h"

int format_fail(struct format_error *error, int code, uint64_t offset, const char *why, ...)
{
	va_list ap;

	error->code = code;
	error->offset = offset;
	va_start(ap, why);
	vsnprintf(error->reason, sizeof(error->reason), why, ap);
	va_end(ap);
	return code;
}

int format_fail_code(struct format_error *error, int code)
{
	return format_fail(error, code, FORMAT_NO_OFFSET, "%s",
			   code == -ENOMEM ? "out of memory" : open_error(code));
}

void format_error_line(const struct format_error *error, const char *path, struct buf *line)
{
	buf_printf(line, "%s: %s", path, error->reason);
	if (error->offset != FORMAT_NO_OFFSET)
		buf_printf(line, " at byte %llu%s", (unsigned long long)error->offset,
			   error->unpacked ? " of what is packed" : "");
}

int reader_open(const char *path)
{
	struct stat st;
	int fd;

	if (strcmp(path, "-") != 0)
		return input_open(path, INPUT_WAIT_MS);
	fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	return fd;
}

static ssize_t read_fd(void *ctx, void *data, size_t cap)
{
	ssize_t n;

	do {
		n = read((int)(intptr_t)ctx, data, cap);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

void reader_init_fd(struct reader_input *in, int fd)
{
	in->read = read_fd;
	in->ctx = (void *)(intptr_t)fd;
	in->fd = fd;
	in->head_len = in->head_used = 0;
	in->annotations = NULL;
	in->namer = NULL;
}

static ssize_t read_memory(void *ctx, void *data, size_t cap)
{
	struct reader_memory *m = ctx;
	size_t n = MIN(cap, m->len - m->at);

	if (n)
		memcpy(data, m->data + m->at, n);
	m->at += n;
	return (ssize_t)n;
}

void reader_init_memory(struct reader_input *in, struct reader_memory *memory)
{
	in->read = read_memory;
	in->ctx = memory;
	in->fd = -1;
	in->head_len = in->head_used = 0;
	in->annotations = NULL;
	in->namer = NULL;
}

ssize_t reader_read(struct reader_input *in, void *data, size_t cap)
{
	size_t left = in->head_len - in->head_used;

	if (!left)
		return in->read(in->ctx, data, cap);
	left = MIN(left, cap);
	memcpy(data, in->head + in->head_used, left);
	in->head_used += left;
	return (ssize_t)left;
}

int reader_peek(struct reader_input *in)
{
	while (in->head_len < sizeof(in->head)) {
		ssize_t n =
			in->read(in->ctx, in->head + in->head_len, sizeof(in->head) - in->head_len);

		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		in->head_len += (size_t)n;
	}
	return 0;
}

size_t text_mark(const char *text, size_t n)
{
	return n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

size_t text_blanks(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && memchr(" \t\r\n", text[i], 4))
		i++;
	return i;
}

size_t text_begin(const char *head, size_t n)
{
	size_t mark = text_mark(head, n);

	return mark + text_blanks(head + mark, n - mark);
}
