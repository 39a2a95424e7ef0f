/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kind.h - the kinds of adapters, and how fronts that play the kernel drive one that is not mlx5.
 *
 * Such a front orders by the commands of mlx5 whatever the kind is: they say what the driver wants
 * of an object, and nobody else sees them. What they have no word for is in the fields here, which
 * PRM has as reserved.
 */
#ifndef SOFTHCA_DEVICE_KIND_H
#define SOFTHCA_DEVICE_KIND_H

#include "util/fields.h"

enum hca_kind {
	HCA_MLX5,
	HCA_MLX4,
};

/* CREATE_CQ: CQEs have timestamps */
#define CREATE_CQ_IN_HAS_TIME FLD(0xc, 0, 0)

/* CREATE_QP: log2 of the bytes of a block of sends */
#define CREATE_QP_IN_LOG_BLOCK FLD(0xc, 7, 0)

/* CREATE_MKEY: windows may be bound to the region */
#define CREATE_MKEY_IN_MAY_BIND FLD(0xc, 0, 0)

#endif
