/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_PYTHON_ABI_H
#define PROTON_COLLECT_PYTHON_ABI_H
/* Where CPython keeps what a thread is executing, for builds of 64 bits with the interpreter lock.
 * Offsets in bytes. What is not here (fields of code objects) is found at run time, and all of it is
 * held against the interpreter's own answers before it is used. */
#include <stdint.h>

struct python_layout {
	uint8_t minor;       /* of 3.minor */
	uint8_t state_frame; /* in a thread state: its innermost frame */
	int8_t held_frame; /* … or what holds it, in which it is here; -1: there is no such thing */
	uint8_t code, back;   /* in a frame: its code object, the frame that called it */
	uint8_t instruction;  /* in a frame: the one that it is at */
	uint8_t index_bytes;  /* … is an int that counts so many bytes each; 0: is a pointer */
	uint8_t instructions; /* in a code object: the first instruction */
	uint8_t owner;        /* in a frame: whose it is; 0: nobody's who matters */
	uint8_t text[2];      /* in a string: its characters, ASCII and others */
	uint16_t locals;      /* in a frame: its first local; 0: not known */
	uint8_t tags;         /* bits of code and locals that are not of the address */
};

/* The interpreter's own, which executes nothing. */
#define PYTHON_OWNER_INTERPRETER 3 /* and above */

static const struct python_layout python_layouts[] = {
	{7, 24, -1, 32, 24, 104, 1, 0, 0, {48, 72}, 0, 0},
	{8, 24, -1, 32, 24, 104, 1, 0, 0, {48, 72}, 360, 0},
	{9, 24, -1, 32, 24, 104, 1, 0, 0, {48, 72}, 360, 0},
	{10, 24, -1, 32, 24, 96, 2, 0, 0, {48, 72}, 352, 0},
	{11, 56, 8, 32, 48, 56, 0, 184, 0, {48, 72}, 72, 0},
	{12, 56, 0, 0, 8, 56, 0, 192, 70, {40, 56}, 72, 0},
	{13, 72, -1, 0, 8, 56, 0, 200, 70, {40, 56}, 72, 0},
	{14, 72, -1, 0, 8, 56, 0, 208, 74, {40, 56}, 80, 3},
	{15, 72, -1, 0, 8, 56, 0, 208, 74, {40, 56}, 80, 3},
};

/* In a type: its name, the size of its objects before what varies, what frees them. */
#define PYTHON_TYPE_NAME    24
#define PYTHON_TYPE_SIZE    32
#define PYTHON_TYPE_DEALLOC 48

/* In a string: bits of its state. */
#define PYTHON_STRING_LENGTH 16
#define PYTHON_STRING_STATE  32
#define PYTHON_STATE_KIND(s) ((s) >> 2 & 7) /* bytes a character */
#define PYTHON_STATE_COMPACT (1u << 5)
#define PYTHON_STATE_ASCII   (1u << 6)

#endif
