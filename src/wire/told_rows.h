/* SPDX-License-Identifier: MIT */
#ifndef PROTON_WIRE_TOLD_ROWS_H
#define PROTON_WIRE_TOLD_ROWS_H
/* Tables (core/row_tables.h) whose rows a collector tells as entries of one size, each whole and as it is by then:
 * which bytes of an entry are which of a row. Ids are those of the stream there; whose it is, is not said.
 *   thread  any: constants */
#include <stddef.h>
#include <stdint.h>
#include "core/row_tables.h"
#include "wire/wire.h"

struct told_bytes {
	uint16_t in_entry, in_row, n;
};

struct told_rows {
	enum table_id table;
	size_t entry; /* bytes of one; 0: this kind is told otherwise */
	const struct told_bytes *bytes;
	size_t n_bytes;
};
extern const struct told_rows told_rows[WIRE_N_KINDS];

/* A row of nothing but what the entry says; and the entry of a row. */
void told_row(const struct told_rows *t, const void *entry, union any_row *ret);
void told_entry(const struct told_rows *t, const union any_row *row, void *ret_entry);

#endif
