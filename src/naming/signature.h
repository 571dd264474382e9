/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_SIGNATURE_H
#define PROTON_NAMING_SIGNATURE_H
/* The parts of a demangled C++ name, without copies of the text.
 *
 *   void at::native::reduce_kernel<512, 1, at::native::MeanOps<float> >(at::native::MeanOps<float>)
 *
 *   path   at :: native :: reduce_kernel ── args ─> 512 , 1 , (a type)
 *                                                             └ path  at :: native :: MeanOps ─> …
 *
 * Return type and, unless asked for, parameters of the whole are left out. What no rule of C++ explains is a part too,
 * as it stands: nothing is lost between the parts.
 *   thread  one a signature */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PART_NONE UINT32_MAX

enum part_kind {
	PART_NAME,    /* of a path: "reduce_kernel", with args and parameters */
	PART_UNNAMED, /* of a path: "(anonymous namespace)" */
	PART_LAMBDA,  /* of a path: "{lambda(float)#1}" */
	PART_TYPE,    /* an argument: a path, and what stands behind it (" const*") */
	PART_NUMBER,  /* an argument: "4", "2ul", "true", "(Order)0" */
	PART_TEXT,    /* an argument that is none of these */
};

struct name_part {
	const char *text;
	uint32_t len;
	uint8_t kind;        /* enum part_kind */
	bool has_args;       /* also none: "plus<>" */
	bool has_parameters; /* of a path: a function stands here */
	uint8_t rule;        /* enum rule of a name (naming/rules.h) */
	uint32_t child;      /* first argument; of a type, the first part of its path */
	uint32_t next;       /* argument, or part of the path */
	const char *behind;  /* of a type */
	uint32_t behind_len;
	uint8_t marks; /* enum part_mark (naming/brief.h); none at first */
};

struct signature {
	struct name_part *parts;
	size_t n, cap;
	uint32_t path;       /* of the whole */
	uint32_t parameters; /* a part whose arguments these are, or PART_NONE */
	const char *begin;   /* of the text */
	const char *path_end;
	const char *end; /* behind what was read: the parameters, or what follows them */
	bool marked;     /* parts may have marks */
};

/* Take a name apart. The text must outlive the parts; memory of an earlier one is
 * used again.
 * 0; -EINVAL: it does not look like a name of C++; -ENOMEM. */
int signature_parse(struct signature *s, const char *text);
/* Then its parameters, which are left out otherwise. The same errors. */
int signature_parse_parameters(struct signature *s);
void signature_done(struct signature *s);
/* Behind the bracket that closes the one at the beginning of the text; NULL: none does. */
const char *signature_behind_bracket(const char *at);

#endif
