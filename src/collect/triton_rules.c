/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "collect/triton_rules.h"

#include <stdlib.h>

#include "base/buf.h"
#include "ttgir/insert.h"

/* Steals what is in out. */
static int answer(struct buf *out, const struct ttgir_places *places, char **ret_text)
{
	buf_putc(out, '\0');
	if (out->error)
		return out->error;
	if (!places->n_scopes)
		return 0;
	*ret_text = out->data;
	*out = (struct buf){0};
	return (int)places->n_scopes;
}

static int put(const char *text, size_t len, const struct ttgir_rules *rules, char **ret_text,
	       char *ret_why, size_t size)
{
	_cleanup_(buf_done) struct buf out = {0};
	struct ttgir_places places;
	struct ttgir m;
	int r = ttgir_insert(&m, text, len, rules, &out, &places, ret_why, size);

	if (r < 0)
		return r;
	r = answer(&out, &places, ret_text);
	ttgir_places_done(&places);
	ttgir_done(&m);
	return r;
}

int proton_ttgir_insert(const char *text, size_t len, const char *rules, char **ret_text,
			char *ret_why, size_t size)
{
	struct ttgir_rules read;
	int r;

	*ret_why = '\0';
	r = ttgir_rules_parse(&read, rules, ret_why, size);
	if (r < 0)
		return r;
	r = put(text, len, &read, ret_text, ret_why, size);
	ttgir_rules_done(&read);
	return r;
}

void proton_ttgir_free(char *text)
{
	free(text);
}
