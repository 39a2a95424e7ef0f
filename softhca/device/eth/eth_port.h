/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_port.h - the Ethernet side of a port.
 */
#ifndef SOFTHCA_DEVICE_ETH_ETH_PORT_H
#define SOFTHCA_DEVICE_ETH_ETH_PORT_H

#include <stddef.h>
#include <stdint.h>

struct eth_sq;
struct hca;

/* Sends a frame of an SQ. The caller has written zeros behind LEN bytes, up to ETHERNET_MIN
 * bytes. */
void eth_transmit(struct hca *hca, struct eth_sq *sq, const uint8_t *frame, size_t len);
/* Delivers a frame that has arrived at an Ethernet port. */
void eth_port_receive(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len);

#endif
