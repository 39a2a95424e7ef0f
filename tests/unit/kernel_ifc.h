/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel_ifc.h - the kernel's description of what the adapter reads and writes, for a program. In
 * it, a bit is a byte.
 */
#ifndef TESTS_UNIT_KERNEL_IFC_H
#define TESTS_UNIT_KERNEL_IFC_H

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define BIT(n)     (1u << (n))
#define BIT_ULL(n) (1ull << (n))
#include <mlx5_ifc.h>

#define IFC_BYTES(layout) (sizeof(struct mlx5_ifc_##layout##_bits) / 8)

#endif
