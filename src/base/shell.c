/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "base/shell.h"

void shell_put_quoted(struct buf *out, const char *word)
{
	buf_putc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *word);
	buf_putc(out, '\'');
}
