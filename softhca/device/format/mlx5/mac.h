/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mac.h - MAC addresses in layouts where two fields have them.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_MAC_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_MAC_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "util/fields.h"

static inline void mac_get(const uint8_t *layout, uint32_t high, uint32_t low, uint8_t mac[6])
{
	uint64_t be = htobe64(fld_get(layout, high) << FLD_WIDTH(low) | fld_get(layout, low));

	memcpy(mac, (const uint8_t *)&be + 2, 6);
}

static inline void mac_set(uint8_t *layout, uint32_t high, uint32_t low, const uint8_t mac[6])
{
	uint64_t be = 0;

	memcpy((uint8_t *)&be + 2, mac, 6);
	fld_set(layout, high, be64toh(be) >> FLD_WIDTH(low));
	fld_set(layout, low, be64toh(be));
}

#endif
