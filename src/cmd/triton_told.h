/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CMD_TRITON_TOLD_H
#define PROTON_CMD_TRITON_TOLD_H
/* Rules of where kernels of Triton record, as options have them, and how Triton in a program is told of them. */
#include <stdbool.h>
#include <stdio.h>
#include "ttgir/rules.h"

struct buf;

/* Appends what is in a file that somebody named. 0 or -errno. */
int ttgir_read_file(const char *path, struct buf *text);
/* The rules that somebody said in this option (base/said_rules.h). They are in text, too. 0; else it was complained
 * about. */
int ttgir_rules_said(const char *option, const char *said, struct buf *text,
		     struct ttgir_rules *ret);
/* Words of rules, for completions. */
void ttgir_list_rules(FILE *out);

/* "ttgir:RULES" and "ttgir:FOLDER" of an option --intra: Triton in the program that is run next makes warps record, in a mode (NULL:
 * the usual one), in kernels that get records by rules while they are compiled, or in those of a folder, which are taken in
 * place of what is compiled. 0, or an exit status after a message. */
bool triton_is_meant(const char *said);
int triton_is_told(const char *said, const char *mode);

#endif
