/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TTGIR_RULES_H
#define PROTON_TTGIR_RULES_H
/* Where somebody wants records in kernels of Triton, as it is said: an option, or a file with a rule a line. The words are those
 * for PTX, as far as they mean something here.
 *
 *     func,loop                     the usual ones
 *     loop:iter                     each turn of each loop
 *     loc matmul.py:40-52           what became of these lines
 *     ld,st,mma,wait                operations of a sort: ttgir_rule_word()
 *     tt.load                       operations of that name: a whole one, as a regular expression (POSIX, extended)
 *     op .*dot.*                    the same, where it has no dot
 *     match num_stages              operations in whose text a regular expression finds something
 *     kernel matmul*                only kernels of such names (as a shell's patterns)
 *     skip *_init                   … but for these
 *
 * " as NAME" behind a rule names its scopes. A comma or a line's end ends a rule, but for commas in brackets; "=" is as good as
 * a blank behind its word; "#" begins a remark.
 *   thread  one */
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ttgir_rule_kind {
	TTGIR_RULE_FUNCTION,
	TTGIR_RULE_LOOP,
	TTGIR_RULE_ITERATION,
	TTGIR_RULE_LINES,
	TTGIR_RULE_OPERATION,
	TTGIR_RULE_MATCH,
	TTGIR_RULE_KERNEL,
	TTGIR_RULE_SKIP,
};

struct ttgir_rule {
	enum ttgir_rule_kind kind;
	regex_t regex; /* of operations, and of what matches */
	char *text;    /* the file: a path, or its last parts; the pattern */
	uint32_t first, last;
	char *name; /* NULL: each scope is named by what it is and where */
};

struct ttgir_rules {
	struct ttgir_rule *v;
	size_t n, cap;
};

#define TTGIR_USUAL_RULES "func,loop"

/* 0; -ENOMEM; -EINVAL with a sentence in ret_why (size bytes): there are none then. */
int ttgir_rules_parse(struct ttgir_rules *rules, const char *text, char *ret_why, size_t size);
void ttgir_rules_done(struct ttgir_rules *rules);
/* Are records wanted in a kernel of this name? */
bool ttgir_rules_want(const struct ttgir_rules *rules, const char *kernel);

/* The words for sorts of operations, and what they are in full; NULL after the last. */
const char *ttgir_rule_word(unsigned i, const char **ret_expression);

#endif
