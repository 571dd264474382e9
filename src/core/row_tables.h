/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_ROW_TABLES_H
#define PROTON_CORE_ROW_TABLES_H
/* What the rows are that a session has beside its tree: one description a table. The session stores and frees them by
 * it, merges and cuts renumber what they name, and files have their fields.
 *
 *     launch_configs   node  device  process  part  of{…}  │  count  time_ns
 *                      └────────── key: first bytes ───────┘  └── add up ──┘
 *
 * To add a table: its struct and its line in ROW_TABLES (core/session.h), its fields and its line in row_tables.c;
 * docs/formats.md and data/proton-profile.schema.json say what files have; what crosses the wire and is an entry
 * as it is, a line in wire/told_rows.c (ADR 60).
 *   thread  any: constants */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"

/* What a field is: its bytes, what it names, and how files have it. */
enum field_type {
	FIELD_STRING, /* uint32_t string id */
	FIELD_WORDS,  /* uint32_t string id, each word with a NUL behind it: a list of strings */
	FIELD_U32,
	FIELD_AMOUNT,
	FIELD_LATENCY, /* uint32_t of an interval: of pages; of all others */
	FIELD_STATUS,  /* uint32_t; SESSION_NONE where the file has no number of that size */
	FIELD_I32,
	FIELD_U64,
	FIELD_F64,
	FIELD_TOLD,    /* double, 0 = not told: no value */
	FIELD_COUNTED, /* double, NaN = not told: no value */
	FIELD_BOOL,
	FIELD_HEX64, /* uint64_t as "0x…": a number of this size is not safe in every reader */
	FIELD_INDEX, /* uint32_t number that is no id of ours, SESSION_NONE = absent */
	/* uint32_t ids of the session; SESSION_NONE = absent, but of epochs, where 0 is */
	FIELD_NODE, /* renumbered by the writer */
	FIELD_LANE,
	FIELD_EPOCH,
	FIELD_PROCESS,
	FIELD_DEVICE,
	FIELD_METRIC,    /* by name */
	FIELD_PART,      /* of a row that is told in parts; 0: of one that is not. In no file */
	FIELD_END,       /* uint8_t enum process_end, as a word */
	FIELD_LEVEL,     /* uint8_t enum note_level, as a word */
	FIELD_DIRECTION, /* uint8_t enum copy_direction, as a word; "": not known */
	FIELD_CHANNEL,   /* uint8_t enum channel_kind, likewise */
	FIELD_REASON,    /* uint8_t enum unrecorded_reason, as a word; "": not known */
	FIELD_LOSSES,    /* uint64_t[LOSS_N] as an object of those that are not 0 */
};
enum { FIELD_N = FIELD_LOSSES + 1 };

/* Is it a uint32_t of which SESSION_NONE says that there is none? */
static inline bool field_is_id(enum field_type type)
{
	return type >= FIELD_INDEX && type <= FIELD_METRIC;
}

enum field_flag {
	FIELD_NEEDED = 1, /* an id without which a row says nothing */
	FIELD_OWNED =
		2, /* the process whose row it is: in a merge one is made for inputs that have none */
	FIELD_SUMS = 4, /* of two rows that become one it adds up: uint64_t */
};

struct field {
	const char *key; /* in files; NULL: they do not have it */
	enum field_type type;
	size_t offset;
	unsigned flags; /* enum field_flag */
};

/* What becomes of a row where there is one with its key. */
enum row_rule {
	ROW_REPLACES,
	ROW_SUMS, /* fields that are FIELD_SUMS add up, the others are the key */
	ROW_KEEPS /* the first one stays */
};

/* What a part of a session has of them (core/merge.h). */
enum table_part {
	PART_WHOLE,     /* nothing: they cannot be divided */
	PART_TRACE,     /* those of its operations, where it has some */
	PART_ALL,       /* all: they are of the run */
	PART_DIMENSION, /* they are dimensions, which others name: each is made by its own function */
};

struct row_table {
	const char *key; /* in files */
	const struct field *fields;
	size_t n_fields;
	size_t row_size;
	size_t key_size; /* the first bytes of a row, without room between them; 0: each is one more */
	enum row_rule rule;
	enum table_part part;
};
extern const struct row_table row_tables[TABLE_N];

/* The fields of a table by which its rows name something else, strings too, found once for all rows. */
enum { ROW_IDS_MAX = 16 };
struct row_ids {
	const struct field *v[ROW_IDS_MAX];
	size_t n;
};
void row_ids(enum table_id id, struct row_ids *ret);

/* Any row: room for one. */
union any_row {
#define _(id, array, type) struct type array;
	ROW_TABLES(_)
#undef _
};

static inline const void *row_at(const struct session *s, enum table_id id, size_t i)
{
	return (const char *)s->tables[id].v + i * row_tables[id].row_size;
}
static inline uint32_t *row_id(void *row, const struct field *field)
{
	return (uint32_t *)(void *)((char *)row + field->offset);
}
/* The field of a type; NULL: its rows have none. */
const struct field *row_field(enum table_id id, enum field_type type);
/* The id that a row has in a field. */
static inline uint32_t row_names(const void *row, const struct field *field)
{
	return *(const uint32_t *)(const void *)((const char *)row + field->offset);
}

#endif
