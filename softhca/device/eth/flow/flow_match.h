/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_match.h - the steering of a frame by flow tables.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_FLOW_MATCH_H
#define SOFTHCA_DEVICE_ETH_FLOW_FLOW_MATCH_H

#include <stdbool.h>
#include <stdint.h>

struct eth_arrival;
struct flow_table;
struct hca;

/* Steers a frame from table ROOT on, and delivers it to TIRs. Returns true if an entry allows the
 * frame or no entry decides on it; ARRIVAL has the frame then as entries have changed it. The
 * caller frees the copies in ARRIVAL. */
bool flow_steer(struct hca *hca, struct flow_table *root, struct eth_arrival *arrival,
		uint32_t sqn);

#endif
