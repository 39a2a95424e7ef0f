/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host.h - the host: the distribution's libibverbs, which loads our provider through this bridge.
 *
 * Tables.cmake generates its structures, host_tables.h, from the tables of a private number. Below
 * are its functions, and declarations that the files of the bridge share.
 */
#ifndef BRIDGE_HOST_H
#define BRIDGE_HOST_H

#include <assert.h>
#include <sys/types.h>
#include <time.h>

#include "libibverbs/private.h"

#include <host_tables.h>

#define HOST_TEXT_OF(number) #number
#define HOST_TEXT(number)    HOST_TEXT_OF(number)
#define HOST_NODE            "IBVERBS_PRIVATE_" HOST_TEXT(HOST_NUMBER)

/* Kinds of match entries */
enum { HOST_MATCH_END = 0, HOST_MATCH_PCI = 1, HOST_MATCH_DRIVER_ID = 3 };

#define HOST_JOIN(name, number) name##number
#define HOST_NAME(name, number) HOST_JOIN(name, number)
#define host_register_driver    HOST_NAME(verbs_register_driver_, HOST_NUMBER)
void host_register_driver(const struct host_device_ops *ops);
/* Allocates SIZE zeroed bytes with a context at the offset AT. */
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t size,
				    struct host_context *at, uint32_t driver_id);
void verbs_uninit_context(struct host_context *context);
void host_set_ops(struct host_context *context, const struct host_context_ops *ops);
struct ibv_context *verbs_open_device(struct ibv_device *device, void *how);
struct ibv_qp_ex *host_qp_to_qp_ex(struct ibv_qp *qp);

/* ---- 2. Our objects as the host sees them ---- */

/* In both libraries, a context ends with its public part, struct ibv_context. Our struct has more
 * fields in front of that part, so it begins HOST_CONTEXT_AT bytes before the host's struct. */
#define HOST_CONTEXT_AT \
	(offsetof(struct verbs_context, context) - offsetof(struct host_context, context))

static inline struct host_context *to_host_context(struct verbs_context *vctx)
{
	return (struct host_context *)((char *)vctx + HOST_CONTEXT_AT);
}

static_assert(sizeof(struct verbs_context) == HOST_CONTEXT_AT + sizeof(struct host_context),
	      "both end at the same byte");
static_assert(offsetof(struct verbs_context, sz) ==
		      HOST_CONTEXT_AT + offsetof(struct host_context, sz),
	      "sz");
static_assert(offsetof(struct verbs_context, query_port) ==
		      HOST_CONTEXT_AT + offsetof(struct host_context, query_port),
	      "slots lie at the same distance from the end");

static inline struct host_device *to_host_device(struct verbs_device *vdev)
{
	return (struct host_device *)vdev;
}

static_assert(offsetof(struct verbs_device, driver) == offsetof(struct host_device, ops), "ops");
static_assert(offsetof(struct verbs_device, info) >= sizeof(struct host_device), "device");
static_assert(sizeof(struct host_device_ops) == VERBS_HOST_TABLE_SIZE, "table of a driver");
static_assert(offsetof(struct verbs_driver, of_host) == 0, "the device's driver points to it");
static_assert(offsetof(struct verbs_mr, kind) == offsetof(struct host_mr, mr_type), "kind");
static_assert(offsetof(struct verbs_mr, access) == offsetof(struct host_mr, access), "access");
/* bridge/tables/ has no struct ibv_buf, because no header declares it, so its layout is checked
 * here. */
static_assert(offsetof(struct ibv_buf, size) == 8, "size of a buffer");
static_assert(offsetof(struct ibv_buf, pd) == 16, "PD of a buffer");
static_assert(offsetof(struct ibv_buf, dmabuf_fd) == 24, "dma-buf of a buffer");

/* release.c: returns whether this bridge was built for the host, and no other library of the
 * provider is loaded. Logs the reason if it returns false. */
bool bridge_fits(const char *provider);
/* Offset in a QP where the host looks for VERBS_QP_HAS_EX */
extern size_t bridge_qp_mask_at;

/* ops.c: installs our operations in a context with default operations. */
int bridge_ops_install(struct verbs_context *vctx);

struct host_context *bridge_context_alloc(struct ibv_device *device, int cmd_fd, void *how);
struct host_context *bridge_context_import(struct ibv_device *device, int cmd_fd);
void bridge_context_free(struct ibv_context *context);

#endif
