/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_FRAME_NAMES_H
#define PROTON_CORE_FRAME_NAMES_H
/* The names of a session's frames as people read them. Short names of two kernels may come out
 * alike: then what tells them apart is added (core/distinct.h).
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/naming.h"
#include "core/session.h"

enum name_mode { NAME_SHORT = 0, NAME_DEMANGLED, NAME_RAW, NAME_N };

/* A name of a mode by itself, without others that it must differ from. As naming->name. */
char *naming_of_mode(const struct naming *naming, const char *raw, enum frame_kind kind,
		     enum name_mode mode);

struct frame_names;

/* naming: NULL: all names are raw. visible: control characters are made visible, for
 * screens. NULL: out of memory. */
struct frame_names *frame_names_new(const struct session *s, const struct naming *naming,
				    bool visible);
struct frame_names *frame_names_free(struct frame_names *n);
/* The name of a node. A name that is as the session has it is session_node_name() itself, and valid
 * as long; others live as long as the names, but a short one may be another when frames came. */
const char *frame_names_get(struct frame_names *n, uint32_t node, enum name_mode mode);
/* Does any form of a node's name pass a test: raw, or of any level? What other names there are does not
 * matter: for what the name may have besides to be told apart, there is the next function. */
bool frame_names_any(struct frame_names *n, uint32_t node,
		     bool (*test)(const char *name, const void *ctx), const void *ctx);
/* Is any function there in several forms: as a symbol, and as the signature that this stands for? */
bool frame_names_has_forms(struct frame_names *n);
/* The frame that stands for all forms of a function: itself, where there is no other. */
uint32_t frame_names_function(const struct frame_names *n, uint32_t frame);
/* Is a text a short name that the node could have beside others? */
bool frame_names_could_be(const struct frame_names *n, uint32_t node, const char *text);

#endif
