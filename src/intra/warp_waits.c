/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "intra/warp_waits.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include "base/util.h"

static bool is_letter(char c)
{
	return isalpha((unsigned char)c);
}

/* Of letters alone; a capital behind a small one begins another: "waitFull". */
static size_t word_length(const char *at)
{
	size_t n = 0;

	while (is_letter(at[n]) &&
	       (n == 0 || !isupper((unsigned char)at[n]) || !islower((unsigned char)at[n - 1])))
		n++;
	return n;
}

static bool is_of_waiting(const char *word, size_t len)
{
	static const char *const words[] = {"wait",        "waits",    "waiting",  "await",
					    "acquire",     "bar",      "barrier",  "sync",
					    "syncthreads", "syncwarp", "idle",     "sleep",
					    "spin",        "stall",    "nanosleep"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && !strncasecmp(words[i], word, len))
			return true;
	return false;
}

bool warp_name_waits(const char *name)
{
	size_t n;

	for (const char *at = name; *at; at += n ? n : 1) {
		n = word_length(at);
		if (n && is_of_waiting(at, n))
			return true;
	}
	return false;
}
