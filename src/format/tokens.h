/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_TOKENS_H
#define PROTON_FORMAT_TOKENS_H
/* JSON values as they came, in words of 8 bytes: what a push parser saw, to be walked later, when
 * what the values refer to is known.
 *
 *   {"rows": [[3, 0, 1.5]]}  ->  MAP KEY(rows) ARRAY ARRAY INT(3) INT(0) FLOAT 1.5 END END END
 *
 * A position is the index of a value's first word; 0 is no value. A container knows its length, so
 * skipping takes one step. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token {
	TOKEN_NONE = 0,
	TOKEN_NULL,
	TOKEN_FALSE,
	TOKEN_TRUE,
	TOKEN_INT,     /* payload */
	TOKEN_BIG_INT, /* next word */
	TOKEN_FLOAT,   /* next word */
	TOKEN_STRING,  /* payload: string id */
	TOKEN_KEY,     /* payload: key id */
	TOKEN_MAP,     /* payload: words up to and with its END */
	TOKEN_ARRAY,
	TOKEN_END,
};

struct tokens {
	uint64_t *words;
	size_t n, cap;
	size_t open;    /* position of the innermost container that is not closed; 0 = none */
	uint32_t depth; /* how many are not closed */
	bool failed;    /* out of memory */
};

void tokens_init(struct tokens *t);
void tokens_done(struct tokens *t);

/* Recording. */
void tokens_put(struct tokens *t, enum token token, uint64_t payload);
void tokens_put_u64(struct tokens *t, uint64_t v);
void tokens_put_f64(struct tokens *t, double v);
size_t tokens_begin(struct tokens *t, enum token token); /* its position */
void tokens_end(struct tokens *t);

/* Walking. */
static inline enum token token_at(const struct tokens *t, size_t at)
{
	return (enum token)(t->words[at] >> 60);
}

static inline uint64_t token_payload(const struct tokens *t, size_t at)
{
	return t->words[at] & ((UINT64_C(1) << 60) - 1);
}

/* The position behind a value. */
static inline size_t token_next(const struct tokens *t, size_t at)
{
	enum token token = token_at(t, at);

	if (token == TOKEN_MAP || token == TOKEN_ARRAY)
		return at + token_payload(t, at) + 1;
	return at + (token == TOKEN_BIG_INT || token == TOKEN_FLOAT ? 2 : 1);
}

/* First element of an array or first key of a map; END when there is none. */
static inline size_t token_first(size_t at)
{
	return at + 1;
}

bool token_is_number(const struct tokens *t, size_t at); /* or a boolean */
double token_f64(const struct tokens *t, size_t at);     /* NaN when it is no number */
/* As a count: false when it is no number, negative or beyond 64 bits. Fractions are rounded. */
bool token_u64(const struct tokens *t, size_t at, uint64_t *ret);
/* The value of a key in a map, 0 when there is none or `map` is no map. */
size_t token_find(const struct tokens *t, size_t map, uint32_t key);

/* A number as text, independent of the locale. Integers of up to 64 bits stay exact. */
struct number {
	bool is_int;
	uint64_t u64;
	double f64;
};
void number_parse(const char *text, size_t len, struct number *ret);

#endif
