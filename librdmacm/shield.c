/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shield.c - the shields of each thread. See shield.h.
 */
#include "librdmacm/shield.h"

__thread struct cm_shield rdmacm_shield;
