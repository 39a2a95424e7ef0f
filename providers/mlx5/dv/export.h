/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export.h - what one process tells another of an object: programs carry these bytes without
 * looking at them. They are as release 65.0 of the distribution's library writes them, so the two
 * processes may have different libraries.
 */
#ifndef PROVIDERS_MLX5_DV_EXPORT_H
#define PROVIDERS_MLX5_DV_EXPORT_H

#include <assert.h>
#include <stdint.h>

struct dv_export_var {
	uint32_t handle;
	uint32_t page_id;
	uint32_t length;
	uint32_t reserved;
	uint64_t mmap_off;
};
static_assert(sizeof(struct dv_export_var) == 24, "as release 65.0 says");

struct dv_export_umem {
	uint32_t handle, umem_id;
};

/* Kinds of objects that release 65.0 names. Its steering takes an imported table or counter by the
 * number; other objects are known by their handle alone. */
enum dv_export_type { DV_EXPORT_OTHER, DV_EXPORT_FLOW_TABLE, DV_EXPORT_FLOW_COUNTER };

struct dv_export_obj {
	uint32_t handle;
	uint32_t type; /* enum dv_export_type */
	uint32_t id;   /* the device's number of a table or counter; else 0 */
	uint32_t reserved[5];
};
static_assert(sizeof(struct dv_export_obj) == 32, "as release 65.0 says");

#endif
