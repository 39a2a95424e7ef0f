/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steer.h - queue pairs that spread frames over others.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_STEER_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_STEER_H

#include <stdint.h>

struct eth_arrival;
struct hca;

/* Checks the context of such a QP: it returns NULL, or why it is refused. */
const char *m4_spread_check(const uint8_t *qpc);
/* Gives frames to the queue of the driver: format.h */
void m4_steer(struct hca *hca, struct eth_arrival *arrival);
/* The same of frames that leave the port, by rules which ask for these. */
void m4_sniff(struct hca *hca, struct eth_arrival *arrival);

#endif
