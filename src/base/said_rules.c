/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "base/said_rules.h"
#include <string.h>
#include <unistd.h>
#include "base/named_file.h"
#include "base/util.h"

enum { SAID_MOST = 1 << 20 };

static bool is_path(const char *said)
{
	size_t len = strlen(said), ending = strlen(".rules");

	return (strchr(said, '/') && !strpbrk(said, " =,")) ||
	       (len > ending && !strcmp(said + len - ending, ".rules"));
}

int said_rules_read(const char *said, struct buf *ret_text, struct buf *ret_why)
{
	_cleanup_(closep) int fd = -1;
	int r;

	if (!is_path(said)) {
		buf_puts(ret_text, said);
		return ret_text->error;
	}
	ret_text->max = SAID_MOST;
	fd = input_open(said, INPUT_WAIT_MS);
	r = fd < 0 ? fd : buf_read(ret_text, fd);
	if (r < 0)
		buf_printf(ret_why, "cannot read rules from '%s': %s", said, open_error(r));
	return r;
}

bool said_rules_hint(const char *said, struct buf *why)
{
	if (is_path(said) || access(said, R_OK) < 0)
		return false;
	buf_printf(why, "; a file of rules is named with a slash: './%s'", said);
	return true;
}
