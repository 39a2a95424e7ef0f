/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_match.h - the fields that flow tables can match, and the steering of a frame.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_FLOW_MATCH_H
#define SOFTHCA_DEVICE_ETH_FLOW_FLOW_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/match.h"

struct eth_arrival;
struct flow_table;
struct hca;

/* The sets of fields that can be matched: outer headers, misc. */
enum { FLOW_SETS = 2, FLOW_KEY_SIZE = FLOW_SETS * PRM_MATCH_SET_SIZE };

/* Sets MASK to the fields that can be matched; a group's mask may have no other bits. */
void flow_supported_mask(uint8_t mask[FLOW_KEY_SIZE]);
uint32_t flow_hash(const uint8_t key[FLOW_KEY_SIZE]);
/* Steers a frame from table ROOT on, and delivers it to TIRs. Returns true if an entry allows the
 * frame or no entry decides on it; ARRIVAL has the frame then as entries have changed it. The
 * caller frees the copies in ARRIVAL. */
bool flow_steer(struct hca *hca, struct flow_table *root, struct eth_arrival *arrival,
		uint32_t sqn);

#endif
