/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/metadata.h"
#include <stdlib.h>
#include <string.h>

#define NAME "__proton_launch_metadata"

bool metadata_is_frame(const struct session *s, uint32_t frame)
{
	const char *name = strtab_str(s->strings, s->frames[frame].name);
	size_t n = sizeof(NAME) - 1;

	return !strncmp(name, NAME, n) && (name[n] == '\0' || name[n] == ':');
}

bool metadata_is_there(const struct session *s)
{
	uint32_t i = 0;

	while (i < s->n_frames && !metadata_is_frame(s, i))
		i++;
	return i < s->n_frames;
}

uint8_t *metadata_nodes(const struct session *s)
{
	uint8_t *nodes = calloc(s->n_nodes + 1, 1), *frames = calloc(s->n_frames + 1, 1);

	for (uint32_t i = 0; nodes && frames && i < s->n_frames; i++)
		frames[i] = metadata_is_frame(s, i);
	for (uint32_t i = 1; nodes && frames && i < s->n_nodes; i++)
		nodes[i] = frames[s->nodes[i].frame] | nodes[s->nodes[i].parent];
	if (!frames) {
		free(nodes);
		nodes = NULL;
	}
	free(frames);
	return nodes;
}
