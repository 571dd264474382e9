/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_GENERATED_H
#define PROTON_CORE_GENERATED_H
/* Files of Python that torch.compile writes and runs. They lie in its cache, which may be anywhere, and are called by
 * what is in them: "c" and 51 letters of a hash, in a folder of the second and third letter.
 *
 *     /tmp/torchinductor_me/nx/cnxwxywdlitivdpzen5nj5z2n4miggflnzqcjcx7yervrrrbqczk.py:172@Runner.call
 *
 *   thread  any */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool generated_is_file(const char *path, size_t len);
/* The name of a frame of Python: the length of the path, and the line. False: it is of no such file. */
bool generated_parse(const char *name, size_t *ret_len, uint32_t *ret_line);

#endif
