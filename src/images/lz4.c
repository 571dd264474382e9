/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "images/lz4.h"
#include <string.h>

enum { MATCH_MIN = 4, LENGTH_MORE = 15 };

/* A length of 15 goes on in bytes that are added, up to one that is not 255. */
static bool take_length(const uint8_t **in, const uint8_t *end, size_t *length)
{
	uint8_t byte = 255;

	if (*length != LENGTH_MORE)
		return true;
	for (; byte == 255; *length += byte) {
		if (*in == end)
			return false;
		byte = *(*in)++;
	}
	return true;
}

/* What is copied may reach into what it makes: byte for byte, then. */
static void copy_match(uint8_t *out, size_t distance, size_t length)
{
	const uint8_t *from = out - distance;

	if (distance >= length) {
		memcpy(out, from, length);
		return;
	}
	for (size_t i = 0; i < length; i++)
		out[i] = from[i];
}

bool lz4_unpack(const uint8_t *in, size_t n, uint8_t *out, size_t size)
{
	const uint8_t *end = in + n;
	size_t at = 0, literals, match, distance;

	while (in < end) {
		literals = *in >> 4;
		match = *in++ & 15;
		if (!take_length(&in, end, &literals) || literals > (size_t)(end - in) ||
		    literals > size - at)
			return false;
		memcpy(out + at, in, literals);
		in += literals;
		at += literals;
		if (in == end) /* the last sequence has no match */
			return at == size;
		if (end - in < 2)
			return false;
		distance = (size_t)(in[0] | in[1] << 8);
		in += 2;
		if (!take_length(&in, end, &match) || !distance || distance > at)
			return false;
		match += MATCH_MIN;
		if (match > size - at)
			return false;
		copy_match(out + at, distance, match);
		at += match;
	}
	return false;
}
