/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * crc.h - the two checksums of InfiniBand packets. IBTA vol 1, 7.8: ICRC is Ethernet's CRC-32, VCRC
 * has 16 bits. Both can be computed in parts: start with all ones, invert at the end, and send the
 * low byte first.
 */
#ifndef SOFTHCA_NET_CRC_H
#define SOFTHCA_NET_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32_add(uint32_t crc, const void *data, size_t len);
uint16_t crc16_add(uint16_t crc, const void *data, size_t len);

#endif
