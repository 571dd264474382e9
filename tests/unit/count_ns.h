/* SPDX-License-Identifier: MIT */
#ifndef TESTS_COUNT_NS_H
#define TESTS_COUNT_NS_H
/* Executions that took so many ns, in the histogram of a node. */
#include <check.h>
#include "core/session.h"

static inline void count_ns(struct session *s, uint32_t node, uint32_t device, uint64_t ns,
			    uint32_t n)
{
	struct hist *h = session_hist_of(s, node, device, SESSION_NONE);

	ck_assert_ptr_nonnull(h);
	ck_assert_int_eq(hist_count(h, hist_bin(ns), n), 0);
}

#endif
