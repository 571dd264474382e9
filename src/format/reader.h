/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_READER_H
#define PROTON_FORMAT_READER_H
/* What readers of all formats share: where the bytes come from, and why they were not understood.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/buf.h"
#include "base/util.h"

/* Why a file could not be read, in one line and with the place. */
struct format_error {
	int code; /* -EBADMSG truncated or not of the format, -EINVAL wrong shape, else -errno */
	uint64_t offset;  /* byte of the file, or FORMAT_NO_OFFSET */
	bool unpacked;    /* the offset counts unpacked bytes of a packed file */
	char reason[200]; /* "truncated", "not JSON: invalid character", "wrong shape: …" */
};
#define FORMAT_NO_OFFSET UINT64_MAX

/* What is read has to fit in memory, and a packed file of some MB can hold a name of a GB. Bytes of a
 * name, or of any other value, and of all different names of a file. */
#define FORMAT_NAME_MAX  ((size_t)16 << 20)
#define FORMAT_NAMES_MAX ((size_t)1 << 30)
#define FORMAT_NAME_LONG "a name or value of more than 16 MiB"

/* Fill in an error and return code, so that a reader can `return format_fail(…)`. */
int format_fail(struct format_error *error, int code, uint64_t offset, const char *why, ...)
	_printf_(4, 5);
/* The same with what the code itself means, and no offset. */
int format_fail_code(struct format_error *error, int code);
/* "run.hatchet: truncated at byte 812" */
void format_error_line(const struct format_error *error, const char *path, struct buf *line);

/* Where a reader reads. `head` holds bytes that were looked at already and come first. */
#define READER_HEAD 4096
struct annotations;
struct native_namer;
struct reader_input {
	ssize_t (*read)(void *ctx, void *data, size_t cap); /* bytes, 0 at the end, or -errno */
	void *ctx;
	int fd;                           /* that it reads from and nobody else, or -1 */
	struct annotations *annotations;  /* to join with a trace (annotations.h), or NULL */
	const struct native_namer *namer; /* of a tape, or NULL */
	size_t head_len, head_used;
	char head[READER_HEAD];
};

/* A file; "-" is standard input. A terminal does not become ours. A descriptor to close, or -errno. */
int reader_open(const char *path);
void reader_init_fd(struct reader_input *in, int fd);
struct reader_memory {
	const char *data;
	size_t len, at;
};
void reader_init_memory(struct reader_input *in, struct reader_memory *memory);
/* Next bytes of the input: their number, 0 at the end, or -errno. */
ssize_t reader_read(struct reader_input *in, void *data, size_t cap);
/* Fill `head` as far as possible; 0 or -errno. */
int reader_peek(struct reader_input *in);

/* How many bytes of a byte order mark, and of white space as JSON has it, a text begins with. */
size_t text_mark(const char *text, size_t n);
size_t text_blanks(const char *text, size_t n);
/* Both: where what a file says begins; n: there is nothing else. */
size_t text_begin(const char *head, size_t n);

#endif
