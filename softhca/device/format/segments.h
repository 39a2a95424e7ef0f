/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * segments.h - the segments of WQEs that are the same on both kinds of adapters: memory by pointer,
 * the address at the remote side, the operands of an atomic. The formats know what else there is,
 * and in which order.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_SEGMENTS_H
#define SOFTHCA_DEVICE_FORMAT_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "softhca/device/queue/work_request.h"

/* What an opcode's WQEs have; a format may have further parts above these. */
enum segment_part {
	PART_RADDR = 1 << 0,
	PART_ATOMIC = 1 << 1,
	PART_DATA = 1 << 2,
	PART_INLINE = 1 << 3,
	PART_OWN = 1 << 4, /* the first of a format's own */
};

/* Returns the part of LEN bytes at *SEG, which moves on; NULL when the WQE ends before. */
const uint8_t *segment_take(const uint8_t **seg, const uint8_t *end, size_t len);
/* A length of 0 stands for 2 GiB. */
struct wqe_sge segment_data(const uint8_t *seg);
void segment_add(struct send_wqe *wqe, const struct wqe_sge *sge);
/* Decodes what PARTS has of the remote side, and returns 0 or the reason why not. */
int segment_remote(const uint8_t **seg, const uint8_t *end, uint8_t parts, struct send_wqe *wqe);

#endif
