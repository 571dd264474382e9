/* SPDX-License-Identifier: MIT */
#ifndef PROTON_NAMING_CUBINS_H
#define PROTON_NAMING_CUBINS_H
/* The cubins of a folder (cubin.h), by the names of their files. One is read when it is first asked for, and stays.
 *   errors  none: it is not there
 *   thread  one */
struct cubin;
struct cubins;

struct cubins *cubins_new(const char *folder); /* copied; NULL: no memory */
struct cubins *cubins_free(struct cubins *cubins);
const char *cubins_folder(const struct cubins *cubins);
/* NULL: it is not there, or none. As long as the store. */
const struct cubin *cubins_find(struct cubins *cubins, const char *name);
/* What is wrong with one that was asked for: 0: nothing; -ENOENT; -EBADMSG: it is none. */
int cubins_error(const struct cubins *cubins, const char *name);

#endif
