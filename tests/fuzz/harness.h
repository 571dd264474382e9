/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TESTS_FUZZ_HARNESS_H
#define PROTON_TESTS_FUZZ_HARNESS_H
/* What the targets that read profiles have in common. What must not happen, whatever the input,
 * aborts: it is what the fuzzer looks for. */
#include <stddef.h>
#include <stdint.h>

#include "format/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

typedef int (*read_function)(struct reader_input *in, struct session *s,
			     struct format_error *error);

/* A pointer that is not NULL. */
void *must(void *p);
/* The profile in some bytes; NULL: it was refused, with a code and a reason in *ret_error, which
 * may be NULL. */
struct session *read_bytes(read_function read, const char *data, size_t len,
			   struct format_error *ret_error);
/* Written, and read again by the same format's reader: as many nodes. */
void write_and_read(const struct format *format, const struct session *s);
/* A snapshot can be made. */
void look_at(const struct session *s);

#endif
