/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.h - commands that start and stop the adapter, and the pages that its driver gives it.
 */
#ifndef PRM_MLX5_DRIVER_H
#define PRM_MLX5_DRIVER_H

#include "util/fields.h"

enum {
	PRM_PAGES_BOOT = 1, /* QUERY_PAGES op_mod */
	PRM_PAGES_INIT = 2,
	PRM_PAGES_REGULAR = 3,
	PRM_PAGES_CANNOT_GIVE = 0, /* MANAGE_PAGES op_mod */
	PRM_PAGES_GIVE = 1,
	PRM_PAGES_TAKE = 2,
};

#define QUERY_ADAPTER_OUT_QUERY_ADAPTER_STRUCT FLD_PART(0x10)

#define ADAPTER_IEEE_VENDOR_ID                 FLD(0x18, 23, 0)
#define ADAPTER_VSD_VENDOR_ID                  FLD(0x1c, 15, 0)
#define ADAPTER_VSD                            FLD_PART(0x20)
#define ADAPTER_VSD_CONTD_PSID                 FLD_PART(0xf0)

#define QUERY_PAGES_OUT_NUM_PAGES              FLD(0xc, 31, 0)
#define MANAGE_PAGES_IN_FUNCTION_ID            FLD(0x8, 15, 0)
#define MANAGE_PAGES_IN_INPUT_NUM_ENTRIES      FLD(0xc, 31, 0)
#define MANAGE_PAGES_IN_PAS                    FLD_PART(0x10)
#define MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES    FLD(0x8, 31, 0)
#define MANAGE_PAGES_OUT_PAS                   FLD_PART(0x10)

#define QUERY_ISSI_OUT_CURRENT_ISSI            FLD(0x8, 15, 0)
#define QUERY_ISSI_OUT_SUPPORTED_ISSI_DW0      FLD(0x6c, 31, 0)
#define SET_ISSI_IN_CURRENT_ISSI               FLD(0x8, 15, 0)

#define SET_DRIVER_VERSION_IN_DRIVER_VERSION   FLD_PART(0x10) /* 64 characters */

#define TEARDOWN_HCA_IN_PROFILE                FLD(0x8, 15, 0)

#endif
