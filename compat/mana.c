/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mana.c - libmana.so.1 for machines without a MANA adapter.
 */
#include "absent.h"

/* clang-format off */
ABSENT_POINTER(manadv_alloc_pd)
ABSENT_ERRNO(manadv_init_obj)
ABSENT_ERRNO(manadv_set_context_attr)
