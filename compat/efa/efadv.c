/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * efadv.c - libefa.so.1 for machines without an EFA adapter.
 *
 * Some programs, perftest among them, are linked with this library whether or not they ever meet such an adapter. The
 * distribution's build of it is a provider that needs the private interface of the distribution's libibverbs, and so
 * does not load beside ours. This one has the public calls only, and each says that the device does not support it.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define EXPORT __attribute__((visibility("default")))

struct efadv_ah_attr;
struct efadv_cq;
struct efadv_cq_init_attr;
struct efadv_device_attr;
struct efadv_qp_init_attr;

static void *unsupported(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

EXPORT struct ibv_qp *efadv_create_driver_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
					     uint32_t driver_qp_type)
{
	(void)pd, (void)attr, (void)driver_qp_type;
	return unsupported();
}

EXPORT struct ibv_qp *efadv_create_qp_ex(struct ibv_context *context,
					 struct ibv_qp_init_attr_ex *attr,
					 struct efadv_qp_init_attr *efa_attr, uint32_t inlen)
{
	(void)context, (void)attr, (void)efa_attr, (void)inlen;
	return unsupported();
}

EXPORT int efadv_query_device(struct ibv_context *context, struct efadv_device_attr *attr,
			      uint32_t inlen)
{
	(void)context, (void)attr, (void)inlen;
	return EOPNOTSUPP;
}

EXPORT int efadv_query_ah(struct ibv_ah *ah, struct efadv_ah_attr *attr, uint32_t inlen)
{
	(void)ah, (void)attr, (void)inlen;
	return EOPNOTSUPP;
}

EXPORT struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context,
					 struct ibv_cq_init_attr_ex *attr,
					 struct efadv_cq_init_attr *efa_attr, uint32_t inlen)
{
	(void)context, (void)attr, (void)efa_attr, (void)inlen;
	return unsupported();
}

EXPORT struct efadv_cq *efadv_cq_from_ibv_cq_ex(struct ibv_cq_ex *cq)
{
	(void)cq;
	return unsupported();
}
