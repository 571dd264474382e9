/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "format/trace.h"

/* ---- ids ---- */

void db_ids_done(struct db_ids *ids)
{
	free(ids->items);
	idindex_done(&ids->index);
	*ids = (struct db_ids){0};
}

static bool id_equal(const void *ctx, uint32_t i, const void *key)
{
	return ((const struct db_ids *)ctx)->items[i].id == *(const int64_t *)key;
}

static uint32_t find_id(const struct db_ids *ids, int64_t id)
{
	return idindex_find(&ids->index, hash_u64((uint64_t)id), id_equal, ids, &id);
}

int db_ids_add(struct db_ids *ids, int64_t id, uint32_t value)
{
	if (find_id(ids, id) != IDINDEX_NONE)
		return 0;
	if (ids->n >= IDINDEX_NONE || ARRAY_ROOM(ids->items, ids->cap, ids->n + 1) < 0 ||
	    idindex_add(&ids->index, hash_u64((uint64_t)id), (uint32_t)ids->n) < 0)
		return -ENOMEM;
	ids->items[ids->n++] = (struct db_id){id, value};
	return 0;
}

uint32_t db_ids_get(const struct db_ids *ids, int64_t id)
{
	uint32_t i = find_id(ids, id);

	return i == IDINDEX_NONE ? i : ids->items[i].value;
}

uint32_t db_ids_at(const struct db_ids *ids, struct db *db, int column)
{
	return db_null(db, column) ? IDINDEX_NONE : db_ids_get(ids, db_int(db, column));
}

uint32_t db_ids_string(const struct db_ids *ids, struct db *db, int column)
{
	uint32_t id = db_ids_at(ids, db, column);

	return id == IDINDEX_NONE ? 0 : id;
}

int db_ids_add_string(struct db_ids *ids, struct db *db, struct strtab *t)
{
	uint32_t string = db_text(db, 1, t);

	return string == STRTAB_NONE ? -ENOMEM : db_ids_add(ids, db_int(db, 0), string);
}

#define TEXT_MAX   (256 << 20)       /* of one value */
#define SQL_MAX    (1 << 20)         /* of one statement of its schema */
#define MEMORY_MAX ((size_t)2 << 30) /* of a database that comes through a pipe */
#define STEPS      1000              /* of sqlite's machine between two looks at the budget */

struct db {
	sqlite3 *sqlite;
	sqlite3_stmt *rows;
	struct format_error *error;
	struct table {
		char *name;
		bool computes; /* has computed columns, which no profiler's tables have */
	} * tables;
	size_t n_tables, cap_tables;
	uint64_t size;    /* bytes of the file */
	uint64_t n_bytes; /* taken of it, a row counting as one */
	uint64_t n_steps;
};

/* Allows only what a scan of a table needs. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *c,
		     const char *d)
{
	(void)ctx;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

/* A file of n bytes is read in some n steps; a broken one can lead around in circles. */
static int look_at_budget(void *ctx)
{
	struct db *db = ctx;

	return ++db->n_steps > db->size / 10 + 100000;
}

int db_fail(struct db *db, int code, const char *why)
{
	return db->error->code ? db->error->code
			       : format_fail(db->error, code, FORMAT_NO_OFFSET, "%s", why);
}

static int fail_sqlite(struct db *db)
{
	int code = sqlite3_errcode(db->sqlite);

	if (code == SQLITE_NOMEM)
		return db_fail(db, -ENOMEM, "out of memory");
	if (code == SQLITE_INTERRUPT)
		return db_fail(db, -EBADMSG, "SQLite: the database goes around in circles");
	return format_fail(db->error, -EBADMSG, FORMAT_NO_OFFSET, "SQLite: %s",
			   sqlite3_errmsg(db->sqlite));
}

/* Views are never run, but parsed with the schema: those of rocpd unite many selects. */
static int be_careful(struct db *db)
{
	static const struct {
		int what, value;
	} limits[] =
		{
			{SQLITE_LIMIT_LENGTH, TEXT_MAX},  {SQLITE_LIMIT_SQL_LENGTH, SQL_MAX},
			{SQLITE_LIMIT_EXPR_DEPTH, 50},    {SQLITE_LIMIT_VDBE_OP, 20000},
			{SQLITE_LIMIT_ATTACHED, 0},       {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
			{SQLITE_LIMIT_WORKER_THREADS, 0},
		},
	  config[] = {
		  {SQLITE_DBCONFIG_DEFENSIVE, 1},
		  {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		  {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
		  {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
	  };

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(db->sqlite, limits[i].what, limits[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(config); i++)
		if (sqlite3_db_config(db->sqlite, config[i].what, config[i].value, NULL) !=
		    SQLITE_OK)
			return fail_sqlite(db);
	sqlite3_progress_handler(db->sqlite, STEPS, look_at_budget, db);
	return sqlite3_set_authorizer(db->sqlite, authorize, db) == SQLITE_OK ? 0 : fail_sqlite(db);
}

/* ---- opening ---- */

/* A regular file of which only the head was read is opened in its place, if it is still there. */
static bool in_place(const struct reader_input *in, uint64_t *ret_size)
{
	struct stat st;

	if (in->fd < 0 || fstat(in->fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_nlink)
		return false;
	*ret_size = (uint64_t)st.st_size;
	return true;
}

static int open_file(struct db *db, int fd)
{
	char uri[64];

	/* Immutable: no journal, no lock, nothing beside the file is looked for. */
	snprintf(uri, sizeof(uri), "file:/proc/self/fd/%d?mode=ro&immutable=1", fd);
	if (sqlite3_open_v2(uri, &db->sqlite,
			    SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE,
			    NULL) != SQLITE_OK)
		return db->sqlite ? fail_sqlite(db) : db_fail(db, -ENOMEM, "out of memory");
	return 0;
}

/* All bytes of a pipe. */
static int slurp(struct db *db, struct reader_input *in, struct buf *all)
{
	_cleanup_(freep) char *chunk = malloc(65536);
	ssize_t n = chunk ? 1 : -ENOMEM;

	buf_init(all, MEMORY_MAX);
	while (n > 0 && !all->error) {
		n = reader_read(in, chunk, 65536);
		if (n > 0)
			buf_put(all, chunk, (size_t)n);
	}
	if (all->error == -EFBIG)
		return db_fail(db, -EFBIG,
			       "an SQLite database of more than 2 GiB, packed or in a pipe");
	if (all->error || n < 0)
		return db_fail(db, all->error ? all->error : (int)n,
			       strerror(all->error ? -all->error : (int)-n));
	return 0;
}

/* Give sqlite a copy, which it frees. Should the header say that there is a log of changes beside
 * the file (WAL), it is made to say no: that second file is not here. */
static int open_memory(struct db *db, const struct buf *all)
{
	unsigned char *copy = sqlite3_malloc64(all->len);

	if (!copy ||
	    sqlite3_open_v2(":memory:", &db->sqlite, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
		sqlite3_free(copy);
		return db_fail(db, -ENOMEM, "out of memory");
	}
	memcpy(copy, all->data, all->len);
	if (all->len > 19)
		copy[18] = copy[19] = 1;
	if (sqlite3_deserialize(
		    db->sqlite, "main", copy, (sqlite3_int64)all->len, (sqlite3_int64)all->len,
		    SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
		return fail_sqlite(db);
	return 0;
}

/* The header says how many pages there are. */
static int check_size(struct db *db, const struct reader_input *in)
{
	const unsigned char *h = (const unsigned char *)in->head;
	uint64_t page = (uint64_t)h[16] << 8 | h[17];
	uint64_t pages =
		(uint64_t)h[28] << 24 | (uint64_t)h[29] << 16 | (uint64_t)h[30] << 8 | h[31];

	if (in->head_len < 100 || db->size < 100)
		return format_fail(db->error, -EBADMSG, db->size, "truncated");
	page = page == 1 ? 65536 : page;
	/* It is right only if the last program that wrote to the file knew of it: then the
	 * counter of changes is equal to the one that was noted with the number. */
	if (!memcmp(h + 24, h + 92, 4) && page * pages > db->size)
		return format_fail(db->error, -EBADMSG, db->size, "truncated");
	return 0;
}

static int open_any(struct db *db, struct reader_input *in)
{
	struct buf all = {0};
	int r;

	if (in_place(in, &db->size)) {
		r = check_size(db, in);
		return r < 0 ? r : open_file(db, in->fd);
	}
	r = slurp(db, in, &all);
	db->size = all.len;
	if (r == 0)
		r = check_size(db, in);
	if (r == 0)
		r = open_memory(db, &all);
	buf_done(&all);
	return r;
}

static int add_table(struct db *db, const char *name, bool computes)
{
	char *copy = name ? strdup(name) : NULL;

	if (!copy || ARRAY_ROOM(db->tables, db->cap_tables, db->n_tables + 1) < 0) {
		free(copy);
		return db_fail(db, -ENOMEM, "out of memory");
	}
	db->tables[db->n_tables++] = (struct table){copy, computes};
	return 0;
}

/* "column AS (expression)", in a statement that makes a table. */
static bool computes(const char *sql)
{
	const char *p = sql ? sql : "", *q;

	while ((p = strcasestr(p, "as")) != NULL) {
		q = p + 2 + strspn(p + 2, " \t\r\n");
		if (*q == '(' && p > sql && strchr(" \t\r\n\"'`]", p[-1]))
			return true;
		p += 2;
	}
	return false;
}

static int add_row_of_schema(void *ctx)
{
	struct db *db = ctx;
	const char *type = (const char *)sqlite3_column_text(db->rows, 0);

	/* Real tables only: a view has no root page, nor has a virtual table. */
	if (!type || strcmp(type, "table") != 0 || db_int(db, 2) <= 0)
		return 0;
	return add_table(db, (const char *)sqlite3_column_text(db->rows, 1),
			 computes((const char *)sqlite3_column_text(db->rows, 3)));
}

static int list_tables(struct db *db)
{
	/* Without a "!": sqlite says better than we what is wrong with a schema. */
	static const struct db_table schema = {
		"sqlite_master", {"type", "name", "rootpage", "sql"}, add_row_of_schema};
	int r = add_table(db, schema.name, false);

	return r < 0 ? r : db_read(db, &schema, 1, "", db);
}

int db_open(struct reader_input *in, struct format_error *error, struct db **ret_db)
{
	struct db *db = calloc(1, sizeof(*db));
	int r;

	if (!db)
		return format_fail_code(error, -ENOMEM);
	*error = (struct format_error){0}; /* what is in it from here on is this database's */
	db->error = error;
	r = open_any(db, in);
	if (r == 0)
		r = be_careful(db);
	if (r == 0)
		r = list_tables(db);
	if (r < 0) {
		db_close(db);
		return r;
	}
	*ret_db = db;
	return 0;
}

struct db *db_close(struct db *db)
{
	if (!db)
		return NULL;
	sqlite3_finalize(db->rows);
	sqlite3_close(db->sqlite);
	for (size_t i = 0; i < db->n_tables; i++)
		free(db->tables[i].name);
	free(db->tables);
	free(db);
	return NULL;
}

static const struct table *find_table(const struct db *db, const char *name)
{
	for (size_t i = 0; i < db->n_tables; i++)
		if (!strcmp(db->tables[i].name, name))
			return &db->tables[i];
	return NULL;
}

bool db_has(const struct db *db, const char *table)
{
	return find_table(db, table) != NULL;
}

const char *db_table(const struct db *db, size_t i)
{
	return i < db->n_tables ? db->tables[i].name : NULL;
}

/* ---- reading ---- */

static void put_name(struct buf *sql, const char *name)
{
	buf_putc(sql, '"');
	for (; *name; name++) {
		if (*name == '"')
			buf_putc(sql, '"');
		buf_putc(sql, *name);
	}
	buf_putc(sql, '"');
}

static bool has_column(struct db *db, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(db->sqlite, "main", table, column, NULL, NULL, NULL,
					     NULL, NULL) == SQLITE_OK;
}

static int put_columns(struct db *db, const char *table, const char *const *columns,
		       struct buf *sql)
{
	for (size_t i = 0; columns[i]; i++) {
		bool must = *columns[i] == '!', there = has_column(db, table, columns[i] + must);

		if (must && !there)
			return format_fail(db->error, -EINVAL, FORMAT_NO_OFFSET,
					   "wrong shape: table '%.80s' has no column '%s'", table,
					   columns[i] + 1);
		buf_puts(sql, i ? ", " : "SELECT ");
		if (there)
			put_name(sql, columns[i] + must);
		else
			buf_puts(sql, "NULL");
	}
	buf_puts(sql, " FROM main.");
	put_name(sql, table);
	return sql->error ? db_fail(db, sql->error, "out of memory") : 0;
}

/* Start to read a table. 1: go on with next_row(); 0: there is no such table. */
static int select_rows(struct db *db, const char *table, const char *const *columns)
{
	const struct table *t = find_table(db, table);
	struct buf sql;
	int r;

	sqlite3_finalize(db->rows);
	db->rows = NULL;
	if (!t)
		return 0;
	if (t->computes)
		return db_fail(db, -EINVAL, "wrong shape: a table has columns that are computed");
	buf_init(&sql, 0);
	r = put_columns(db, table, columns, &sql);
	if (r == 0 &&
	    sqlite3_prepare_v2(db->sqlite, buf_str(&sql), -1, &db->rows, NULL) != SQLITE_OK)
		r = fail_sqlite(db);
	buf_done(&sql);
	return r < 0 ? r : 1;
}

static int spend(struct db *db, uint64_t n_bytes)
{
	db->n_bytes += n_bytes;
	if (db->n_bytes > 4 * db->size + 65536)
		return db_fail(db, -EBADMSG, "SQLite: more rows than the file can hold");
	return 0;
}

/* 1: a row; 0: no more. */
static int next_row(struct db *db)
{
	int code = sqlite3_step(db->rows);

	if (code == SQLITE_ROW)
		return spend(db, 1) < 0 ? db->error->code : 1;
	if (code == SQLITE_DONE)
		return 0;
	return fail_sqlite(db);
}

static int read_table(struct db *db, const struct db_table *t, const char *suffix, void *ctx)
{
	char name[256];
	int r;

	snprintf(name, sizeof(name), "%s%s", t->name, suffix);
	r = select_rows(db, name, t->columns);
	while (r > 0 && (r = next_row(db)) > 0)
		if (t->row(ctx) < 0)
			return db_fail(db, -ENOMEM, "out of memory");
	return r;
}

int db_read(struct db *db, const struct db_table *tables, size_t n, const char *suffix, void *ctx)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_table(db, &tables[i], suffix, ctx);
	return r;
}

bool db_null(struct db *db, int column)
{
	return sqlite3_column_type(db->rows, column) == SQLITE_NULL;
}

int64_t db_int(struct db *db, int column)
{
	return sqlite3_column_int64(db->rows, column);
}

int64_t db_time(struct db *db, int column)
{
	return db_null(db, column) ? TRACE_NO_TIME : db_int(db, column);
}

uint32_t db_text(struct db *db, int column, struct strtab *t)
{
	const char *text = (const char *)sqlite3_column_text(db->rows, column);
	int len = sqlite3_column_bytes(db->rows, column);

	if (!text || len <= 0 || spend(db, (uint64_t)len) < 0)
		return 0;
	if ((size_t)len > FORMAT_NAME_MAX) {
		db_fail(db, -EFBIG, FORMAT_NAME_LONG);
		return 0;
	}
	return strtab_add(t, text, (size_t)len);
}
