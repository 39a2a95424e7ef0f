/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth.h - Ethernet: frames between a port and the work queues, and who counts them.
 *
 * Beside core.h, for the objects that only an Ethernet port has. Everything runs under the fabric's
 * lock.
 */
#ifndef SOFTHCA_ETH_H
#define SOFTHCA_ETH_H

#include "softhca/device/core.h"

/* A frame leaves PORT: counted, and given to the fabric. */
void eth_transmit(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len);

#endif
