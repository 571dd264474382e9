/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_JSON_TREE_H
#define PROTON_TESTS_JSON_TREE_H
/* A JSON document as a tree, for tests that look at what was written. What is not there is NULL, and
 * of NULL there is no member, no element and no text; its number is NaN. */
#include <check.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <yajl/yajl_tree.h>

/* yajl_tree_free() frees it. */
static inline yajl_val json_parse(const char *text)
{
	char why[1024];
	yajl_val root = yajl_tree_parse(text, why, sizeof(why));

	ck_assert_msg(root != NULL, "%s", why);
	return root;
}

static inline yajl_val json_member(yajl_val v, const char *key)
{
	for (size_t i = 0; YAJL_IS_OBJECT(v) && i < v->u.object.len; i++)
		if (!strcmp(v->u.object.keys[i], key))
			return v->u.object.values[i];
	return NULL;
}

static inline yajl_val json_element(yajl_val v, size_t i)
{
	return YAJL_IS_ARRAY(v) && i < v->u.array.len ? v->u.array.values[i] : NULL;
}

/* How many elements or members. */
static inline size_t json_size(yajl_val v)
{
	return YAJL_IS_ARRAY(v) ? v->u.array.len : YAJL_IS_OBJECT(v) ? v->u.object.len : 0;
}

static inline double json_number(yajl_val v)
{
	return YAJL_IS_NUMBER(v) ? v->u.number.d : NAN;
}

static inline const char *json_text(yajl_val v)
{
	return YAJL_GET_STRING(v);
}

#endif
