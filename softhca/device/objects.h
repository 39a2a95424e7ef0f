/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.h - the kinds of objects that an adapter has. Each has a table from numbers to objects.
 *
 * The list has for each kind the table's name, the first number, the limit, and how an object is
 * freed. From it follow the tables of struct hca (core.h), their creation and end (objects.c), and
 * the counts (count.c, uctx.c). Ethernet has a list of its own (eth/eth.h).
 *
 * Objects are freed in this order, each before those that it uses. OF_USER lists kinds that a user
 * must have destroyed before it leaves (uctx.c), NUMBERED those of them that software numbers on
 * mlx4, from 0 on. PAGE is a doorbell page, numbered likewise, USER a user.
 */
#ifndef SOFTHCA_DEVICE_OBJECTS_H
#define SOFTHCA_DEVICE_OBJECTS_H

/* clang-format off */
#define HCA_OBJECTS(OF_USER, NUMBERED, PAGE, USER) \
	NUMBERED(qps, first_qp(hca), hca->config.limits.max_qp, qp_free(hca, object)) \
	OF_USER(dcts, first_dct(hca), 1 << LOG_MAX_DCT, dct_free(hca, object)) \
	NUMBERED(cqs, first_cq(hca), hca->config.limits.max_cq, cq_free(object)) \
	NUMBERED(eqs, 1, 255, eq_free(object)) \
	NUMBERED(mkeys, first_mkey(hca), hca->config.limits.max_mkey, mkey_free(object)) \
	OF_USER(ste_blocks, 1, 1 << STE_MEMORY_LOG_BLOCKS, ste_memory_free(object)) \
	OF_USER(psvs, 1, 1 << PSV_LOG_MAX, free(object)) \
	OF_USER(deks, 1, 1 << DEK_LOG_MAX, dek_free(object)) \
	OF_USER(logins, 1, LOGINS_MAX, free(object)) \
	NUMBERED(srqs, 1, 1 << LOG_MAX_SRQ, srq_free(object)) \
	PAGE(uars, first_page(hca), num_pages(hca), uar_free(hca, object)) \
	NUMBERED(pds, 1, hca->config.limits.max_pd, free(object)) \
	OF_USER(tds, 1, 1 << 10, free(object)) \
	NUMBERED(xrcds, 1, 1 << LOG_MAX_XRCD, free(object)) \
	OF_USER(umems, 1, 1 << UMEM_LOG_MAX, umem_free(object)) \
	OF_USER(av_mappings, 1, AV_MAPPINGS, free(object)) \
	USER(uctxs, 1, UCTX_MAX, free(object)) \
	OF_USER(scheds, 1, 1 << SCHED_LOG_ELEMENTS, free(object)) \
	/* Reserved ranges of QP numbers, without memory of their own. */ \
	OF_USER(qpn_ranges, RESERVED_QPN_FIRST >> RESERVED_QPNS_LOG, RESERVED_QPN_RANGES, (void)object)

/* Calls KIND for every kind of object. */
#define HCA_EACH_OBJECT(KIND) HCA_OBJECTS(KIND, KIND, KIND, KIND)
/* clang-format on */

struct hca;

void objects_init(struct hca *hca);
void objects_free(struct hca *hca);

#endif
