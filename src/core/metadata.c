/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/metadata.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/human.h"
#include "base/util.h"
#include "core/metric.h"

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

/* The children of a node: two chains, one behind the other. */
static void put_last(struct session *s, uint32_t parent)
{
	struct session_node *nodes = s->nodes;
	uint32_t first[2] = {SESSION_NONE, SESSION_NONE}, last[2] = {SESSION_NONE, SESSION_NONE};
	uint32_t next;

	for (uint32_t c = nodes[parent].first_child; c != SESSION_NONE; c = next) {
		bool is = metadata_is_frame(s, nodes[c].frame);

		next = nodes[c].next_sibling;
		nodes[c].next_sibling = SESSION_NONE;
		*(last[is] == SESSION_NONE ? &first[is] : &nodes[last[is]].next_sibling) = c;
		last[is] = c;
	}
	if (first[0] == SESSION_NONE || first[1] == SESSION_NONE) {
		nodes[parent].first_child = first[first[0] == SESSION_NONE];
		return;
	}
	nodes[parent].first_child = first[0];
	nodes[last[0]].next_sibling = first[1];
	nodes[parent].last_child = last[1];
}

void metadata_put_last(struct session *s)
{
	if (!metadata_is_there(s))
		return;
	for (uint32_t i = 0; i < s->n_nodes; i++)
		put_last(s, i);
}

const char *metadata_text(const struct session *s, char out[METADATA_TEXT_MAX])
{
	_cleanup_(freep) uint8_t *nodes = metadata_is_there(s) ? metadata_nodes(s) : NULL;
	char things[HUMAN_THINGS_MAX], time[HUMAN_MAX];
	double time_ns = NAN, count = NAN;

	for (size_t i = 0; nodes && i < s->n_rows; i++) {
		double ns = session_row_number(s, &s->rows[i], METRIC_TIME);

		if (!nodes[s->rows[i].node] || isnan(ns))
			continue;
		add_present(&time_ns, ns);
		add_present(&count, session_row_number(s, &s->rows[i], METRIC_COUNT));
	}
	if (!(time_ns > 0))
		return NULL;
	human_things(things, count, "operation");
	human_time_ns(time, time_ns);
	snprintf(out, METADATA_TEXT_MAX,
		 "hidden as launch metadata: %s, %s; devices were busy with it, no time has it",
		 things, time);
	return out;
}
