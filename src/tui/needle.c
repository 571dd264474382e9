/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/needle.h"
#include <errno.h>
#include <string.h>
#include "core/numbers.h"
#include "tui/names.h"
#include "tui/tui_impl.h"

int needle_init(struct needle *needle, struct tui *t, const char *text, uint8_t **seen,
		size_t *cap_seen)
{
	uint32_t n;

	needle->text = text;
	needle->match_case = text_is_smart_case(text);
	needle->frame_of = numbers_frames(t->kept.numbers, &n);
	if (!needle->frame_of ||
	    array_reserve((void **)seen, cap_seen, MAX(n, 1u), sizeof(**seen)) < 0)
		return -ENOMEM;
	memset(*seen, SEEN_NOT, n);
	needle->seen = *seen;
	return 0;
}

void needle_look(struct tui *t, const struct needle *needle, uint32_t node)
{
	uint8_t *seen = &needle->seen[needle->frame_of[node]];

	if (text_find(tui_node_name(t, node), needle->text, needle->match_case))
		*seen = SEEN_WITH;
	else if (tui_node_has(t, node, needle->text, needle->match_case))
		*seen = SEEN_ELSEWHERE;
	else
		*seen = SEEN_WITHOUT;
}
