/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a file of settings; then a screen that has them is saved over the same
 * bytes, which must read as that screen is. The corpus is tests/fuzz/corpus_settings. */
#include "config.h" // IWYU pragma: keep

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/session.h"
#include "core/snapshot.h"
#include "tui/settings.h"
#include "tui/tui_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What is said of a line can be printed anywhere, and names a line that there is. */
static void on_skipped(void *data, unsigned line, const char *why)
{
	if (line == 0 || line > *(size_t *)data + 1 || !*why)
		abort();
	for (; *why; why++)
		if (*why < ' ' || *why > '~')
			abort();
}

static void parse(struct settings *s, const char *text, size_t len)
{
	settings_init(s);
	settings_parse(s, text, len, on_skipped, &len);
	if (keymap_find(&s->keys, KEY_CTRL('c')) != REQ_INTERRUPT)
		abort();
}

static void save_over(const struct settings *s, const char *text, size_t len)
{
	static const struct snapshot_spec spec;
	struct tui_options options = {.settings = s, .ascii = true};
	struct session *session = session_new();
	struct snapshot *snap = session ? snapshot_new(session, &spec) : NULL;
	struct tui *t = snap ? tui_new(&options, snap, NULL) : NULL;
	struct settings again;
	struct buf out;

	if (!t)
		abort();
	buf_init(&out, 0);
	settings_write_layout(t, text, len, &out);
	parse(&again, buf_str(&out), out.len);
	if (out.error || again.panel != (int)t->current || again.names != (int)t->names ||
	    memcmp(again.columns, s->columns, sizeof(again.columns)) != 0)
		abort();
	buf_done(&out);
	tui_free(t);
	snapshot_free(snap);
	session_free(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct settings s;

	parse(&s, (const char *)data, len);
	save_over(&s, (const char *)data, len);
	return 0;
}
