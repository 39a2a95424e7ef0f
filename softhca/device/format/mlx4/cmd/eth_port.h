/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_port.h - commands on ports for the link layer Ethernet.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_CMD_ETH_PORT_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_CMD_ETH_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/format/mlx4/cmd/cmd.h"

struct hca;

void m4_eth_port_query(const struct hca *hca, unsigned int port, uint8_t *out);
/* Returns whether the port's VLAN table has an entry at an index, and its VLAN. */
bool m4_find_vlan(const struct hca *hca, unsigned int port, unsigned int index, uint16_t *id);
enum m4_status m4_eth_port_set(struct hca *hca, struct m4_cmd *cmd);

#endif
