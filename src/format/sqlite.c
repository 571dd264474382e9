/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* SQLite databases of nsys, rocprofiler-sdk and RocmProfileData. The tables tell which of them wrote
 * one. */
#include <errno.h>
#include <string.h>

#include "format/db.h"

#define MAGIC "SQLite format 3" /* with its NUL */

static bool sqlite_detect(const char *head, size_t n)
{
	return n >= sizeof(MAGIC) && !memcmp(head, MAGIC, sizeof(MAGIC));
}

#ifdef HAVE_SQLITE
static int sqlite_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	_cleanup_(db_closep) struct db *db = NULL;
	int r = db_open(in, error, &db);

	if (r == 0)
		r = nsys_read(db, s);
	if (r == 0)
		r = rpd_read(db, s);
	if (r == 0)
		r = rocpd_read(db, s);
	if (r == 0)
		r = format_fail(
			error, -EINVAL, FORMAT_NO_OFFSET,
			"an SQLite database, but neither nsys nor rocprofiler-sdk wrote it");
	return r < 0 ? r : error->code;
}
#else
static int sqlite_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	(void)in;
	(void)s;
	return format_fail(error, -ENOTSUP, 0, "an SQLite database, and built without sqlite3");
}
#endif

const struct format format_sqlite = {
	.name = "sqlite",
	.suffix = ".sqlite",
	.help = "databases of nsys (export --type sqlite), rocprofiler-sdk (rocpd) and rpd",
	.detect = sqlite_detect,
	.read = sqlite_read,
};
