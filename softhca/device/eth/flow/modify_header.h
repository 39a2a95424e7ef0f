/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify_header.h - lists of actions that change headers, which flow table entries name.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_MODIFY_HEADER_H
#define SOFTHCA_DEVICE_ETH_FLOW_MODIFY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "prm/mlx5/match.h"
#include "prm/mlx5/modify_header.h"

struct frame;
struct hca;

enum {
	MODIFY_HEADER_MAX = 16,
	MODIFY_HEADER_LOG_LISTS = 10,
};

struct modify_header {
	uint32_t n;
	uint32_t users; /* number of entries */
	enum prm_flow_table_type type;
	unsigned int count;
	uint8_t action[MODIFY_HEADER_MAX][PRM_HEADER_ACTION_SIZE];
};

/* Returns NULL, or the reason for refusing an action. */
const char *modify_header_check(const uint8_t action[PRM_HEADER_ACTION_SIZE]);
/* Adds a list of COUNT actions, which modify_header_check() has accepted. Returns 0, ENOSPC or
 * ENOMEM. */
int modify_header_add(struct hca *hca, enum prm_flow_table_type type, const uint8_t *actions,
		      unsigned int count, struct modify_header **list);
void modify_header_remove(struct hca *hca, struct modify_header *list);
/* Changes the headers of the frame in BYTES, and keeps its checksums as right or wrong as they
 * were. FRAME describes the frame as it was; REGISTERS are those of struct flow_state. An action on
 * a header that the frame lacks does nothing. */
void modify_header_apply(const struct modify_header *list, const struct frame *frame,
			 uint8_t *bytes, uint8_t *registers);

#endif
