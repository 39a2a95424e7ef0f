/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * work_request.h - send WQEs and completions of frame queues as the device decodes and reports
 * them, independent of the adapter's layout.
 */
#ifndef SOFTHCA_DEVICE_ETH_WORK_REQUEST_H
#define SOFTHCA_DEVICE_ETH_WORK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/queue/work_request.h"

struct eth_arrival;

/* A decoded send WQE. The frame is HEADER, which points into the WQE, and then the bytes of SGE. */
struct frame_send {
	uint8_t opcode; /* WQE_NOP, WQE_SEND, WQE_LSO or WQE_UMR */
	bool signaled;
	bool fill_l3, fill_l4;
	uint16_t mss;
	uint16_t tpid; /* of the VLAN tag to insert, or 0 */
	uint16_t tci;
	bool has_mac; /* mlx4: the WQE repeats the destination address */
	uint8_t mac[6];
	const uint8_t *header;
	uint32_t header_len;
	uint64_t length; /* sum over sge */
	unsigned int num_sge;
	struct wqe_sge sge[WQE_SGE_MAX];
};

struct frame_completion {
	uint8_t opcode;                    /* enum cqe_opcode */
	uint8_t syndrome, vendor_syndrome; /* of error CQEs */
	uint8_t send_opcode;
	uint16_t wqe_counter;
	const struct eth_arrival *arrival;
	bool stripped; /* the first VLAN tag was removed and is in the CQE */
	uint16_t sum;  /* checksum of the bytes delivered behind the Ethernet header */
	/* For striding queues. There wqe_counter is the frame's first stride in the WQE. */
	bool filler;
	uint32_t strides; /* strides that the frame took; 0: not a striding queue */
	uint16_t wqe_id;
};

#endif
