/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steer.h - delivery of frames to mlx4's QPs, and QPs that spread frames over others (RSS).
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_STEER_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_STEER_H

#include <stdint.h>

struct eth_arrival;
struct hca;

/* Checks the context of a QP that spreads frames. Returns NULL or the reason for refusing it. */
const char *m4_spread_check(const uint8_t *qpc);
void m4_steer(struct hca *hca, struct eth_arrival *arrival);
/* Delivers copies of a frame that leaves the port, by rules for sent frames. */
void m4_sniff(struct hca *hca, struct eth_arrival *arrival);

#endif
