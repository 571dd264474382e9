/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "override/limits.h"
#include <ctype.h>
#include <string.h>
#include "base/util.h"

enum {
	REGISTERS = 65536, /* of a multiprocessor, and of a block */
	THREADS_MOST = 1024,
	WARP = 32,
	UNIT = 8, /* in which a thread's are given */
	REGISTERS_MOST = 255,
};

uint32_t registers_allowed(uint32_t before)
{
	uint32_t unit = (MAX(before, 1u) + UNIT - 1) / UNIT * UNIT;
	uint32_t threads = MIN(REGISTERS / unit / WARP * WARP, (uint32_t)THREADS_MOST);

	return MIN(REGISTERS / threads / UNIT * UNIT, (uint32_t)REGISTERS_MOST);
}

static bool is_word(const char *text, const char *at, size_t len)
{
	return (at == text || !(isalnum((unsigned char)at[-1]) || strchr("_$%.", at[-1]))) &&
	       !(isalnum((unsigned char)at[len]) || strchr("_$", at[len]));
}

/* Behind ".entry NAME"; NULL: it is not there. */
static const char *find_entry(const char *text, const char *kernel, size_t len)
{
	for (const char *at = text; (at = strstr(at, ".entry")); at++) {
		const char *name = at + strlen(".entry");

		name += strspn(name, " \t\r\n");
		if (!strncmp(name, kernel, len) && is_word(text, name, len))
			return name + len;
	}
	return NULL;
}

static bool says_block(const char *at, const char *end)
{
	static const char *const words[] = {".maxntid", ".reqntid", ".maxnreg"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (memmem(at, (size_t)(end - at), words[i], strlen(words[i])))
			return true;
	return false;
}

bool limit_registers(struct buf *ptx, const char *kernel, size_t len, uint32_t registers)
{
	const char *text = buf_str(ptx), *at = find_entry(text, kernel, len);
	const char *body = at ? strchr(at, '{') : NULL;
	_cleanup_(buf_done) struct buf changed = {0};
	struct buf was = *ptx;

	if (!body || says_block(at, body))
		return false;
	buf_put(&changed, text, (size_t)(body - text));
	buf_printf(&changed, ".maxnreg %u\n", registers);
	buf_put(&changed, body, ptx->len - (size_t)(body - text));
	if (changed.error)
		return false;
	*ptx = changed;
	changed = was;
	return true;
}
