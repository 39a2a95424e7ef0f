/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * work_request.h - work requests on queues of frames as the device knows them, and their
 * completions: what a format decodes and encodes.
 */
#ifndef SOFTHCA_DEVICE_ETH_WORK_REQUEST_H
#define SOFTHCA_DEVICE_ETH_WORK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/queue/work_request.h"

struct eth_arrival;

/* The struct is a decoded send WQE: headers first, then the bytes that segments describe. */
struct frame_send {
	uint8_t opcode; /* WQE_NOP, WQE_SEND, WQE_LSO or WQE_UMR */
	bool signaled;
	bool fill_l3, fill_l4; /* checksums */
	uint16_t mss;
	uint16_t tpid; /* of a tag to insert, or 0 */
	uint16_t tci;
	bool has_mac; /* mlx4: the WQE says for itself whom the frame is for */
	uint8_t mac[6];
	const uint8_t *header;
	uint32_t header_len;
	uint64_t length; /* of all sges */
	unsigned int num_sge;
	struct wqe_sge sge[WQE_SGE_MAX];
};

/* The struct holds what a CQE of such a queue says. */
struct frame_completion {
	uint8_t opcode;                    /* enum cqe_opcode */
	uint8_t syndrome, vendor_syndrome; /* of errors */
	uint8_t send_opcode;               /* the WQE's */
	uint16_t wqe_counter;
	/* These fields are valid for a frame that was received. */
	const struct eth_arrival *arrival;
	bool stripped; /* the first VLAN tag is in the CQE only */
	uint16_t sum;  /* of what was delivered behind the Ethernet header */
	/* These fields are valid for a striding queue, whose wqe_counter is a stride. */
	bool filler;
	uint32_t strides; /* that it took; 0: the queue is another one */
	uint16_t wqe_id;
};

#endif
