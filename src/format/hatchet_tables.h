/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_HATCHET_TABLES_H
#define PROTON_FORMAT_HATCHET_TABLES_H
/* What turning a recorded Hatchet file into a session, and a document of our JSON export, share:
 * hatchet_tables.c reads what nodes and rows refer to, hatchet_read.c and json_read.c the nodes and
 * rows.
 *
 * Indices in a file are never trusted: each goes through a map of what was really there. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/idindex.h"
#include "core/session.h"
#include "format/fields.h"
#include "format/hatchet_parse.h"

/* Index in the file -> id in the session. */
struct id_map {
	uint32_t *ids;
	size_t n, cap;
};

/* A device as the nodes of a file name it. */
struct named_device {
	uint32_t type; /* string id */
	int32_t index;
	uint32_t id;
};

/* A kind of loss that this version does not know, and how many, of the session and of all
 * processes. The last of NEWER_LOSSES stands for all further kinds, and has no word. */
struct newer_loss {
	const char *word;
	uint64_t n;
	bool is_vague; /* not said as a number that can be added up */
};
enum { NEWER_LOSSES = 8 };

struct hread {
	struct session *s;
	struct hatchet_file f;
	struct id_map tables[TABLE_N];
	/* Of the table at hand: a row of which a file says nothing, and what rows name. */
	union any_row empty;
	struct row_ids ids;
	struct id_map sets, frames;
	/* For each value of a row in the file: its place in the session's row. Those of the file's
	 * set i begin at first_place.ids[i]. */
	struct id_map places, first_place;
	struct set_seen {
		uint32_t set, place;
	} * seen;            /* by metric: the last set that had it, and where in `places` */
	struct id_map nodes; /* number of a written node's part -> session node */
	uint32_t *first_node, *n_nodes; /* by record: number of its first part, of its parts */
	uint32_t *metric_of_key;
	bool is_old;           /* of Triton 3.1 or before: other names of metrics */
	bool root_is_complete; /* the root lists inclusive metrics beyond those of kernels */
	struct named_device *devices;
	size_t n_devices, cap_devices;
	struct idindex device_names; /* of devices, by type and index */
	uint32_t *scratch;           /* metric ids of a row */
	size_t cap_scratch;
	union metric_value *scratch_values;
	size_t cap_scratch_values;
	/* By metric: what the rows of the node at hand, the n_summed-th, add up to. */
	struct row_sum {
		union metric_value value;
		double weight;
		uint32_t node; /* the number of the node that it is of; 0: matched, or of none */
	} * sums;
	size_t cap_sums;
	uint32_t n_summed;
	uint32_t n_unlike; /* nodes whose rows were not what their metrics say */
	uint32_t n_looks;  /* see hatchet_sums.c */
	size_t extra;      /* the root's own key, 0 = none */
	unsigned warned;   /* enum warning bits */
	struct newer_loss newer[NEWER_LOSSES];
	size_t n_newer;
};

/* What readers are told with the profile, each once. */
#define WARNINGS(_)                                                                                \
	_(GARBAGE, "text after the end of the profile was ignored")                                \
	_(NEGATIVE, "negative values of a metric of whole numbers were ignored (an overflow in "   \
		    "the program that wrote the file?)")                                           \
	_(PARTIAL, "fractions of a metric of whole numbers were rounded")                          \
	_(MIXED, "texts in a metric that has numbers elsewhere were ignored")                      \
	_(TWICE, "a metric is listed twice in one place: the last value counts")                   \
	_(RULE, "some metrics add up by a rule that this version does not know: they do not add "  \
		"up here")                                                                         \
	_(METRICS, "too many metrics: some were ignored")                                          \
	_(VECTOR, "a list of values was cut at 1024 elements")                                     \
	_(INDEX, "entries that refer to something outside of the file were ignored")               \
	_(NEWER, "written by a newer version of proton: some of it may be missing")

enum warning {
#define _(id, text) WARNING_##id,
	WARNINGS(_)
#undef _
		WARNING_N
};

/* 0 or -ENOMEM. */
int hread_warn(struct hread *r, enum warning warning);

int hread_map_add(struct id_map *m, uint32_t id);
uint32_t hread_map_get(const struct id_map *m, uint64_t index); /* SESSION_NONE: not there */
/* The places of a set's values in a row of it; *ret_n: how many a row of the file has. */
const uint32_t *hread_places(const struct hread *r, uint64_t set, uint32_t *ret_n);
#define PLACE_NONE (SESSION_NONE - 1) /* the same metric comes again */
uint32_t hread_row_id(const struct hread *r, enum table_id table, uint32_t index);

/* Values of the file. A position of 0 is a value that is missing. */
size_t hread_find(const struct hread *r, size_t map, enum hatchet_key key);
uint64_t hread_u64(const struct hread *r, size_t at, uint64_t missing);
uint32_t hread_u32(const struct hread *r, size_t at, uint32_t missing);
const char *hread_text(const struct hread *r, size_t at); /* "" when it is no string */
/* A string of the session: plain, or {"hex": "…"} when it is not UTF-8. 0 when it is neither. */
uint32_t hread_string(struct hread *r, size_t at);
/* Bytes of a string of hexadecimal digits, as a string of the session; 0 when it is none. */
uint32_t hread_hex(struct hread *r, const char *hex, size_t len);

/* Call f with `of` for each element of this kind in the list at a position, TOKEN_NONE: for each
 * whatever it is. What is no list has none. 0, or the first negative errno of f. */
int hread_each(struct hread *r, size_t list, enum token kind, uint32_t of,
	       int (*f)(struct hread *r, uint32_t of, size_t at));

/* A value as its metric has it. 1: done, 0: it has none, or -ENOMEM. */
int hread_value(struct hread *r, uint32_t metric, size_t at, union metric_value *ret);
/* The metric of a key, or of this name; METRIC_NONE when there are too many. 0 or -ENOMEM. */
int hread_metric_of_key(struct hread *r, uint32_t key, uint32_t *ret_id);
int hread_add_metric(struct hread *r, const char *name, unsigned facts, uint32_t *ret_id);

/* "0" or 0; false when it is no number. */
bool hread_device_index(const struct hread *r, size_t at, int32_t *ret);
uint32_t hread_device_type(struct hread *r, size_t at); /* string id, STRTAB_NONE: no memory */
/* The device of this type and index, made when there is none. */
int hread_device(struct hread *r, uint32_t type, int32_t index, uint32_t *ret_id);

/* Everything that nodes and rows refer to; then what refers to them. 0 or -ENOMEM. */
int hread_tables(struct hread *r);
int hread_references(struct hread *r);
/* A value of a row. Two lanes of a file may be one in the session: then it is there already, and both
 * become one. */
void hread_store(struct hread *r, uint32_t row, uint32_t k, union metric_value v);
void hread_done(struct hread *r); /* frees all but the session */

#endif
