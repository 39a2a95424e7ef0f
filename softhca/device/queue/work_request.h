/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * work_request.h - work requests as the device decodes them, independent of the adapter's layout.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_WORK_REQUEST_H
#define SOFTHCA_DEVICE_QUEUE_WORK_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/fabric.h"

enum { WQE_BYTES_MAX = 1024, WQE_SGE_MAX = 62, RECV_WQE_MAX = 512 };
enum { WQE_AV_COMPACT = 16, WQE_AV_EXTENDED = 48 };

struct wqe_sge {
	uint32_t len, lkey;
	uint64_t addr;
	const uint8_t *data; /* inline data, instead of lkey and addr */
};

struct send_wqe {
	uint8_t opcode;
	uint8_t fence;
	bool signaled, solicited;
	bool on_key;  /* a request on a memory key, such as a UMR; the format executes it */
	bool at_once; /* complete it before the next WQE begins */
	uint16_t index;
	uint16_t bbs;
	uint32_t imm; /* big-endian */
	uint64_t raddr;
	uint32_t rkey;
	uint8_t operand; /* bytes of an atomic's operand: 4 or 8 */
	uint64_t swap_add, compare, swap_mask, compare_mask;
	uint32_t srqn;               /* XRC */
	uint8_t av[WQE_AV_EXTENDED]; /* UD and DC address vector; zeroes behind a compact one */
	uint16_t stream;             /* DC */
	struct wqe_sge from, to;     /* of a memory copy (MMO), instead of sge */
	uint32_t psv;                /* SET_PSV: the PSV and its value */
	uint64_t signature;
	uint64_t length; /* sum over sge */
	unsigned int num_sge;
	struct wqe_sge sge[WQE_SGE_MAX];
};

struct recv_wqe {
	uint64_t length;
	unsigned int num_sge;
	struct wqe_sge sge[WQE_SGE_MAX];
};

#endif
