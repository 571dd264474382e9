/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_JSON_INPUT_H
#define PROTON_FORMAT_JSON_INPUT_H
/* One JSON document, pushed through yajl: what the readers of JSON share.
 *
 *   reader_input ── chunks ──> yajl ──> the reader's callbacks
 *
 * Not recursive: nesting costs memory, no stack. Reading fails with -EFBIG beyond JSON_DEPTH_MAX
 * levels, and at a token of more than FORMAT_NAME_MAX bytes. Strings need not be UTF-8.
 * A byte order mark is skipped. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_parse.h>
#include "format/reader.h"

#define JSON_DEPTH_MAX ((size_t)16 << 20) /* open brackets; each calling context takes two */

struct json_input {
	struct format_error *error;
	bool complete; /* set by a callback: the last bracket of the document was met */
	bool may_stop; /* kept by the callbacks: the file may end here though it is not complete */
	int failed; /* negative errno, set by a callback that returns 0; *error lacks the offset */
	uint64_t garbage_at; /* result: where something follows the document; 0 = nothing does */
	bool too_long;       /* a token of more than FORMAT_NAME_MAX */
	bool too_deep;       /* more than JSON_DEPTH_MAX */
};

/* Read to the end of the document. 0, or a negative errno with *error set. */
int json_input_read(struct json_input *j, struct reader_input *in, const yajl_callbacks *callbacks,
		    void *ctx);

enum json_kind { JSON_NULL, JSON_BOOLEAN, JSON_NUMBER, JSON_STRING, JSON_OBJECT, JSON_LIST };
/* For callbacks to return: "wrong shape: `what` is a number". */
int json_wrong_shape(struct json_input *j, const char *what, enum json_kind kind);
int json_no_memory(struct json_input *j);

#endif
