/* SPDX-License-Identifier: MIT */
/* Fuzz target: the input is a listing of tables, which become an SQLite database that is sound in
 * itself, and that is read. Databases whose bytes are broken are the business of fuzz_import; here
 * names, types, values and references are. The corpus is tests/fuzz/corpus_db.
 *
 *   @StringIds|id|value          a table and its columns
 *   1|cudaLaunchKernel           a row of it: a whole number, a text, …
 *   |-1.5|x'00ff                 … nothing, a number, bytes
 *
 *   make fuzz-db      clang, until it is stopped */
#include "config.h" // IWYU pragma: keep

#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define COLUMNS_MAX 32

struct cell {
	const char *text;
	int len;
};

struct row {
	struct cell cells[COLUMNS_MAX];
	unsigned n;
};

static void split(const char *line, size_t len, struct row *ret_row)
{
	const char *end = line + len, *bar;

	for (ret_row->n = 0; ret_row->n < COLUMNS_MAX; line = bar + 1) {
		bar = memchr(line, '|', (size_t)(end - line));
		ret_row->cells[ret_row->n++] = (struct cell){line, (int)((bar ? bar : end) - line)};
		if (!bar)
			break;
	}
}

/* Names end at a NUL, which sqlite's own statements cannot hold. */
static void put_name(sqlite3_str *sql, const char *before, struct cell name)
{
	sqlite3_str_appendf(sql, "%s\"%.*w\"", before, name.len, name.text);
}

static sqlite3_stmt *prepare(sqlite3 *db, sqlite3_str *sql)
{
	char *text = sqlite3_str_finish(sql);
	sqlite3_stmt *statement = NULL;

	if (text)
		sqlite3_prepare_v2(db, text, -1, &statement, NULL);
	sqlite3_free(text);
	return statement;
}

/* Make the table; the statement that adds a row, or NULL where sqlite will not have such a table.
 */
static sqlite3_stmt *make_table(sqlite3 *db, const struct row *head)
{
	sqlite3_str *make = sqlite3_str_new(db), *add = sqlite3_str_new(db);
	sqlite3_stmt *statement;

	put_name(make, "CREATE TABLE ", head->cells[0]);
	put_name(add, "INSERT INTO ", head->cells[0]);
	for (unsigned i = 1; i < head->n; i++) {
		put_name(make, i == 1 ? "(" : ",", head->cells[i]);
		sqlite3_str_appendf(add, "%s?", i == 1 ? " VALUES (" : ",");
	}
	sqlite3_str_appendchar(make, 1, ')');
	sqlite3_str_appendchar(add, 1, ')');
	statement = prepare(db, make);
	if (statement)
		sqlite3_step(statement);
	sqlite3_finalize(statement);
	return prepare(db, add);
}

static unsigned hex(char c)
{
	return (unsigned)(c >= 'a' ? c - 'a' + 10 : c - '0') & 15;
}

static void bind_bytes(sqlite3_stmt *add, int i, struct cell c)
{
	char *bytes = must(malloc((size_t)c.len));
	int n = 0;

	for (int at = 2; at + 1 < c.len; at += 2)
		bytes[n++] = (char)(hex(c.text[at]) << 4 | hex(c.text[at + 1]));
	sqlite3_bind_blob(add, i, bytes, n, free);
}

/* What a cell looks like is what it is. */
static void bind(sqlite3_stmt *add, int i, struct cell c)
{
	char number[40], *end_int, *end_real;
	long long whole;
	double real;

	if (c.len == 0)
		return;
	if (c.len >= 2 && !memcmp(c.text, "x'", 2)) {
		bind_bytes(add, i, c);
		return;
	}
	sqlite3_snprintf(sizeof(number), number, "%.*s", c.len, c.text);
	whole = strtoll(number, &end_int, 10);
	real = strtod(number, &end_real);
	if (c.len < (int)sizeof(number) && !*end_int)
		sqlite3_bind_int64(add, i, whole);
	else if (c.len < (int)sizeof(number) && !*end_real)
		sqlite3_bind_double(add, i, real);
	else
		sqlite3_bind_text(add, i, c.text, c.len, SQLITE_STATIC);
}

static void add_row(sqlite3_stmt *add, const struct row *row)
{
	sqlite3_reset(add);
	sqlite3_clear_bindings(add);
	for (unsigned i = 0; i < row->n; i++)
		bind(add, (int)i + 1, row->cells[i]);
	sqlite3_step(add);
}

static void fill(sqlite3 *db, const char *text, size_t len)
{
	const char *end = text + len, *next;
	sqlite3_stmt *add = NULL;
	struct row row;

	for (; text < end; text = next + 1) {
		next = memchr(text, '\n', (size_t)(end - text));
		next = next ? next : end;
		if (*text == '@') {
			split(text + 1, (size_t)(next - text - 1), &row);
			sqlite3_finalize(add);
			add = make_table(db, &row);
		} else if (add) {
			split(text, (size_t)(next - text), &row);
			add_row(add, &row);
		}
	}
	sqlite3_finalize(add);
}

static unsigned char *make_database(const char *text, size_t len, sqlite3_int64 *ret_len)
{
	unsigned char *bytes;
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		abort();
	sqlite3_exec(db, "PRAGMA page_size = 512; BEGIN", NULL, NULL, NULL);
	fill(db, text, len);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	bytes = sqlite3_serialize(db, "main", ret_len, 0);
	sqlite3_close(db);
	return bytes;
}

static char file_path[] = "/tmp/fuzz_db.XXXXXX";

static void remove_file(void)
{
	unlink(file_path);
}

/* One file, with a name, for all inputs of this process. */
static int open_file(void)
{
	static int fd = -1;

	if (fd < 0) {
		fd = mkostemp(file_path, O_CLOEXEC);
		atexit(remove_file);
	}
	return fd;
}

/* A file is opened where it lies, and holds what the same bytes from a pipe do. */
static void read_in_place(const unsigned char *database, size_t len,
			  const struct session *from_pipe)
{
	struct session *s = must(session_new());
	struct format_error error = {0};
	struct reader_input in;
	int fd = open_file();

	if (ftruncate(fd, 0) < 0 || pwrite(fd, database, len, 0) != (ssize_t)len ||
	    lseek(fd, 0, SEEK_SET) != 0)
		abort();
	reader_init_fd(&in, fd);
	if ((format_read(&in, s, &error) == 0) != !!from_pipe ||
	    (from_pipe && s->n_nodes != from_pipe->n_nodes))
		abort();
	session_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	sqlite3_int64 n = 0;
	unsigned char *database = make_database((const char *)data, len, &n);
	struct session *s = NULL;

	if (database) {
		s = read_bytes(format_read, (const char *)database, (size_t)n, NULL);
		read_in_place(database, (size_t)n, s);
	}
	sqlite3_free(database);
	if (s) {
		look_at(s);
		write_and_read(&format_hatchet, s);
	}
	session_free(s);
	return 0;
}
