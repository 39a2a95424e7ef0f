/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bar.h - BAR 0: the initialization segment, and UAR pages behind it.
 */
#ifndef SOFTHCA_VFIO_USER_BAR_H
#define SOFTHCA_VFIO_USER_BAR_H

#include <stdint.h>

#include "softhca/front/vfio-user/cmdq.h"

#define BAR_SIZE (256ull << 20) /* a page for each UAR number there can be */

struct bar {
	struct hca *hca;
	struct cmdq cmdq;
	uint32_t cmdq_high; /* as written; takes effect with the low half */
};

/* OFFSET and LEN lie within BAR_SIZE. */
void bar_read(const struct bar *bar, uint64_t offset, uint8_t *data, uint32_t len);
void bar_write(struct bar *bar, uint64_t offset, const uint8_t *data, uint32_t len);
void bar_reset(struct bar *bar);

#endif
