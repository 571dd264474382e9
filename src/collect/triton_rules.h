/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_TRITON_RULES_H
#define PROTON_COLLECT_TRITON_RULES_H
/* Records for kernels of Triton on their way through its compiler (ttgir/insert.h); triton_rules.py calls these. */
#include <stddef.h>

#include "backends/backend.h"

/* How many scopes a text gets by rules. Above 0: *ret_text is the text with them, freed by proton_ttgir_free().
 *   errors  -EINVAL and what it returns beside that, with a sentence in ret_why (size bytes) or ""
 *   thread  any */
EXPORT int proton_ttgir_insert(const char *text, size_t len, const char *rules, char **ret_text,
			       char *ret_why, size_t size);
EXPORT void proton_ttgir_free(char *text);

#endif
