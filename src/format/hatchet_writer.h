/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_HATCHET_WRITER_H
#define PROTON_FORMAT_HATCHET_WRITER_H
/* What the two halves of the Hatchet writer share.
 *
 *   hatchet_write.c    what upstream knows
 *     └> hatchet_extra.c    the key "proton": what only we know
 *          └> hatchet_writer.c    this: what is found out before, and names */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"
#include "format/fields.h"
#include "format/given.h"
#include "format/json_writer.h"

struct level;

/* Keys of a node's "metrics" that are no metrics. */
#define COLUMN_DEVICE_ID   (METRIC_NONE - 1)
#define COLUMN_DEVICE_TYPE (METRIC_NONE - 2)

/* A session node that is part of a written node. */
struct part {
	uint32_t node;
	uint32_t parent; /* index of its parent among the parts of the parent */
};

struct device_key {
	uint32_t device;
	const char *type;
	char id[12];
};

struct hwrite {
	const struct session *s;
	bool plain, as_given, host_if_asked;
	bool host_asked; /* of the node that is being written */
	bool has_code;   /* … plain: it has samples of code */
	bool trace;      /* single executions, too */
	struct json_writer json;
	struct fields_writer fields;
	struct given_list columns; /* keys of a node's "metrics" */
	uint8_t *occurs;           /* by metric: it has a value somewhere */
	/* Values of the node that is being written, by metric. */
	union metric_value *values;
	double *weights;
	uint8_t *present;
	struct device_key *devices;
	bool renumbered;       /* a device's id in the file is not its index */
	uint64_t *device_time; /* of the node that is being written */
	/* To fold siblings of one name, by name: `mark` when it was seen last; its group. */
	uint32_t *seen, *group_of, mark;
	struct part *pool;
	size_t pool_n, pool_cap;
	struct level *levels;
	size_t n_levels, cap_levels;
	uint32_t *numbers, n_numbers; /* order of writing; only when something refers to nodes */
	struct hist_chains hists;
	uint32_t *frame_index; /* of frames that "frames" lists, from 1 */
	uint32_t n_listed;
	bool tables; /* some node refers to lanes and sets */
};

/* s and options are set. 0 or -ENOMEM; hwrite_done() in either case. */
int hwrite_init(struct hwrite *w);
void hwrite_done(struct hwrite *w);
/* Are the rows of a table written, if there are any? */
static inline bool hwrite_has_table(const struct hwrite *w, enum table_id id)
{
	return w->trace || row_tables[id].part != PART_TRACE;
}

const struct metric *hwrite_metric(const struct hwrite *w, uint32_t id);
/* The name of a node, and its length. That of an address is made here and valid until the next
 * call. */
const char *hwrite_raw_name(const struct session *s, uint32_t node, size_t *ret_len);
/* The name as it is written, never empty: other readers take an empty one for none. */
const char *hwrite_name(const struct session *s, uint32_t node, size_t *ret_len);
/* Is there more to say of a frame than its name? */
bool hwrite_frame_is_listed(const struct session_frame *f);

#endif
