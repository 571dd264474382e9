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
#include "base/util.h"
#include "core/session.h"
#include "core/snapshot.h"
#include "format/out.h"
#include "format/reader.h"

/* What somebody should know of a file that has no place for it. */
struct write_notes {
	unsigned decimals;     /* its numbers count 10^-decimals; 0: as they are */
	const char *no_values; /* the metric by which it weighs, if no context has it; or NULL */
	uint32_t n_left_out;   /* values below 0, or infinite, which nothing can weigh */
	uint32_t n_cut;        /* values that are larger than it holds */
	uint32_t depth; /* how many names its longest stacks or paths have, if there were longer */
	uint32_t
		n_deep; /* contexts that lay deeper, and whose values are at the end of these stacks */
	uint32_t n_short; /* contexts whose paths are shortened to the innermost names */
};

/* What the rows of a table are. */
enum write_table {
	WRITE_CONTEXTS, /* calling contexts */
	WRITE_COPY_PAIRS,
	WRITE_COPY_SIZES,
	WRITE_COPY_STREAMS,
	WRITE_DEVICES,
	WRITE_N_TABLES
};

struct write_options {
	bool plain;    /* hatchet: only what upstream writes, nothing in a key of ours */
	bool as_given; /* hatchet, in MessagePack too: lists are lists; see given.h */
	/* … time of scopes on the host, but in our own key, is left out where nobody asked for it
	 * (export_host_is_asked()). */
	bool host_if_asked;
	bool compact; /* no line breaks, no indentation */
	bool no_names; /* chrome: executions alone, without names of processes and threads and counters */
	bool no_trace; /* hatchet: leave out when single operations ran */
	uint64_t tag;  /* format_save(): see write_file_tagged() */
	/* What stacks and pictures weigh by; NULL: time (ns). Of tables: names of columns, separated
	 * by commas; NULL: all metrics of the profile. */
	const char *metric;
	enum write_table table;    /* of formats with columns; metric is of contexts alone */
	const struct peaks *peaks; /* for util and bound in tables; NULL: not known */
	/* How names are written where the format does not keep them raw; as in snapshot_spec. */
	enum name_mode names;
	const struct naming *naming; /* NULL: all names are raw */
	struct write_notes *notes;   /* is filled in; NULL: nobody asks */
};

struct annotations;
struct native_namer;

struct format {
	const char *name;   /* "hatchet" */
	const char *suffix; /* ".hatchet" */
	const char *help;   /* one line; NULL: that of the next one in the list is of both */
	/* How names are written unless the user says otherwise. NAME_RAW: always as they are,
	 * because readers of the format demangle them. NAME_DEMANGLED: because readers add up
	 * what has the same name, and a kernel's short name depends on the others of its file. */
	enum name_mode names;
	bool has_columns; /* a table: write_options.metric are several, derived ones too */
	/* Does a file with this beginning look like this format? NULL: the format is not read. */
	bool (*detect)(const char *head, size_t n);
	/* Read into a new session. 0, or a negative errno with *error set: then the session is
	 * incomplete and of no use but to be freed. */
	int (*read)(struct reader_input *in, struct session *s, struct format_error *error);
	/* Write. 0, -ENODATA (the session has no trace, which is all that this format shows) or
	 * -errno; the caller flushes `out`, and looks at its error. NULL: the format is not
	 * written. */
	int (*write)(const struct session *s, const struct write_options *options, struct out *out);
};

extern const struct format format_hatchet, format_chrome, format_sqlite, format_tape, format_json,
	format_csv, format_markdown, format_folded, format_speedscope, format_flamegraph,
	format_dot, format_msgpack, format_pprof, format_perfetto, format_callgrind, format_warps;
extern const struct format *const formats[]; /* NULL ends */

const struct format *format_by_name(const char *name);
const struct format *format_by_path(const char *path); /* by suffix; NULL: unknown suffix */
const struct format *format_by_content(const char *head, size_t n);

/* Read a file of any format, packed with gzip or not, into a new session. Returns as
 * format->read. */
int format_read(struct reader_input *in, struct session *s, struct format_error *error);
/* Read a file, whatever its format, into a new session; "-" is standard input. 0, or a negative
 * errno with *error set. */
int format_load(const char *path, struct session **ret_session, struct format_error *error);
/* What else there is for a file; any may be NULL. */
struct format_beside {
	struct annotations
		*annotations; /* of nodes of a trace (annotations.h), of no use afterwards */
	const struct native_namer *namer; /* of a tape: lines of code that was sampled */
};
int format_load_beside(const char *path, const struct format_beside *beside,
		       struct session **ret_session, struct format_error *error);
/* Write a file in one piece (see write_file_tagged). options may be NULL. 0 or -errno. */
int format_save(const char *path, const struct format *format, const struct session *s,
		const struct write_options *options);

#endif
