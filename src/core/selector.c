/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/selector.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/selector_impl.h"

#define TEXT_SHOWN 400u /* bytes of a text, in a message */

static int make(const char *text, enum selector_form form, struct selector **ret,
		struct selector_error *error)
{
	struct selector *x = calloc(1, sizeof(*x));
	int r;

	if (!x)
		return -ENOMEM;
	x->form = form;
	x->text = strdup(text);
	r = x->text ? selector_parse(x, error) : -ENOMEM;
	if (r < 0)
		selector_free(x);
	else
		*ret = x;
	return r;
}

int selector_new(const char *text, struct selector **ret, struct selector_error *error)
{
	return make(text, selector_form_of(text), ret, error);
}

int selector_new_names(const char *text, struct selector **ret, struct selector_error *error)
{
	return make(text, SELECTOR_NAMES, ret, error);
}

struct selector *selector_free(struct selector *x)
{
	if (!x)
		return NULL;
	for (size_t i = 0; i < x->n; i++) {
		if (x->steps[i].kind == STEP_NAME)
			name_pattern_done(&x->steps[i].name);
		if (x->steps[i].kind == STEP_PATH)
			path_glob_done(&x->steps[i].path);
	}
	free(x->steps);
	free(x->text);
	free(x);
	return NULL;
}

const char *selector_text(const struct selector *x)
{
	return x->text;
}

bool selector_is_condition(const struct selector *x)
{
	return x->form == SELECTOR_CONDITION;
}

const struct name_pattern *selector_names(const struct selector *x)
{
	return x->form == SELECTOR_NAMES ? &x->steps[0].name : NULL;
}

bool selector_lacks_blanks(const struct selector *x)
{
	size_t word = strcspn(x->text, "<>="), op = strspn(x->text + word, "<>=");
	const char *number = x->text + word + op;
	struct amount amount;

	return x->form == SELECTOR_NAMES && word && op &&
	       amount_parse(number, strlen(number), &amount) == 0;
}

bool selector_lacks_stars(const struct selector *x)
{
	return x->form == SELECTOR_NAMES && strchr(x->text, '/') && !strchr(x->text, '*');
}

const char *selector_stars(const char *text)
{
	size_t len = strlen(text);

	return len && text[len - 1] == '/' ? "**" : "/**";
}

/* ---- texts ---- */

size_t selector_character(const char *text, size_t at)
{
	size_t count = 1;

	for (size_t i = 0; i < at && text[i]; i++)
		count += (text[i] & 0xc0) != 0x80;
	return count;
}

/* What is longer than a message should be ends in "…". */
static void put_text(const char *text, struct buf *out)
{
	size_t len = strlen(text), n = MIN(len, TEXT_SHOWN);

	while (n < len && n && (text[n] & 0xc0) == 0x80)
		n--;
	buf_putc(out, '\'');
	buf_put(out, text, n);
	buf_puts(out, n < len ? "…'" : "'");
}

void selector_explain(const char *text, const struct selector_error *error, struct buf *out)
{
	put_text(text, out);
	if (error->at == SELECTOR_NOWHERE)
		buf_printf(out, " is no regular expression: %s", error->why);
	else
		buf_printf(out, ": at character %zu: %s", selector_character(text, error->at),
			   error->why);
}

/* What would make a condition or a path of it is put in brackets. */
void selector_put_name(const char *name, struct buf *out)
{
	bool is_path = !strncmp(name, "ROOT/", 5), is_behind_blank = false;

	for (; *name; name++) {
		bool bracket = is_path || (is_behind_blank && strchr("<>=!~", *name));

		if (strchr("\\^$.[]|()?*+{}", *name))
			buf_putc(out, '\\');
		buf_printf(out, bracket ? "[%c]" : "%c", *name);
		is_behind_blank = *name == ' ' || *name == '\t';
		is_path = false;
	}
	buf_putc(out, '$');
}
