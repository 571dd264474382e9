/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/session_words.h"
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include "base/util.h"
#include "core/cut.h"

uint32_t session_kinds_without(const char *context)
{
	enum {
		RANGES = CUT_KIND(FRAME_NVTX),
		COMPILED =
			CUT_KIND(FRAME_NATIVE) | CUT_KIND(FRAME_MODULE) | CUT_KIND(FRAME_OPERATOR),
		READ = CUT_KIND(FRAME_PYTHON) | COMPILED,
	};
	static const struct {
		const char *word;
		uint32_t without;
	} contexts[] = {
		{"shadow", READ},
		{"scopes", READ | RANGES},
		{"python", COMPILED | RANGES | CUT_KIND(FRAME_SCOPE)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(contexts); i++)
		if (!strcasecmp(contexts[i].word, context))
			return contexts[i].without;
	return 0;
}

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

/* What follows a word with an option behind it, "" without; NULL: it is another word. */
static const char *after(const char *mode, const char *word, const char *option)
{
	size_t len = strlen(word), option_len = strlen(option);

	if (strncasecmp(mode, word, len) != 0)
		return NULL;
	if (!mode[len])
		return mode + len;
	mode += len;
	return !strncasecmp(mode, option, option_len) && mode[option_len] ? mode + option_len
									  : NULL;
}

bool session_mode_read(const char *mode, bool traced, struct session_mode *ret)
{
	const char *value;

	*ret = (struct session_mode){0};
	if (!*mode)
		return true;
	value = after(mode, "pcsampling", ":interval=");
	if (value) {
		ret->samples = true;
		return !value[strspn(value, "0123456789")];
	}
	value = after(mode, "metrics", ":names=");
	if (value) {
		ret->metrics = value;
		return *value;
	}
	value = after(mode, "periodic_flushing", ":format=");
	ret->flush_format = value ? session_format(traced, value) : NULL;
	return ret->flush_format;
}
