/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_HATCHET_SUMS_H
#define PROTON_FORMAT_HATCHET_SUMS_H
/* Are the rows of our own key what a node's "metrics" say? Other tools read and change only these. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hread;
struct record;

/* *ret: the session's rows of these nodes, the parts of one record, add up to the record's metrics: each
 * has all that the other has. 0 or -ENOMEM. */
int hread_rows_agree(struct hread *r, const struct record *record, const uint32_t *nodes,
		     uint32_t n, bool *ret);
/* Is this value of a node's metrics a number of its own? The root's zeros say that a metric exists, not
 * that it was measured. */
bool hread_is_schema(const struct hread *r, const struct record *record, size_t at);
/* Is this key, among the metrics of a node, none? */
bool hread_is_label(const struct hread *r, uint32_t key);
/* Say how many disagreed. 0 or -ENOMEM. */
int hread_note_sums(struct hread *r);

#endif
