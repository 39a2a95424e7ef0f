/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * segments.h - WQE segments that both kinds of adapters have: data by pointer, remote address,
 * operands of an atomic. Each format knows its other segments and their order.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_SEGMENTS_H
#define SOFTHCA_DEVICE_FORMAT_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "softhca/device/queue/work_request.h"

/* Segments in the WQEs of an opcode. A format may define further ones from PART_OWN on. */
enum segment_part {
	PART_RADDR = 1 << 0,
	PART_ATOMIC = 1 << 1,
	PART_DATA = 1 << 2,
	PART_INLINE = 1 << 3,
	PART_OWN = 1 << 4, /* the first of a format's own parts */
};

/* Returns the LEN bytes at *SEG, and advances *SEG past them. Returns NULL if the WQE, which ends
 * at END, has fewer bytes left. */
const uint8_t *segment_take(const uint8_t **seg, const uint8_t *end, size_t len);
/* Decodes a data segment. Its length 0 stands for 2 GiB. */
struct wqe_sge segment_data(const uint8_t *seg);
void segment_add(struct send_wqe *wqe, const struct wqe_sge *sge);
/* Decodes the remote address and the operands of an atomic, if PARTS (enum segment_part) has them.
 * Returns 0 or the vendor syndrome. */
int segment_remote(const uint8_t **seg, const uint8_t *end, uint8_t parts, struct send_wqe *wqe);

#endif
