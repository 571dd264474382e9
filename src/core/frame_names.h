/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_FRAME_NAMES_H
#define PROTON_CORE_FRAME_NAMES_H
/* The names of a session's frames as people read them. Short names of two kernels may come out
 * alike: then all that do are widened until they differ.
 *
 *   _ZN2at…  ── naming ──> at::native::elementwise_kernel<128, 2, direct_copy>  ─┐ alike
 *   _ZN2at…  ── naming ──> at::native::elementwise_kernel<128, 2, direct_copy>  ─┴─> …direct_copy(float)>
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"

enum name_mode { NAME_SHORT = 0, NAME_DEMANGLED, NAME_RAW, NAME_N };

/* Make a name readable: malloc'd. NULL: the raw one is, or memory is out. Core knows no demangler: the
 * program gives it one (naming/readable.h). level: from the shortest to the whole signature. */
#define NAMING_LEVELS 6
typedef char *naming_fn(const char *raw, enum frame_kind kind, unsigned level);
/* A name of a mode by itself, without others that it must differ from. As naming_fn. */
char *naming_of_mode(naming_fn *naming, const char *raw, enum frame_kind kind, enum name_mode mode);

struct frame_names;

/* naming: NULL: all names are raw. visible: control characters are made visible, for
 * screens. NULL: out of memory. */
struct frame_names *frame_names_new(const struct session *s, naming_fn *naming, bool visible);
struct frame_names *frame_names_free(struct frame_names *n);
/* The name of a node. A name that is as the session has it is session_node_name() itself, and valid
 * as long; others live as long as the names, but a short one may be another when frames came. */
const char *frame_names_get(struct frame_names *n, uint32_t node, enum name_mode mode);
/* Does any form of a node's name pass a test: raw, or of any level? What other names there are does not
 * matter. */
bool frame_names_any(struct frame_names *n, uint32_t node,
		     bool (*test)(const char *name, const void *ctx), const void *ctx);

#endif
