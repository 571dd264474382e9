/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TTGIR_PLACES_H
#define PROTON_TTGIR_PLACES_H
/* Where rules put scopes into kernels. Functions that kernels call are left alone, and so is what combines two values into one,
 * in a reduction: the compiler takes no records there. What ends a block is in no scope of its own.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ttgir/module.h"
#include "ttgir/rules.h"

#define TTGIR_SCOPES 256u /* that records have numbers for */

/* The first one in the list is around those that follow, where they are in each other. */
struct ttgir_scope {
	char *name;
	const struct ttgir_op
		*op;     /* the first one that it is around; its records are on this one's line */
	size_t from, to; /* in the text */
	uint32_t indent;
	uint32_t kernel; /* the operation */
	uint32_t rule;
};

struct ttgir_record {
	size_t at; /* where in the text its line goes */
	uint32_t scope;
	bool is_start;
};

struct ttgir_places {
	struct ttgir_scope *scopes;
	size_t n_scopes, cap_scopes;
	struct ttgir_record *records; /* in the order of the text */
	size_t n_records, cap_records;
	uint32_t n_kernels; /* that rules were asked of */
	const struct ttgir_op *
		branching; /* one that is no scope as a whole, for it returns at several places; or NULL */
};

/* 0; -ENOMEM; -EINVAL with a sentence in ret_why (size bytes). m lives on. */
int ttgir_places_find(struct ttgir_places *places, const struct ttgir *m,
		      const struct ttgir_rules *rules, char *ret_why, size_t size);
void ttgir_places_done(struct ttgir_places *places);

#endif
