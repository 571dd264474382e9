/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "format/given.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "format/export.h"

/* ---- keys ---- */

static const char apart[] = "user:";

/* Does it say where a node ran? No metric has such a key, whatever its name. */
static bool is_place(const char *key)
{
	return !strcmp(key, "device_id") || !strcmp(key, "device_type");
}

/* The collector keeps what is called like something measured apart. What says where a node ran stays so. */
static const char *own_begin(const char *name)
{
	size_t n = sizeof(apart) - 1;

	return !strncmp(name, apart, n) && name[n] && strncmp(name + n, "device_", 7) != 0
		       ? name + n
		       : name;
}

/* The length of a name without what the collector puts behind that of a metric beside another. */
static size_t own_len(const char *name)
{
	static const char *const words[] = {" (text)", " (number)", " (float)", " (exc)", " (pty)"};
	size_t len = strlen(name), n;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		n = strlen(words[i]);
		if (len > n && !memcmp(name + len - n, words[i], n))
			return len - n;
	}
	return len;
}

/* Of "tile[2]" the length of "tile", and 2; GIVEN_WHOLE: it is no element. */
static size_t element_of(const char *bare, size_t len, uint32_t *ret)
{
	size_t i = len;
	uint32_t v = 0;

	*ret = GIVEN_WHOLE;
	if (len < 4 || bare[--i] != ']')
		return len;
	while (i && bare[i - 1] >= '0' && bare[i - 1] <= '9')
		i--;
	if (i < 2 || bare[i - 1] != '[' || len - 1 - i < 1 || len - 1 - i > 4 ||
	    (bare[i] == '0' && len - 1 - i > 1))
		return len;
	for (size_t k = i; k < len - 1; k++)
		v = v * 10 + (uint32_t)(bare[k] - '0');
	if (v >= GIVEN_ELEMENTS_MAX)
		return len;
	*ret = v;
	return i - 1;
}

/* As the collector names it; files of others have it without. */
static const char *place_apart(const char *name, char buf[static GIVEN_KEY_MAX])
{
	snprintf(buf, GIVEN_KEY_MAX, "%s%s", apart, name);
	return buf;
}

const char *given_key(const char *whole, char buf[static GIVEN_KEY_MAX], uint32_t *ret_element)
{
	const char *name = own_begin(whole);
	size_t len = own_len(name), bare = MIN(metric_bare_len(name), len),
	       n = element_of(name, bare, ret_element);

	if ((!name[len] && n == bare) || len >= GIVEN_KEY_MAX) {
		*ret_element = GIVEN_WHOLE;
		return is_place(name) ? place_apart(name, buf) : name;
	}
	memcpy(buf, name, n);
	memcpy(buf + n, name + bare, len - bare);
	buf[n + len - bare] = '\0';
	if (!is_place(buf))
		return buf;
	*ret_element = GIVEN_WHOLE;
	return name;
}

void given_element(const char *key, uint32_t element, char buf[static GIVEN_KEY_MAX])
{
	size_t bare = metric_bare_len(key);

	snprintf(buf, GIVEN_KEY_MAX, "%.*s[%u]%s", (int)MIN(bare, (size_t)GIVEN_KEY_MAX / 2), key,
		 element, key + bare);
}

/* ---- all of them ---- */

static int list_metric(struct given_list *l, const char *name, uint32_t metric)
{
	char buf[GIVEN_KEY_MAX];
	struct given *g = &l->given[l->n];

	g->metric = metric;
	g->key = given_key(name, buf, &g->element);
	if (g->key == buf) {
		g->key = l->texts[l->n_texts] = strdup(buf);
		if (!g->key)
			return -ENOMEM;
		l->n_texts++;
	}
	l->n++;
	return 0;
}

void given_list_add(struct given_list *l, const char *key, uint32_t metric)
{
	l->given[l->n++] = (struct given){.key = key, .metric = metric, .element = GIVEN_WHOLE};
}

int given_list_init(struct given_list *l, const struct metric_table *t, bool plain)
{
	uint32_t n = metric_table_count(t);
	int r = 0;

	*l = (struct given_list){.given = calloc((size_t)n + 2, sizeof(*l->given)),
				 .texts = calloc((size_t)n + 1, sizeof(*l->texts))};
	if (!l->given || !l->texts)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		if (!export_is_column(i))
			continue;
		if (i < METRIC_N_BUILTIN || (plain && !is_place(metric_table_get(t, i)->name)))
			given_list_add(l, metric_table_get(t, i)->name, i);
		else
			r = list_metric(l, metric_table_get(t, i)->name, i);
	}
	return r;
}

static int given_compare(const void *a, const void *b)
{
	const struct given *x = a, *y = b;
	uint32_t i = x->element + 1, k = y->element + 1; /* whole ones are 0 */
	int r = strcmp(x->key, y->key);

	if (r)
		return r;
	if (i != k)
		return i < k ? -1 : 1;
	return x->metric < y->metric ? -1 : x->metric > y->metric;
}

void given_list_sort(struct given_list *l)
{
	qsort(l->given, l->n, sizeof(*l->given), given_compare);
}

static int given_compare_first(const void *a, const void *b)
{
	const struct given *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return given_compare(a, b);
}

void given_list_sort_by_metric(struct given_list *l)
{
	uint32_t run, i, k;

	given_list_sort(l);
	for (i = 0; i < l->n; i += run) {
		run = given_run(l, i);
		l->given[i].first = l->given[i].metric;
		for (k = 1; k < run; k++)
			l->given[i].first = MIN(l->given[i].first, l->given[i + k].metric);
		for (k = 1; k < run; k++)
			l->given[i + k].first = l->given[i].first;
	}
	qsort(l->given, l->n, sizeof(*l->given), given_compare_first);
}

void given_list_done(struct given_list *l)
{
	for (uint32_t i = 0; i < l->n_texts; i++)
		free(l->texts[i]);
	free(l->texts);
	free(l->given);
}

uint32_t given_run(const struct given_list *l, uint32_t first)
{
	uint32_t n = 1;

	while (first + n < l->n && !strcmp(l->given[first].key, l->given[first + n].key))
		n++;
	return n;
}
