/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.h - objects that consist of a number only: UARs, protection, transport and XRC domains.
 */
#ifndef PRM_MLX5_PD_H
#define PRM_MLX5_PD_H

#include "util/fields.h"

#define ALLOC_UAR_OUT_UAR                            FLD(0x8, 23, 0)

#define DEALLOC_UAR_IN_UAR                           FLD(0x8, 23, 0)

#define ALLOC_PD_OUT_PD                              FLD(0x8, 23, 0)

#define DEALLOC_PD_IN_PD                             FLD(0x8, 23, 0)

#define ALLOC_TRANSPORT_DOMAIN_OUT_TRANSPORT_DOMAIN  FLD(0x8, 23, 0)

#define DEALLOC_TRANSPORT_DOMAIN_IN_TRANSPORT_DOMAIN FLD(0x8, 23, 0)

#define ALLOC_XRCD_OUT_XRCD                          FLD(0x8, 23, 0)
#define DEALLOC_XRCD_IN_XRCD                         FLD(0x8, 23, 0)

#endif
