/* SPDX-License-Identifier: MIT */
/* The floor for a program with one calling context: activity records alone. */
#include "floor.h"

int InitializeInjection(void)
{
	return floor_start(1, 0);
}
