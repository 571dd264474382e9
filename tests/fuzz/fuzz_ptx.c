/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as rules, up to a line "---", and as PTX behind it. What is made of it records already, and has all that
 * was there. The corpus is tests/fuzz/corpus_ptx. */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/util.h"
#include "ptx/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Kernels and places fit one another. */
static void look_at(const struct ptx_probed *p)
{
	uint32_t n = 0;
	size_t n_probed = 0;

	for (size_t i = 0; i < p->n_kernels; i++) {
		must(p->kernel[i].name && (!p->kernel[i].why || !p->kernel[i].n_places));
		n += p->kernel[i].n_places;
		n_probed += !p->kernel[i].why;
	}
	must(n == p->n_places && n_probed == p->n_probed);
	for (size_t i = 0; i < p->n_places; i++)
		must(p->place[i].kernel < p->n_kernels && *p->place[i].scope &&
		     !p->place[i].file == !p->place[i].line);
}

static void probe(const char *text, size_t n, const struct ptx_rules *rules, enum ptx_buffer buffer)
{
	const struct ptx_options options = {
		.buffer = buffer, .warps = 5, .ctas = 3, .is_for_run = n & 1};
	struct ptx_probed probed, again;
	int r = ptx_probe(text, n, rules, &options, &probed);

	must(r == 0 || r == -EBADMSG || r == -EALREADY);
	if (r == 0) {
		look_at(&probed);
		must(probed.n_probed
			     ? probed.text.len > strnlen(text, n)
			     : probed.text.len == strnlen(text, n) &&
				       !memcmp(text, probed.text.len ? probed.text.data : "",
					       probed.text.len));
	}
	if (r == 0 && probed.n_probed) {
		must(ptx_probe(probed.text.data, probed.text.len, rules, &options, &again) ==
		     -EALREADY);
		ptx_probed_done(&again);
	}
	ptx_probed_done(&probed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char line[] = "---\n";
	const char *text = (const char *)data,
		   *end = len ? memmem(text, len, line, strlen(line)) : NULL;
	struct ptx_rules *rules = NULL;
	struct buf why = {0};
	size_t n = end ? (size_t)(end - text) : 0;
	int r = ptx_rules_parse(text, n, &rules, &why);

	must((r < 0) == !rules && (r != -EINVAL || why.len));
	if (r < 0)
		must(ptx_rules_parse("", 0, &rules, &why) == 0);
	n += end ? strlen(line) : 0;
	probe(len ? text + n : "", len - n, rules, PTX_BUFFER_AUTO);
	probe(len ? text + n : "", len - n, rules, PTX_BUFFER_GLOBAL);
	ptx_rules_free(rules);
	buf_done(&why);
	return 0;
}
