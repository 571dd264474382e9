/* SPDX-License-Identifier: MIT */
/* Fuzz target: any bytes as a kernel in Triton's GPU dialect, into which records are put, and as rules for that. The corpus is
 * tests/fuzz/corpus_ttgir. */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ttgir/insert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* What was put in is whole lines, each between two that were there: without them the text is the same. */
static void must_hold(const char *text, size_t len, const struct buf *out,
		      const struct ttgir_places *places)
{
	size_t n = 0, at = 0;

	for (const char *p = out->data, *end = p + out->len, *next; p < end; p = next) {
		const char *newline = memchr(p, '\n', (size_t)(end - p)), *word = p;

		next = newline ? newline + 1 : end;
		while (word < next && *word == ' ')
			word++;
		if (n < places->n_records && places->records[n].at == at) {
			must((size_t)(next - word) > 13 && !memcmp(word, "proton.record", 13));
			n++;
			continue;
		}
		must(at + (size_t)(next - p) <= len && !memcmp(text + at, p, (size_t)(next - p)));
		at += (size_t)(next - p);
	}
	must(at == len && n == places->n_records);
}

static void as_module(const char *text, size_t len)
{
	static const char words[] = "func,loop,loop:iter,loc k.py:10-40,ld,match .,op .*";
	struct ttgir_rules rules;
	struct ttgir_places places;
	struct buf out = {0};
	struct ttgir m;
	char why[160] = "";
	int r;

	must(ttgir_rules_parse(&rules, words, why, sizeof(why)) == 0);
	r = ttgir_insert(&m, text, len, &rules, &out, &places, why, sizeof(why));
	must(r == 0 || (r == -EINVAL && *why));
	if (r == 0) {
		must_hold(text, len, &out, &places);
		ttgir_places_done(&places);
		ttgir_done(&m);
	}
	buf_done(&out);
	ttgir_rules_done(&rules);
}

static void as_rules(const char *data, size_t len)
{
	char *text = strndup(data, len), why[160] = "";
	struct ttgir_rules rules;
	int r;

	must(text);
	r = ttgir_rules_parse(&rules, text, why, sizeof(why));
	must(r == 0 || (r == -EINVAL && *why));
	if (r == 0) {
		must(rules.n > 0);
		ttgir_rules_want(&rules, "kernel");
		ttgir_rules_done(&rules);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	as_module((const char *)data, len);
	as_rules((const char *)data, len);
	return 0;
}
