/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_JSON_PROFILE_H
#define PROTON_FORMAT_JSON_PROFILE_H
/* The JSON document with everything, for other programs: a reader beside its writer, json_export.c.
 * docs/formats.md and data/proton-profile.schema.json have the rules. */
#include "format/format.h"

bool json_profile_detect(const char *head, size_t n);
int json_profile_read(struct reader_input *in, struct session *s, struct format_error *error);

#endif
