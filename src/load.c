/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "load.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/util.h"
#include "commands.h"
#include "format/format.h"
#include "wire/decode.h"

static ssize_t load_bytes(void *ctx, void *data, size_t n)
{
	return reader_read(ctx, data, n);
}

static int load_tape(struct reader_input *in, struct session *s, struct format_error *error)
{
	uint64_t offset = 0;
	int r = wire_read_tape(load_bytes, in, s, &offset);

	if (r < 0)
		return format_fail(error, r, offset, "%s",
				   r == -EBADMSG ? "not a tape of this version" : strerror(-r));
	return 0;
}

static int load_profile(struct reader_input *in, struct session *s, struct format_error *error)
{
	const struct format *f;
	int r = reader_peek(in);

	if (r < 0)
		return format_fail(error, r, 0, "%s", strerror(-r));
	if (wire_is_tape(in->head, in->head_len))
		return load_tape(in, s, error);
	f = format_by_content(in->head, in->head_len);
	/* Nothing recognised it: the reader of the main format says best what is wrong. */
	return (f && f->read ? f : &format_hatchet)->read(in, s, error);
}

static int load_open(const char *path)
{
	struct stat st;
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	return fd;
}

struct session *load_file(const char *path)
{
	_cleanup_(closep) int fd = load_open(path);
	struct format_error error = {0};
	struct reader_input in;
	struct session *s;
	struct buf line;

	if (fd < 0) {
		complain("cannot open '%s': %s", path, strerror(-fd));
		return NULL;
	}
	s = session_new();
	if (!s) {
		complain("out of memory");
		return NULL;
	}
	reader_init_fd(&in, fd);
	if (load_profile(&in, s, &error) < 0) {
		buf_init(&line, 0);
		format_error_line(&error, path, &line);
		complain("%s", buf_str(&line));
		buf_done(&line);
		return session_free(s);
	}
	if (!s->source)
		s->source = strtab_adds(s->strings, path);
	s->ended = true;
	return s;
}
