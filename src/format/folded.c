/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_name(struct buf *text, const char *name)
{
	const char *end = name + strlen(name), *at = name, *c;
	size_t n;

	for (; (n = export_text_next(&name, end, &c)) > 0; at = name) {
		const char *which = strchr(folded_special, *c);

		if (which && (*c != '%' || folded_escape_at(at, end) >= 0))
			buf_puts(text, folded_escapes[which - folded_special]);
		else
			buf_put(text, c, n);
	}
}

int folded_path(struct export_names *names, uint32_t node, uint32_t most, struct export_path *path,
		struct buf *text)
{
	int r = export_path(names->s, node, path);
	size_t first = path->n > most ? path->n - most : 0;

	if (first)
		buf_puts(text, "\xe2\x80\xa6"); /* … */
	for (size_t i = first; r == 0 && i < path->n; i++) {
		if (i)
			buf_putc(text, ';');
		put_name(text, export_name(names, path->nodes[i]));
	}
	return r < 0 ? r : text->error;
}

static int folded_write(const struct session *s, const struct write_options *options,
			struct out *out)
{
	struct export_stacks x;
	struct buf text;
	int r = export_stacks_init(&x, s, options);

	buf_init(&text, 0);
	if (r == 0)
		r = export_stacks_limit(&x, 1);
	if (r == 0)
		r = export_stacks_round(&x, UINT64_MAX); /* which is all that most tools take */
	if (r == 0 && options && options->notes)
		options->notes->decimals = x.decimals;
	for (uint32_t i = 0; r == 0 && i < s->n_nodes; i++) {
		if (!x.whole[i])
			continue;
		buf_clear(&text);
		r = folded_path(&x.names, i, UINT32_MAX, &x.path, &text);
		buf_printf(&text, " %" PRIu64 "\n", x.whole[i]);
		r = r == 0 ? text.error : r;
		if (r == 0)
			out_put(out, text.data, text.len);
	}
	buf_done(&text);
	export_stacks_done(&x);
	return r < 0 ? r : out->error;
}

const struct format format_folded = {
	.name = "folded",
	.suffix = ".folded",
	.names = NAME_DEMANGLED,
	.help = "one line a stack with its value, for flame graph tools",
	.detect = folded_detect,
	.read = folded_read,
	.write = folded_write,
};
