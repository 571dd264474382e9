/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_FORMAT_H
#define PROTON_FORMAT_FORMAT_H
/* File formats: one file a format, one entry in a table.
 *
 *   file ──> reader_input ──> format->read ──> struct session ──> format->write ──> struct out
 *
 * To add a format: src/format/NAME.c with one `const struct format format_NAME`, an entry in the
 * table in format.c, a section in docs/formats.md, a fixture in tests/.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/util.h"
#include "core/session.h"
#include "core/snapshot.h"
#include "format/out.h"

/* Why a file could not be read, in one line and with the place. */
struct format_error {
	int code;        /* -EBADMSG truncated or not of the format, -EINVAL wrong shape, else -errno */
	uint64_t offset; /* byte of the file, or FORMAT_NO_OFFSET */
	bool unpacked;   /* the offset counts unpacked bytes of a packed file */
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
/* "run.hatchet: truncated at byte 812" */
void format_error_line(const struct format_error *error, const char *path, struct buf *line);

/* Where a reader reads. `head` holds bytes that were looked at already and come first. */
#define READER_HEAD 4096
struct reader_input {
	ssize_t (*read)(void *ctx, void *data, size_t cap); /* bytes, 0 at the end, or -errno */
	void *ctx;
	int fd; /* that it reads from and nobody else, or -1 */
	size_t head_len, head_used;
	char head[READER_HEAD];
};

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

struct write_options {
	bool plain;   /* hatchet: only what upstream writes, nothing in a key of ours */
	bool compact; /* no line breaks, no indentation */
	bool no_trace; /* hatchet: leave out when single operations ran */
	uint64_t tag;  /* format_save(): see write_file_tagged() */
	const char *metric; /* what stacks and pictures weigh by; NULL: time (ns) */
	/* How names are written where the format does not keep them raw; as in snapshot_spec. */
	enum name_mode names;
	char *(*demangle)(const char *raw, enum name_mode mode);
};

struct format {
	const char *name;   /* "hatchet" */
	const char *suffix; /* ".hatchet" */
	const char *help;   /* one line */
	/* How names are written unless asked for otherwise. NAME_RAW: always so, whoever reads it
	 * makes them readable. NAME_DEMANGLED: whoever reads it adds up what has one name, and short
	 * names of two kernels may be the same. */
	enum name_mode names;
	/* Does a file that begins so look like this format? NULL: it cannot be read. */
	bool (*detect)(const char *head, size_t n);
	/* Read into a new session. On failure the session holds no meaning: free it. */
	int (*read)(struct reader_input *in, struct session *s, struct format_error *error);
	/* Write; 0, -ENODATA (the session holds nothing that it could show: no trace) or -errno (out->error is checked by whoever flushes). NULL: it cannot be written. */
	int (*write)(const struct session *s, const struct write_options *options, struct out *out);
};

extern const struct format format_hatchet, format_chrome, format_sqlite, format_tape,
	format_json, format_csv, format_markdown, format_folded,
	format_speedscope, format_flamegraph, format_dot, format_msgpack,
	format_pprof, format_perfetto;
extern const struct format *const formats[]; /* NULL ends */

const struct format *format_by_name(const char *name);
const struct format *format_by_path(const char *path);    /* by suffix; NULL: unknown suffix */
const struct format *format_by_content(const char *head, size_t n);

/* Read whatever it is, packed with gzip or not, into a new session: as format->read. */
int format_read(struct reader_input *in, struct session *s, struct format_error *error);
/* Read a file, whatever its format, into a new session. 0, or a negative errno with *error set. */
int format_load(const char *path, struct session **ret_session, struct format_error *error);
/* Write a file in one piece (see write_file_tagged). options may be NULL. 0 or -errno. */
int format_save(const char *path, const struct format *format, const struct session *s,
		const struct write_options *options);

#endif
