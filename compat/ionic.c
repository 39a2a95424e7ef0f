/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ionic.c - libionic.so.1 for machines without a Pensando adapter. Counts and masks of its
 * pipelines are 0.
 */
#include "absent.h"

/* clang-format off */
ABSENT(unsigned char, ionic_dv_ctx_get_udma_count, 0)
ABSENT(unsigned char, ionic_dv_ctx_get_udma_mask, 0)
ABSENT(unsigned char, ionic_dv_pd_get_udma_mask, 0)
ABSENT_ERRNO(ionic_dv_pd_set_rqcmb)
ABSENT_ERRNO(ionic_dv_pd_set_sqcmb)
ABSENT_ERRNO(ionic_dv_pd_set_udma_mask)
