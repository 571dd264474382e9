/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "images/ptx_text.h"
#include <string.h>
#include "base/util.h"

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '%';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Behind blanks and comments. */
static size_t skip_blank(struct elf_part all, size_t at)
{
	const char *text = (const char *)all.at;
	const char *end;

	for (;;) {
		while (at < all.size && is_blank(text[at]))
			at++;
		if (all.size - at < 2 || text[at] != '/' ||
		    (text[at + 1] != '/' && text[at + 1] != '*'))
			return at;
		if (text[at + 1] == '/') {
			end = memchr(text + at, '\n', all.size - at);
			at = end ? (size_t)(end - text) : all.size;
		} else {
			end = memmem(text + at + 2, all.size - at - 2, "*/", 2);
			at = end ? (size_t)(end - text) + 2 : all.size;
		}
	}
}

static bool word_at(struct elf_part all, size_t at, const char *word)
{
	size_t n = strlen(word);

	return all.size - at > n && !memcmp(all.at + at, word, n) && !is_name((char)all.at[at + n]);
}

bool is_ptx_text(struct elf_part all)
{
	return word_at(all, skip_blank(all, 0), ".version");
}

/* The next place of a directive outside of comments, or the end. A dot within a string or a name is none. What is
 * before `from` in its line is of no account: no line is looked at twice, however long it is. */
static size_t next_directive(struct elf_part all, size_t from, const char *word)
{
	const uint8_t *found;
	size_t n = strlen(word), seen = from, at;
	bool is_first = true; /* only other directives stand before it in its line */

	for (; (found = memmem(all.at + from, all.size - from, word, n)); from = at + n) {
		at = (size_t)(found - all.at);
		for (; seen < at; seen++)
			is_first = all.at[seen] == '\n' ||
				   (is_first && !memchr("/\";", all.at[seen], 3));
		if (is_first && word_at(all, at, word))
			return at;
	}
	return all.size;
}

static size_t name_length(struct elf_part all, size_t at)
{
	size_t n = 0;

	while (at + n < all.size && is_name((char)all.at[at + n]))
		n++;
	return n;
}

void ptx_text_arch(struct elf_part all, char ret[IMAGE_ARCH_MAX])
{
	size_t at = next_directive(all, 0, ".target"), n;

	ret[0] = '\0';
	if (at == all.size)
		return;
	at = skip_blank(all, at + sizeof(".target") - 1);
	n = MIN(name_length(all, at), (size_t)IMAGE_ARCH_MAX - 1);
	memcpy(ret, all.at + at, n);
	ret[n] = '\0';
}

bool ptx_text_has_lines(struct elf_part all)
{
	return next_directive(all, 0, ".loc") < all.size;
}

/* Where a body begins behind parameters and directives, or a declaration ends. */
static size_t end_of_head(struct elf_part all, size_t at)
{
	while (at < all.size && all.at[at] != '{' && all.at[at] != ';')
		at++;
	return at;
}

int ptx_text_kernels(struct elf_part all, struct image_kernels *ret)
{
	size_t at = 0, end = 0, name, n;
	int r = 0;

	while (r == 0 && (at = next_directive(all, at, ".entry")) < all.size) {
		name = skip_blank(all, at + sizeof(".entry") - 1);
		n = name_length(all, name);
		at = name + n;
		end = end < at ? end_of_head(all, at) : end;
		if (n && end < all.size && all.at[end] == '{')
			r = image_kernels_add(
				ret, &(struct image_kernel){.name = (const char *)all.at + name,
							    .name_len = n});
	}
	return r;
}
