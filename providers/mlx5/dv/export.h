/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * export.h - data that one process passes to another to share an object; programs do not interpret
 * it. The format is that of release 65.0 of the distribution's library, so both processes may use
 * different libraries.
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

/* Kinds of objects that release 65.0 names. Its flow steering uses an imported table or counter by
 * its number; all other objects are used only by handle. */
enum dv_export_type { DV_EXPORT_OTHER, DV_EXPORT_FLOW_TABLE, DV_EXPORT_FLOW_COUNTER };

struct dv_export_obj {
	uint32_t handle;
	uint32_t type; /* enum dv_export_type */
	uint32_t id;   /* device's number of a table or counter, else 0 */
	uint32_t reserved[5];
};
static_assert(sizeof(struct dv_export_obj) == 32, "as release 65.0 says");

#endif
