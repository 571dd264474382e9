/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_JSON_TOKENS_H
#define PROTON_FORMAT_JSON_TOKENS_H
/* A JSON document as it came, kept to be walked: for readers that need what stands at the end of a file
 * to understand its beginning.
 *
 *   bytes ── json_input.h ──> tokens.h, keys and strings interned
 *
 * Memory: a word of 8 bytes for each value, key and bracket, some two to four times the file.
 *   thread  one */
#include "base/strtab.h"
#include "format/reader.h"
#include "format/tokens.h"

#define JSON_TOKENS_ROOT 1 /* where the document begins */

/* Strings of values go to `strings`, keys to `keys`; *tokens is initialised and empty. The document must
 * be an object. *ret_garbage_at: where something follows it; 0 = nothing does. 0, or a negative errno
 * with *error set. */
int json_tokens_read(struct reader_input *in, struct strtab *strings, struct strtab *keys,
		     struct tokens *tokens, uint64_t *ret_garbage_at, struct format_error *error);

#endif
