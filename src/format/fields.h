/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_FIELDS_H
#define PROTON_FORMAT_FIELDS_H
/* The small structures of a session (processes, devices, lanes …) as tables of fields, so that the
 * Hatchet writer, its reader and the JSON export agree on every name and leave nothing out.
 *
 *   section "lanes": element struct session_lane, fields "process", "device", "context" … */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/activity.h"
#include "core/session.h"
#include "format/json_writer.h"

enum field_type {
	FIELD_STRING, /* uint32_t string id */
	FIELD_WORDS,  /* uint32_t string id, each word with a NUL behind it: a list of strings */
	FIELD_U32,
	FIELD_STATUS, /* uint32_t; SESSION_NONE where the file has no number of that size */
	FIELD_I32,
	FIELD_U64,
	FIELD_F64,
	FIELD_TOLD,    /* double, 0 = not told: no value */
	FIELD_COUNTED, /* double, NaN = not told: no value */
	FIELD_BOOL,
	FIELD_HEX64,  /* uint64_t as "0x…": a number of this size is not safe in every reader */
	FIELD_INDEX,  /* uint32_t, SESSION_NONE = absent */
	FIELD_NODE,   /* uint32_t node, renumbered by the writer */
	FIELD_METRIC, /* uint32_t metric id, by name */
	FIELD_END,    /* uint8_t enum process_end, as a word */
	FIELD_LEVEL,  /* uint8_t enum note_level, as a word */
	FIELD_DIRECTION, /* uint8_t enum copy_direction, as a word; "": not known */
	FIELD_CHANNEL,   /* uint8_t enum channel_kind, likewise */
	FIELD_REASON,    /* uint8_t enum unrecorded_reason, as a word; "": not known */
	FIELD_LOSSES,    /* uint64_t[LOSS_N] as an object of those that are not 0 */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	bool (*has)(const struct session *s, const void *element); /* NULL: each has it */
};

struct field_section {
	const char *key;
	const struct field *fields;
	size_t n_fields;
	size_t element_size;
	size_t array, count; /* offsets in struct session */
};

enum section_id {
	SECTION_CLOCKS,
	SECTION_COPY_LANES,
	SECTION_COUNTERS,
	SECTION_DEVICES,
	SECTION_EPOCHS,
	SECTION_INTERVALS,
	SECTION_LANES,
	SECTION_CONFIGS,
	SECTION_MODULES,
	SECTION_NOTES,
	SECTION_PROCESSES,
	SECTION_RUNS,
	SECTION_SAMPLES,
	SECTION_SENSORS,
	SECTION_UNRECORDED,
	SECTION_USES,
	SECTION_N
};
extern const struct field_section sections[SECTION_N]; /* in alphabetical order of their keys */

extern const char *const process_end_words[3], *const note_level_words[3];
extern const char *const direction_words[COPY_N_DIRECTIONS];
extern const char *const channel_kind_words[CHANNEL_N_KINDS];
extern const char *const reason_words[UNRECORDED_N];
extern const char *const metric_type_words[3], *const metric_scope_words[3],
						       *const metric_add_words[METRIC_N_ADDS];

/* How the writers differ. */
struct fields_writer {
	const struct session *session;
	struct json_writer *json;
	bool all; /* fields that have their default too */
	bool hex; /* a string that is not UTF-8 becomes {"hex": "…"}, else U+FFFD stands in */
	const uint32_t *node_numbers; /* new numbers of nodes, or NULL: as they are */
};

size_t section_count(const struct session *s, const struct field_section *section);
const void *section_element(const struct session *s, const struct field_section *section, size_t i);
/* "key": [ … ], nothing when it is empty and not `all`. */
void fields_write_section(const struct fields_writer *f, const struct field_section *section);
void fields_write_string(const struct fields_writer *f, uint32_t string);
/* "key": a string of the session. */
void fields_key_string(const struct fields_writer *f, const char *key, uint32_t string);
bool fields_losses_none(const uint64_t losses[LOSS_N]);
void fields_write_losses(const struct fields_writer *f, const uint64_t losses[LOSS_N]);
/* Name, unit and behaviour of one metric, as an object. */
void fields_write_metric(const struct fields_writer *f, const struct metric *m);
void fields_write_value(const struct fields_writer *f, const struct metric *m,
			union metric_value v);

/* key: [[ns, executions], …]: the bins that have any, by the shortest duration in them. */
void fields_write_hist(struct json_writer *json, const char *key, const struct hist *hist);

/* The histograms of each node, in the order of the session. All zero at first. */
struct hist_chains {
	uint32_t *first, *next; /* by node; by histogram. SESSION_NONE: no more */
};
int hist_chains_init(struct hist_chains *c, const struct session *s); /* 0 or -ENOMEM */
void hist_chains_done(struct hist_chains *c);
uint32_t hist_chains_first(const struct hist_chains *c, uint32_t node);

#endif
