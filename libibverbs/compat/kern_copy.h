/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kern_copy.h - converts the kernel's attributes to those of verbs.h and back. Exported since the
 * first release, although no public header declares them: librdmacm of other builds calls them.
 * This project's librdmacm has its own functions (librdmacm/attr.c), which a unit test compares
 * with these.
 */
#ifndef LIBIBVERBS_COMPAT_KERN_COPY_H
#define LIBIBVERBS_COMPAT_KERN_COPY_H

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);
/* Leaves qp_state of DST unchanged. */
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src);

#endif
