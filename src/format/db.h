/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_DB_H
#define PROTON_FORMAT_DB_H
/* SQLite databases that come from elsewhere, read without trust: tables are scanned one by one, no
 * view, trigger, virtual table or function of theirs is ever run, and no more rows and bytes are
 * taken than the file can hold.
 *
 *   db_open ──> db_read(tables) ──> each row: db_int, db_text … ──> db_close */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/idindex.h"
#include "format/format.h"

struct db;

/* The database in the input, which may be a pipe. 0, or a negative errno with *error set. */
int db_open(struct reader_input *in, struct format_error *error, struct db **ret_db);
struct db *db_close(struct db *db); /* NULL */
static inline void db_closep(struct db **db)
{
	*db = db_close(*db);
}
bool db_has(const struct db *db, const char *table);
/* Name of the i-th table, NULL behind the last; lives as long as the database. */
const char *db_table(const struct db *db, size_t i);

#define DB_COLUMNS_MAX 16
/* A table to read; NULL ends the columns. One with a "!" before its name must be there, others are
 * null when they are missing. */
struct db_table {
	const char *name;
	const char *columns[DB_COLUMNS_MAX];
	int (*row)(void *ctx); /* takes a row: 0, or -ENOMEM, which ends the reading */
};
/* Read n tables, one after the other; those that are not there are passed over. Their names end in
 * `suffix`, which is not in `tables`. 0, or a negative errno with the error set. */
int db_read(struct db *db, const struct db_table *tables, size_t n, const char *suffix, void *ctx);

/* The columns of the row that is being read, from 0 on. */
bool db_null(struct db *db, int column);
int64_t db_int(struct db *db, int column);  /* 0 when null */
int64_t db_time(struct db *db, int column); /* TRACE_NO_TIME (trace.h) when null */
/* Text as a string id of t: 0 when null, STRTAB_NONE: no memory. */
uint32_t db_text(struct db *db, int column, struct strtab *t);
/* Fill in the error, unless there is one already: for a reason that is not sqlite's. Its code. */
int db_fail(struct db *db, int code, const char *why);

/* Ids of a database, any 64-bit numbers, and what they stand for here. */
struct db_ids {
	struct db_id {
		int64_t id;
		uint32_t value;
	} * items;
	size_t n, cap;
	struct idindex index;
};

void db_ids_done(struct db_ids *ids);
int db_ids_add(struct db_ids *ids, int64_t id, uint32_t value); /* the first of equal ids wins */
uint32_t db_ids_get(const struct db_ids *ids, int64_t id);      /* IDINDEX_NONE: unknown */
/* What the id in a column stands for; IDINDEX_NONE: null or unknown. */
uint32_t db_ids_at(const struct db_ids *ids, struct db *db, int column);
/* The string of the id in a column; 0: null or unknown. */
uint32_t db_ids_string(const struct db_ids *ids, struct db *db, int column);
/* A row of a table of strings: column 0 is the id, column 1 the text. 0 or -ENOMEM. */
int db_ids_add_string(struct db_ids *ids, struct db *db, struct strtab *t);

/* Read a database of this program. 1: done; 0: another program wrote it; or a negative errno with
 * the error set. */
int nsys_read(struct db *db, struct session *s);
int rocpd_read(struct db *db, struct session *s);
int rpd_read(struct db *db, struct session *s); /* the older rocpd */

#endif
