/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/session_words.h"
#include <stddef.h>
#include <string.h>
#include <strings.h>

const char *session_format(bool traced, const char *word)
{
	static const char *const formats[] = {"hatchet", "hatchet_msgpack", "chrome_trace"};
	size_t from = traced ? 2 : 0, to = traced ? 3 : 2;

	for (size_t i = from; i < to; i++)
		if (!word || !*word || !strcasecmp(word, formats[i]))
			return formats[i];
	return NULL;
}

const char *session_formats_text(bool traced)
{
	return traced ? "chrome_trace" : "hatchet or hatchet_msgpack";
}

bool session_mode_read(const char *mode, bool traced, const char **ret_format)
{
	static const char word[] = "periodic_flushing", option[] = ":format=";
	size_t len = sizeof(word) - 1, option_len = sizeof(option) - 1;

	*ret_format = NULL;
	if (!*mode)
		return true;
	if (strncasecmp(mode, word, len) != 0)
		return false;
	*ret_format = session_format(traced, NULL);
	if (!mode[len])
		return true;
	if (strncasecmp(mode + len, option, option_len) != 0)
		return false;
	*ret_format = session_format(traced, mode + len + option_len);
	return *ret_format && mode[len + option_len];
}
