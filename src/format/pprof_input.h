/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_PPROF_INPUT_H
#define PROTON_FORMAT_PPROF_INPUT_H
/* The fields of a profile.proto, sorted: what refers to what may stand in any order in a file, and the
 * strings, to which all refer, stand at its end.
 *
 *   bytes ─┬─ messages ──> kept, by field, as they are ── pprof_read.c ──> session
 *          ├─ strings ───> interned
 *          └─ the rest is skipped
 *
 * Memory is in proportion to the file.
 *   thread  one */
#include "base/strtab.h"
#include "format/pprof.h"
#include "format/protobuf.h"
#include "format/reader.h"

struct pprof_file {
	/* By field: each message with its length before it as a varint. Comments: numbers alone. */
	struct buf kept[PROFILE_FIELDS];
	uint32_t *strings; /* ids of the session, by index of the file */
	size_t n_strings, cap_strings;
	uint64_t numbers[PROFILE_FIELDS]; /* of fields that are one; 0: not there */
	uint64_t n_bytes;                 /* of the file */
};

/* 0, or a negative errno with *error set. done() frees what there is, after a failure too. */
int pprof_file_read(struct reader_input *in, struct strtab *strings, struct pprof_file *file,
		    struct format_error *error);
void pprof_file_done(struct pprof_file *file);

/* All messages of a field, and the next of them; false: there is none. */
struct pb_span pprof_messages(const struct pprof_file *file, unsigned field);
bool pprof_next(struct pb_span *messages, struct pb_span *ret);

#endif
