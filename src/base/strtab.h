/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_STRTAB_H
#define PROTON_BASE_STRTAB_H
/* Interned strings: equal bytes have one id, ids are dense and start at 0, id 0 is "".
 *
 * Strings live as long as the table and never move. Bytes are kept as given (they may hold
 * invalid UTF-8 and NUL); a NUL always follows the last one.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRTAB_NONE UINT32_MAX

struct strtab;

struct strtab *strtab_new(void); /* NULL: out of memory */
struct strtab *strtab_free(struct strtab *t);

/* Limit the bytes of all strings together from now on; 0: no limit. */
void strtab_limit(struct strtab *t, size_t bytes);
/* Was a string refused because of the limit? */
bool strtab_is_full(const struct strtab *t);
/* The id of a string, added when new. STRTAB_NONE: out of memory, or beyond the limit. */
uint32_t strtab_add(struct strtab *t, const char *s, size_t len);
uint32_t strtab_adds(struct strtab *t, const char *s);
/* The id of a string that is already there, or STRTAB_NONE. */
uint32_t strtab_find(const struct strtab *t, const char *s, size_t len);
/* The string of an id; "" for an id that was never given out. */
const char *strtab_str(const struct strtab *t, uint32_t id);
size_t strtab_len(const struct strtab *t, uint32_t id);
/* The string as C has it, to its end: where bytes are NUL, a copy with "^@" for each, which lives in
 * `copies`. Cut at the first one where memory is out. */
const char *strtab_whole(const struct strtab *t, uint32_t id, struct strtab *copies);
uint32_t strtab_count(const struct strtab *t);
size_t strtab_memory(const struct strtab *t);

#endif
