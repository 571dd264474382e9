/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_JSON_WRITER_H
#define PROTON_FORMAT_JSON_WRITER_H
/* JSON, written as it comes: separators and indentation are kept track of here, nesting is the
 * caller's. The forms of numbers and strings are those of nlohmann::json (what Triton's Proton
 * writes), so that equal content gives equal bytes. Independent of the locale.
 *
 * What steers a terminal or cannot be seen (base/shown.h) is written by its number, as JSON has C0
 * controls anyway: readers get the same text, and JSON is looked at by people, too. nlohmann::json leaves
 * these characters as they are; so does a writer that is `upstream`.
 *
 *   jsonw_object(w); jsonw_key(w, "count"); jsonw_u64(w, 3); jsonw_object_end(w);
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/out.h"

struct json_writer {
	struct out *out;
	uint32_t depth;
	uint32_t flat_depth; /* of the container that is written on one line, 0 = none */
	bool flat;           /* no line breaks */
	bool empty;          /* nothing yet in the innermost container */
	bool keyed;          /* a key was written, its value comes next */
	bool upstream; /* strings have the form of upstream to the byte; set after jsonw_init() */
};

void jsonw_init(struct json_writer *w, struct out *out, bool compact);

void jsonw_object(struct json_writer *w);
void jsonw_object_flat(struct json_writer *w); /* all that is in it on one line */
void jsonw_object_end(struct json_writer *w);
void jsonw_array(struct json_writer *w);
void jsonw_array_flat(struct json_writer *w);
void jsonw_array_end(struct json_writer *w);
void jsonw_key(struct json_writer *w, const char *key);

void jsonw_u64(struct json_writer *w, uint64_t v);
void jsonw_i64(struct json_writer *w, int64_t v);
void jsonw_f64(struct json_writer *w, double v); /* shortest that reads back equal; NaN: null */
void jsonw_bool(struct json_writer *w, bool v);
void jsonw_null(struct json_writer *w);
void jsonw_string(struct json_writer *w, const char *s, size_t len); /* bad UTF-8: U+FFFD */
void jsonw_strings(struct json_writer *w, const char *s);
void jsonw_hex(struct json_writer *w, const char *s, size_t len); /* bytes as a hex string */

/* A key with its value, or with what begins one. */
void jsonw_key_u64(struct json_writer *w, const char *key, uint64_t v);
void jsonw_key_text(struct json_writer *w, const char *key, const char *s);
void jsonw_key_object(struct json_writer *w, const char *key);
void jsonw_key_array(struct json_writer *w, const char *key);

#define JSON_NUMBER_MAX 32
size_t json_format_f64(char out[JSON_NUMBER_MAX], double v);
bool utf8_valid(const char *s, size_t len);

#endif
