/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hns.c - libhns.so.1 for machines without a HiSilicon adapter.
 */
#include "absent.h"

/* clang-format off */
ABSENT_POINTER(hnsdv_create_qp)
ABSENT_BOOL(hnsdv_is_supported)
ABSENT_ERRNO(hnsdv_query_device)
