/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_FIELDS_H
#define PROTON_FORMAT_FIELDS_H
/* The tables of a session (core/row_tables.h: processes, devices, lanes …) in files, so that the Hatchet writer, its
 * reader and the JSON export agree on every name and leave nothing out. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/activity.h"
#include "core/row_tables.h"
#include "core/session.h"
#include "format/json_writer.h"

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

/* "key": [ … ], nothing when it is empty and not `all`. */
void fields_write_table(const struct fields_writer *f, enum table_id id);
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
