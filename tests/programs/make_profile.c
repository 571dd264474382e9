/* SPDX-License-Identifier: MIT */
/* make_profile FORMAT FILE [INPUT]: write the sample session, or a file that was read, for tests
 * that look at our files with other programs. */
#include "config.h" // IWYU pragma: keep

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "unit/format_sample.h"

static struct session *load(const char *path)
{
	struct format_error error = {0};
	struct session *s = NULL;

	if (format_load(path, &s, &error) < 0) {
		fprintf(stderr, "%s: %s\n", path, error.reason);
		exit(1);
	}
	return s;
}

int main(int argc, char **argv)
{
	const struct format *format = argc > 2 ? format_by_name(argv[1]) : NULL;
	struct session *s;
	int r;

	if (!format) {
		fprintf(stderr, "usage: make_profile FORMAT FILE [INPUT]\n");
		return 2;
	}
	s = argc > 3 ? load(argv[3]) : sample_session();
	r = format_save(argv[2], format, s, NULL);
	if (r < 0)
		fprintf(stderr, "%s: %s\n", argv[2], strerror(-r));
	session_free(s);
	return r < 0;
}
