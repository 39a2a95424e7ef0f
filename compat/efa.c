/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * efa.c - libefa.so.1 for machines without an EFA adapter.
 */
#include "absent.h"

/* clang-format off */
ABSENT_POINTER(efadv_cq_from_ibv_cq_ex)
ABSENT_POINTER(efadv_create_comp_cntr)
ABSENT_POINTER(efadv_create_cq)
ABSENT_POINTER(efadv_create_driver_qp)
ABSENT_POINTER(efadv_create_qp_ex)
ABSENT_POINTER(efadv_qp_from_ibv_qp_ex)
ABSENT_ERRNO(efadv_query_ah)
ABSENT_ERRNO(efadv_query_cq)
ABSENT_ERRNO(efadv_query_device)
ABSENT_ERRNO(efadv_query_mr)
ABSENT_ERRNO(efadv_query_qp_wqs)
ABSENT_COUNT(efadv_get_max_rq_depth)
ABSENT_COUNT(efadv_get_max_sq_depth)
