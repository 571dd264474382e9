/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_DB_H
#define PROTON_FORMAT_DB_H
/* SQLite databases that come from elsewhere, read without trust: tables are scanned one by one, no
 * view, trigger, virtual table or function of theirs is ever run, and no more rows and bytes are
 * taken than the file can hold.
 *
 *   db_open ──> db_select(table, columns) ──> db_next … db_int, db_text ──> db_done
 * */
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
/* Start to read a table; NULL ends the columns. One with a "!" before its name must be there,
 * others are null when they are missing. 1: go on with db_next(); 0: there is no such table; or a
 * negative errno with the error set. One table is read at a time. */
int db_select(struct db *db, const char *table, const char *const *columns);
/* 1: a row; 0: no more; or a negative errno with the error set. */
int db_next(struct db *db);
bool db_null(struct db *db, int column);
int64_t db_int(struct db *db, int column);  /* 0 when null */
int64_t db_time(struct db *db, int column); /* TRACE_NO_TIME (trace.h) when null */
/* Text as a string id of t: 0 when null, STRTAB_NONE: no memory. */
uint32_t db_text(struct db *db, int column, struct strtab *t);
/* Fails for a reason that is not sqlite's. */
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
/* Strings of a table by id, two of its columns. */
int db_ids_strings(struct db_ids *ids, struct db *db, const char *table, const char *id,
		   const char *text, struct strtab *t);

/* Whose database it is: 1: read; 0: of somebody else; or a negative errno with the error set. */
int nsys_read(struct db *db, struct session *s);
int rocpd_read(struct db *db, struct session *s);
int rpd_read(struct db *db, struct session *s); /* the older rocpd */

#endif
