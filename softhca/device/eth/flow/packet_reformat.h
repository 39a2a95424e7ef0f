/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * packet_reformat.h - outer headers that flow table entries put in front of frames or take away.
 */
#ifndef SOFTHCA_DEVICE_ETH_FLOW_PACKET_REFORMAT_H
#define SOFTHCA_DEVICE_ETH_FLOW_PACKET_REFORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm/mlx5/match.h"
#include "prm/mlx5/packet_reformat.h"

struct frame;
struct hca;

enum {
	PACKET_REFORMAT_MAX = 128,
	PACKET_REFORMAT_LOG = 10,
};

struct packet_reformat {
	uint32_t n;
	uint32_t users; /* number of entries */
	enum prm_reformat type;
	unsigned int size;
	uint8_t data[PACKET_REFORMAT_MAX];
};

/* Returns NULL, or the reason for refusing SIZE bytes of headers of TYPE. */
const char *packet_reformat_check(uint64_t type, unsigned int size);
/* Adds headers that packet_reformat_check() has accepted. Returns 0, ENOSPC or ENOMEM. */
int packet_reformat_add(struct hca *hca, enum prm_reformat type, const uint8_t *data,
			unsigned int size, struct packet_reformat **reformat);
void packet_reformat_remove(struct hca *hca, struct packet_reformat *reformat);
/* Returns the type of the tables whose entries may name the headers. */
enum prm_flow_table_type packet_reformat_table(const struct packet_reformat *reformat);

/* These write the frame with its other headers to BYTES, which have room for FABRIC_FRAME_MAX.
 * They return its length, or 0 if the frame has no such tunnel or would be too long. */
size_t packet_reformat_apply(const struct packet_reformat *reformat, const struct frame *frame,
			     uint8_t *bytes);
/* Writes lengths and IPv4's checksum into the headers, which a frame of LEN bytes begins with. */
void packet_reformat_complete(const struct packet_reformat *reformat, uint8_t *bytes, size_t len);
/* Removes all up to the inner Ethernet header. */
size_t packet_reformat_decap(const struct frame *frame, uint8_t *bytes);

#endif
