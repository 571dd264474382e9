/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BASE_BOUNDED_REGEX_H
#define PROTON_BASE_BOUNDED_REGEX_H
/* Regular expressions of users, compiled by the C library, which copies what repeats and calls itself for what is nested:
 * some short ones take more memory than there is, and deep ones more stack. Those are refused before it sees them. */
#include <regex.h>
#include <stddef.h>

/* A POSIX expression with REG_EXTENDED; flags: others beside it. 0; or -EINVAL or -ENOMEM, and why: *re is nothing to free
 * then. ret_bytes may be NULL: as much as it takes at most, to look whether that is there before it is used. */
int bounded_regex(regex_t *re, const char *expression, int flags, size_t *ret_bytes, char *ret_why,
		  size_t size);

#endif
