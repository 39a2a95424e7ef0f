/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.h - the whole contract between libibverbs and a provider.
 *
 * A provider is a shared object lib<name>-rdmakit<abi>.so in the plugin directory (or is linked
 * statically). It registers one struct verbs_driver; the library matches devices to drivers, asks
 * the driver for a device and a context, and then reaches it through the operations of VERBS_OPS.
 * The provider speaks to the kernel only through the verbs_cmd_*() functions below.
 *
 * Rules for everything here:
 * - Functions return 0 or a positive errno and hand objects out through their last parameter, set
 *   only on success. Operations that a public inline function calls directly (slots OPS and VCTX)
 *   have the public prototype instead.
 * - Whoever detects a fault logs it, at level warn (util/log.h); callers pass it on.
 * - The contract is private to one build: it has its own symbol version node and plugin suffix, and
 *   may change at will.
 */
#ifndef LIBIBVERBS_DRIVER_H
#define LIBIBVERBS_DRIVER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <infiniband/tm_types.h>

#include "util/log.h"

/* ---- 1. Drivers and devices ---- */

struct verbs_pci_id {
	uint16_t vendor, device;
};

/* What discovery knows about a device before any driver is asked. Strings are never NULL. */
struct verbs_device_info {
	char name[IBV_SYSFS_NAME_MAX];        /* "mlx5_0" */
	char uverbs_name[IBV_SYSFS_NAME_MAX]; /* "uverbs0" */
	char uverbs_path[IBV_SYSFS_PATH_MAX]; /* its directory in sysfs */
	char ibdev_path[IBV_SYSFS_PATH_MAX];  /* the infiniband class directory in sysfs */
	char modalias[256];                   /* "pci:v000015B3d00001021...", or "" */
	uint64_t uverbs_dev;                  /* dev_t of the character device */
	uint32_t driver_id;      /* enum rdma_driver_id; RDMA_DRIVER_UNKNOWN when found by sysfs */
	uint32_t abi_version;    /* of the kernel driver's data */
	int index;               /* RDMA netlink device index, -1 when unknown */
	int node_type;           /* enum ibv_node_type */
	uint64_t identity;       /* the inode of its directory in sysfs: see device.c */
	__be64 node_guid;        /* as RDMA netlink says it; 0 when unknown */
	struct verbs_pci_id pci; /* parsed from modalias; zeros when it is not PCI */
};

/* Another library than this project's can load the provider, by a bridge. Its part of a device lies
 * here, and its table of what a driver has at the start of struct verbs_driver. */
#define VERBS_HOST_DEVICE_SIZE 40
#define VERBS_HOST_TABLE_SIZE  72

struct verbs_device {
	struct ibv_device device; /* first: what applications hold */
	const struct verbs_driver *driver;
	char of_host[VERBS_HOST_DEVICE_SIZE];
	struct verbs_device_info info;
	/* The rest is the library's own. The lock of the device list guards refcount, which counts
	 * the lists and contexts that hold the device. */
	unsigned int refcount;
	struct verbs_device *next;
};

/* A call that returns an errno leaves it in errno as well, at the public edge: programs print that,
 * and the library's own refusals come from no system call. */
static inline int verbs_result(int err)
{
	if (__builtin_expect(err > 0, 0))
		errno = err;
	return err;
}

static inline struct verbs_device *to_vdev(struct ibv_device *device)
{
	return (struct verbs_device *)device;
}

#define VERBS_DRIVER_MAGIC 0x33746b61u /* catches a plugin built against another driver.h */

struct verbs_driver {
	/* First, since the device's driver points here. Only a bridge writes it. */
	_Alignas(void *) char of_host[VERBS_HOST_TABLE_SIZE];
	uint32_t magic; /* VERBS_DRIVER_MAGIC */
	const char *name;
	/* A device belongs to the driver when its RDMA netlink driver id equals driver_id, or else
	 * its PCI id is in the list. */
	uint32_t driver_id;                 /* enum rdma_driver_id */
	const struct verbs_pci_id *pci_ids; /* ends with vendor 0; may be NULL */
	uint32_t min_abi, max_abi; /* versions of the kernel driver's data that it speaks */
	/* The call allocates a zeroed object that starts with struct verbs_device; the library
	 * fills that part afterwards. It must not touch the device: listing devices opens
	 * nothing. */
	int (*alloc_device)(const struct verbs_device_info *info, struct verbs_device **vdev);
	void (*free_device)(struct verbs_device *vdev);
	/* The call makes the provider's context around struct verbs_context by
	 * verbs_context_alloc(), and calls verbs_cmd_get_context() and verbs_set_ops(). On failure
	 * it undoes that; cmd_fd stays the caller's. */
	int (*alloc_context)(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
	/* The call allocates a context for a kernel context that exists behind cmd_fd
	 * (ibv_import_device), with verbs_cmd_query_context() in place of verbs_cmd_get_context().
	 * It is NULL in a provider that does not offer it. */
	int (*import_context)(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
	/* The call does as alloc_context, in a way that a call of the provider's own asks for by
	 * HOW (verbs_open_device_as()). It is NULL in a provider without such. */
	int (*alloc_context_as)(struct verbs_device *vdev, int cmd_fd, const void *how,
				struct verbs_context **vctx);
	/* The call undoes any of them, with verbs_context_free() at the end. The library closes
	 * cmd_fd afterwards. */
	void (*free_context)(struct verbs_context *vctx);
};

/* A plugin's constructor, which VERBS_DRIVER_REGISTER writes, calls this. The plugin is linked with
 * -z nodelete: nothing takes the registration back. */
void verbs_register_driver(const struct verbs_driver *driver);

/*
 * The driver of a provider is an object named verbs_provider_<name>, which is the name that
 * static programs refer to (see RDMA_STATIC_PROVIDERS in verbs.h). In a shared plugin a constructor
 * registers it; in a static archive the program does.
 *
 *	VERBS_DRIVER(mlx5) = { .magic = VERBS_DRIVER_MAGIC, .name = "mlx5", ... };
 *	VERBS_DRIVER_REGISTER(mlx5)
 */
#define VERBS_DRIVER(drv)                                \
	extern struct verbs_driver verbs_provider_##drv; \
	struct verbs_driver verbs_provider_##drv
#ifdef VERBS_STATIC_PROVIDER
#define VERBS_DRIVER_REGISTER(drv)
#else
#define VERBS_DRIVER_REGISTER(drv)                                           \
	static void __attribute__((constructor)) register_driver_##drv(void) \
	{                                                                    \
		verbs_register_driver(&verbs_provider_##drv);                \
	}
#endif

/* ---- 2. Objects ---- */
/* Where the library keeps state beside a public object, the provider embeds the wrapper; elsewhere
 * it embeds the public struct. The provider allocates (zeroed) and frees; verbs_cmd_create_*() and
 * friends fill the public part, locks included, before the kernel can raise an event for the
 * object, and verbs_cmd_destroy_*() takes it down. */

/* The distribution's library, below which a bridge puts a provider, looks at some of these. */
enum verbs_mr_kind {
	VERBS_MR_USER = 0, /* memory of this process */
	VERBS_MR_NULL = 1, /* ibv_alloc_null_mr */
	VERBS_MR_IMPORTED = 2,
	VERBS_MR_DMABUF = 3,
	VERBS_MR_DM = 4, /* device memory, which that library has no number for */
};

struct verbs_mr {
	struct ibv_mr mr;
	enum verbs_mr_kind kind;
	unsigned int access;
};

struct verbs_cq {
	union { /* ibv_cq is a prefix of ibv_cq_ex by ABI */
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
	/* A provider that wants more entries from the kernel than attr->cqe sets this before
	 * verbs_cmd_create_cq(); otherwise it is 0. */
	uint32_t ring_cqe;
};

struct verbs_qp {
	union { /* ibv_qp is a prefix of ibv_qp_ex by ABI */
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t ex; /* VERBS_QP_HAS_EX or 0: see verbs_qp_set_ex() */
};

#define VERBS_QP_HAS_EX 2u

struct verbs_srq {
	struct ibv_srq srq;
	enum ibv_srq_type type;
	uint32_t srq_num;      /* as remote XRC senders name it; 0 when the kernel has none */
	struct ibv_xrcd *xrcd; /* of type XRC */
	struct ibv_cq *cq;     /* of types XRC and TM */
	/* A provider that wants more from the kernel than attr->attr sets these before
	 * verbs_cmd_create_srq(); otherwise they are 0. */
	uint32_t ring_wr, ring_sge;
};

/* Objects whose public struct has no room for the kernel's handle. */
struct verbs_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t handle;
};

struct verbs_flow_action {
	struct ibv_flow_action action;
	uint32_t handle;
};

struct verbs_counters {
	struct ibv_counters counters;
	uint32_t handle;
};

/* The library makes and destroys these itself. */
struct verbs_dmah {
	struct ibv_dmah dmah;
	uint32_t handle;
};

static inline struct verbs_dmah *to_vdmah(struct ibv_dmah *dmah)
{
	return (struct verbs_dmah *)dmah;
}

static inline struct verbs_mr *to_vmr(struct ibv_mr *mr)
{
	return (struct verbs_mr *)mr;
}

static inline struct verbs_qp *to_vqp(struct ibv_qp *qp)
{
	return (struct verbs_qp *)qp;
}

static inline struct verbs_srq *to_vsrq(struct ibv_srq *srq)
{
	return (struct verbs_srq *)srq;
}

static inline struct verbs_xrcd *to_vxrcd(struct ibv_xrcd *xrcd)
{
	return (struct verbs_xrcd *)xrcd;
}

static inline struct verbs_flow_action *to_vaction(const struct ibv_flow_action *action)
{
	return (struct verbs_flow_action *)action;
}

static inline struct verbs_counters *to_vcounters(const struct ibv_counters *counters)
{
	return (struct verbs_counters *)counters;
}

/* Every context is extended, so this never is NULL (the public verbs_get_ctx() can be). */
static inline struct verbs_context *to_vctx(struct ibv_context *context)
{
	return (struct verbs_context *)((char *)context - offsetof(struct verbs_context, context));
}

/* ---- 3. Operations ---- */
/*
 * VERBS_OPS is the one list of what a provider can do. An entry reads
 *
 *	OP(slot, fail, return type, name, parameters)
 *
 * and the list generates struct verbs_ops, the defaults and verbs_set_ops(). The slot says how
 * programs reach the operation:
 *
 *	OPS	ibv_context.ops.<name>: inline functions of verbs.h call it directly
 *	VCTX	verbs_context.<name>: so they do, in the extended context
 *	LIB	by an exported or extended call: the library checks the input and then calls it
 *
 * An operation that the provider leaves out has a default. Where a comment in the list says so, the
 * default is the plain kernel command, and a provider without driver data for it needs no function
 * of its own. Any other default says that the operation is not supported, in the way that fail
 * names; all but QUIET log one line:
 *
 *	ERRNO	returns EOPNOTSUPP
 *	NEG	returns -EOPNOTSUPP
 *	PTR	returns NULL, errno is EOPNOTSUPP
 *	FD	returns -1, errno is EOPNOTSUPP
 *	QUIET	returns nothing, or 0: nobody waits for an answer
 *
 * The basic and the extended call that create an object are one operation; the library widens the
 * arguments of the basic one:
 *
 *	ibv_create_cq()		create_cq with an ibv_cq_init_attr_ex
 *	ibv_create_qp()		create_qp with an ibv_qp_init_attr_ex, comp_mask _PD
 *	ibv_create_srq()	create_srq with an ibv_srq_init_attr_ex, comp_mask _TYPE and _PD
 */
/* clang-format off */
#define VERBS_OPS(OP) \
	/* --- the data path --- */ \
	OP(OPS, NEG, int, poll_cq, (struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)) \
	OP(OPS, ERRNO, int, req_notify_cq, (struct ibv_cq *cq, int solicited_only)) \
	OP(OPS, ERRNO, int, post_send, \
	   (struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)) \
	OP(OPS, ERRNO, int, post_recv, \
	   (struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)) \
	OP(OPS, ERRNO, int, post_srq_recv, \
	   (struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)) \
	OP(VCTX, ERRNO, int, post_srq_ops, \
	   (struct ibv_srq *srq, struct ibv_ops_wr *wr, struct ibv_ops_wr **bad_wr)) \
	/* cq_event tells that an event of the CQ was read from its channel: mlx5 counts it for \
	 * the next arm. */ \
	OP(LIB, QUIET, void, cq_event, (struct ibv_cq *cq)) \
	/* --- device and port: query_port is by default the plain command --- */ \
	OP(LIB, ERRNO, int, query_device_ex, \
	   (struct ibv_context *context, const struct ibv_query_device_ex_input *input, \
	    struct ibv_device_attr_ex *attr, size_t attr_size)) \
	OP(VCTX, ERRNO, int, query_port, \
	   (struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr, \
	    size_t attr_size)) \
	OP(VCTX, ERRNO, int, query_rt_values, \
	   (struct ibv_context *context, struct ibv_values_ex *values)) \
	/* --- protection domains --- */ \
	OP(LIB, ERRNO, int, alloc_pd, (struct ibv_context *context, struct ibv_pd **pd)) \
	OP(LIB, ERRNO, int, dealloc_pd, (struct ibv_pd *pd)) \
	/* An import makes a second object over the kernel's HANDLE; unimport frees that \
	 * object, and runs no command. */ \
	OP(LIB, ERRNO, int, import_pd, \
	   (struct ibv_context *context, uint32_t handle, struct ibv_pd **pd)) \
	OP(LIB, QUIET, void, unimport_pd, (struct ibv_pd *pd)) \
	OP(VCTX, PTR, struct ibv_td *, alloc_td, \
	   (struct ibv_context *context, struct ibv_td_init_attr *attr)) \
	OP(VCTX, ERRNO, int, dealloc_td, (struct ibv_td *td)) \
	OP(VCTX, PTR, struct ibv_pd *, alloc_parent_domain, \
	   (struct ibv_context *context, struct ibv_parent_domain_init_attr *attr)) \
	/* --- memory: advise_mr is by default the plain command --- */ \
	OP(LIB, ERRNO, int, reg_mr, \
	   (struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access, \
	    struct verbs_mr **vmr)) \
	OP(LIB, ERRNO, int, reg_dmabuf_mr, \
	   (struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, \
	    unsigned int access, struct verbs_mr **vmr)) \
	/* reg_mr_ex serves ibv_reg_mr_ex() with a DMA handle; without one that is reg_mr or \
	 * reg_dmabuf_mr. The library has checked attr: either addr counts, or fd and fd_offset \
	 * do, and iova is set. */ \
	OP(LIB, ERRNO, int, reg_mr_ex, \
	   (struct ibv_pd *pd, const struct ibv_mr_init_attr *attr, struct verbs_mr **vmr)) \
	/* The library has checked flags, addr and length of rereg_mr; what flags do not name \
	 * is unspecified. */ \
	OP(LIB, ERRNO, int, rereg_mr, \
	   (struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length, \
	    unsigned int access)) \
	OP(LIB, ERRNO, int, dereg_mr, (struct verbs_mr *vmr)) \
	OP(LIB, ERRNO, int, import_mr, \
	   (struct ibv_pd *pd, uint32_t handle, struct verbs_mr **vmr)) \
	OP(LIB, QUIET, void, unimport_mr, (struct verbs_mr *vmr)) \
	OP(VCTX, PTR, struct ibv_mr *, alloc_null_mr, (struct ibv_pd *pd)) \
	OP(VCTX, ERRNO, int, advise_mr, \
	   (struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags, \
	    struct ibv_sge *sg_list, uint32_t num_sge)) \
	OP(VCTX, PTR, struct ibv_dm *, alloc_dm, \
	   (struct ibv_context *context, struct ibv_alloc_dm_attr *attr)) \
	OP(VCTX, ERRNO, int, free_dm, (struct ibv_dm *dm)) \
	OP(LIB, ERRNO, int, import_dm, \
	   (struct ibv_context *context, uint32_t handle, struct ibv_dm **dm)) \
	OP(LIB, QUIET, void, unimport_dm, (struct ibv_dm *dm)) \
	OP(VCTX, FD, int, dm_export_dmabuf_fd, (struct ibv_dm *dm)) \
	OP(VCTX, PTR, struct ibv_mr *, reg_dm_mr, \
	   (struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset, size_t length, \
	    unsigned int access)) \
	OP(OPS, PTR, struct ibv_mw *, alloc_mw, (struct ibv_pd *pd, enum ibv_mw_type type)) \
	OP(OPS, ERRNO, int, bind_mw, \
	   (struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)) \
	OP(OPS, ERRNO, int, dealloc_mw, (struct ibv_mw *mw)) \
	/* --- completion queues: modify_cq is by default the plain command --- */ \
	OP(LIB, ERRNO, int, create_cq, \
	   (struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr, \
	    struct verbs_cq **vcq)) \
	OP(LIB, ERRNO, int, resize_cq, (struct ibv_cq *cq, int cqe)) \
	OP(LIB, ERRNO, int, destroy_cq, (struct ibv_cq *cq)) \
	OP(VCTX, ERRNO, int, modify_cq, (struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)) \
	/* --- queue pairs: attach_mcast and detach_mcast are by default the plain commands --- */ \
	/* create_qp writes the granted capacities back to attr->cap. */ \
	OP(LIB, ERRNO, int, create_qp, \
	   (struct ibv_context *context, struct ibv_qp_init_attr_ex *attr, struct verbs_qp **vqp)) \
	OP(LIB, ERRNO, int, modify_qp, \
	   (struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)) \
	OP(LIB, ERRNO, int, query_qp, \
	   (struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, \
	    struct ibv_qp_init_attr *init_attr)) \
	OP(LIB, ERRNO, int, destroy_qp, (struct ibv_qp *qp)) \
	OP(LIB, ERRNO, int, set_ece, (struct ibv_qp *qp, struct ibv_ece *ece)) \
	OP(LIB, ERRNO, int, query_ece, (struct ibv_qp *qp, struct ibv_ece *ece)) \
	/* query_qp_data_in_order returns IBV_QUERY_QP_DATA_IN_ORDER_* bits, or 0 when nothing \
	 * is promised. */ \
	OP(LIB, QUIET, int, query_qp_data_in_order, \
	   (struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)) \
	OP(VCTX, ERRNO, int, modify_qp_rate_limit, \
	   (struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)) \
	OP(VCTX, PTR, struct ibv_qp *, open_qp, \
	   (struct ibv_context *context, struct ibv_qp_open_attr *attr)) \
	OP(LIB, ERRNO, int, attach_mcast, \
	   (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)) \
	OP(LIB, ERRNO, int, detach_mcast, \
	   (struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)) \
	/* --- address handles --- */ \
	OP(LIB, ERRNO, int, create_ah, \
	   (struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)) \
	OP(LIB, ERRNO, int, destroy_ah, (struct ibv_ah *ah)) \
	/* --- shared receive queues and XRC domains --- */ \
	/* create_srq writes the granted max_wr and max_sge back to attr->attr. By default \
	 * modify_srq and query_srq are the plain commands, and get_srq_num answers with \
	 * verbs_srq.srq_num. */ \
	OP(LIB, ERRNO, int, create_srq, \
	   (struct ibv_context *context, struct ibv_srq_init_attr_ex *attr, \
	    struct verbs_srq **vsrq)) \
	OP(LIB, ERRNO, int, modify_srq, \
	   (struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask)) \
	OP(LIB, ERRNO, int, query_srq, (struct ibv_srq *srq, struct ibv_srq_attr *attr)) \
	OP(LIB, ERRNO, int, destroy_srq, (struct ibv_srq *srq)) \
	OP(VCTX, ERRNO, int, get_srq_num, (struct ibv_srq *srq, uint32_t *srq_num)) \
	OP(VCTX, PTR, struct ibv_xrcd *, open_xrcd, \
	   (struct ibv_context *context, struct ibv_xrcd_init_attr *attr)) \
	OP(VCTX, ERRNO, int, close_xrcd, (struct ibv_xrcd *xrcd)) \
	/* --- work queues, flows, counters --- */ \
	/* ibv_create_wq() is inline: it sets the WQ's locks, wq_context and events_completed \
	 * after create_wq has returned. */ \
	OP(VCTX, PTR, struct ibv_wq *, create_wq, \
	   (struct ibv_context *context, struct ibv_wq_init_attr *attr)) \
	OP(VCTX, ERRNO, int, modify_wq, (struct ibv_wq *wq, struct ibv_wq_attr *attr)) \
	OP(VCTX, ERRNO, int, destroy_wq, (struct ibv_wq *wq)) \
	OP(VCTX, PTR, struct ibv_rwq_ind_table *, create_rwq_ind_table, \
	   (struct ibv_context *context, struct ibv_rwq_ind_table_init_attr *attr)) \
	OP(VCTX, ERRNO, int, destroy_rwq_ind_table, (struct ibv_rwq_ind_table *table)) \
	OP(VCTX, PTR, struct ibv_flow *, ibv_create_flow, \
	   (struct ibv_qp *qp, struct ibv_flow_attr *attr)) \
	OP(VCTX, ERRNO, int, ibv_destroy_flow, (struct ibv_flow *flow)) \
	OP(VCTX, PTR, struct ibv_flow_action *, create_flow_action_esp, \
	   (struct ibv_context *context, struct ibv_flow_action_esp_attr *attr)) \
	OP(VCTX, ERRNO, int, modify_flow_action_esp, \
	   (struct ibv_flow_action *action, struct ibv_flow_action_esp_attr *attr)) \
	OP(VCTX, ERRNO, int, destroy_flow_action, (struct ibv_flow_action *action)) \
	OP(VCTX, PTR, struct ibv_counters *, create_counters, \
	   (struct ibv_context *context, struct ibv_counters_init_attr *attr)) \
	OP(VCTX, ERRNO, int, destroy_counters, (struct ibv_counters *counters)) \
	OP(VCTX, ERRNO, int, attach_counters_point_flow, \
	   (struct ibv_counters *counters, struct ibv_counter_attach_attr *attr, \
	    struct ibv_flow *flow)) \
	OP(VCTX, ERRNO, int, read_counters, \
	   (struct ibv_counters *counters, uint64_t *values, uint32_t ncounters, uint32_t flags))
/* clang-format on */

struct verbs_ops {
#define VERBS_OP_MEMBER(slot, fail, type, name, params) type(*name) params;
	VERBS_OPS(VERBS_OP_MEMBER)
#undef VERBS_OP_MEMBER
};

/* Installs the non-NULL members of OPS, in the public slots too. A context that learns more about
 * its device may call it again to override some. Until then every operation has its default. */
void verbs_set_ops(struct verbs_context *vctx, const struct verbs_ops *ops);

/* ---- 4. Contexts ---- */

/* The first allocates SIZE zeroed bytes for the provider's context, which has struct verbs_context
 * at OFFSET, fills the public part of that, and installs the default operations. The second undoes
 * that and closes the channel of async events, which an old kernel opens with the context. */
int verbs_context_alloc(struct verbs_device *vdev, int cmd_fd, size_t size, size_t offset,
			struct verbs_context **vctx);
void verbs_context_free(struct verbs_context *vctx, size_t offset);

/* The provider says that it has filled wr_*, which IBV_QP_INIT_ATTR_SEND_OPS_FLAGS asks for:
 * ibv_qp_to_qp_ex() returns &qp_ex then. */
void verbs_qp_set_ex(struct verbs_qp *vqp);

/* ---- 5. Kernel commands ---- */
/*
 * A command is a list of attributes, written down once:
 *
 *	const struct verbs_attr attrs[] = {
 *		verbs_attr_new_handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, &uar->handle),
 *		verbs_attr_u32(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type),
 *		verbs_attr_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset)),
 *	};
 *	ret = verbs_cmd_run(context, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC,
 *			    attrs, ARRAY_SIZE(attrs));
 *
 * verbs_cmd_run() returns the kernel's errno; EPROTONOSUPPORT is "this kernel has no such object or
 * method".
 */
enum verbs_attr_kind {
	VERBS_ATTR_SKIP, /* not part of the command: an attribute that ?: leaves out */
	VERBS_ATTR_VALUE,
	VERBS_ATTR_OUT,
	VERBS_ATTR_HANDLE,
	VERBS_ATTR_FD,
	/* What stands in the attributes above is what the kernel gets. */
	VERBS_ATTR_IN,
	VERBS_ATTR_NEW_HANDLE,
	VERBS_ATTR_NEW_FD,
};

/* An attribute lies as the kernel has it (struct ib_uverbs_attr), but for the kind. */
struct verbs_attr {
	uint16_t id;
	uint16_t len;
	uint16_t how;   /* enum verbs_attr_kind, 8 bits higher; and VERBS_ATTR_MUST */
	uint8_t elem;   /* of an enumerated attribute (flow action keymats...), else 0 */
	uint8_t unused; /* 0 */
	uint64_t value; /* VALUE, HANDLE, FD: itself; otherwise the address of the data */
};

#define VERBS_ATTR_MUST      1 /* a kernel that does not know it refuses the command */
#define VERBS_ATTR_HOW(kind) ((uint16_t)((kind) << 8 | VERBS_ATTR_MUST))

static inline enum verbs_attr_kind verbs_attr_kind(const struct verbs_attr *attr)
{
	return (enum verbs_attr_kind)(attr->how >> 8);
}

static inline struct verbs_attr verbs_attr_skip(void)
{
	return (struct verbs_attr){ .how = VERBS_ATTR_HOW(VERBS_ATTR_SKIP) };
}

/* The kernel reads LEN bytes at DATA, which stay valid until the command has run. */
static inline struct verbs_attr verbs_attr_in(uint16_t id, const void *data, size_t len)
{
	return (struct verbs_attr){ id, (uint16_t)len,  VERBS_ATTR_HOW(VERBS_ATTR_IN), 0,
				    0,  (uintptr_t)data };
}

static inline struct verbs_attr verbs_attr_u32(uint16_t id, uint32_t value)
{
	return (struct verbs_attr){
		id, (uint16_t)sizeof(value), VERBS_ATTR_HOW(VERBS_ATTR_VALUE), 0, 0, value
	};
}

static inline struct verbs_attr verbs_attr_u64(uint16_t id, uint64_t value)
{
	return (struct verbs_attr){
		id, (uint16_t)sizeof(value), VERBS_ATTR_HOW(VERBS_ATTR_VALUE), 0, 0, value
	};
}

/* The kernel's enumerated types and flags arrive as 8 bytes, read as 32 or 64 bits: u64 is always
 * right for them. */
static inline struct verbs_attr verbs_attr_flags(uint16_t id, uint64_t flags)
{
	return verbs_attr_u64(id, flags);
}

/* This is value ELEM of an enumerated type that has no data. */
static inline struct verbs_attr verbs_attr_enum(uint16_t id, uint8_t elem)
{
	return (struct verbs_attr){ id, (uint16_t)0, VERBS_ATTR_HOW(VERBS_ATTR_VALUE), elem, 0, 0 };
}

/* DATA has room for LEN bytes from the kernel. A shorter answer leaves the rest as it was: zero it
 * first. */
static inline struct verbs_attr verbs_attr_out(uint16_t id, void *data, size_t len)
{
	return (struct verbs_attr){ id, (uint16_t)len,  VERBS_ATTR_HOW(VERBS_ATTR_OUT), 0,
				    0,  (uintptr_t)data };
}

/* The first names an object that exists, the second one that the command creates: *handle is
 * written when the command succeeds. */
static inline struct verbs_attr verbs_attr_handle(uint16_t id, uint32_t handle)
{
	return (struct verbs_attr){
		id, (uint16_t)0, VERBS_ATTR_HOW(VERBS_ATTR_HANDLE), 0, 0, handle
	};
}

static inline struct verbs_attr verbs_attr_new_handle(uint16_t id, uint32_t *handle)
{
	return (struct verbs_attr){ id, (uint16_t)0, VERBS_ATTR_HOW(VERBS_ATTR_NEW_HANDLE),
				    0,  0,           (uintptr_t)handle };
}

static inline struct verbs_attr verbs_attr_fd(uint16_t id, int fd)
{
	return (struct verbs_attr){ id, (uint16_t)0, VERBS_ATTR_HOW(VERBS_ATTR_FD),
				    0,  0,           (uint64_t)(int64_t)fd };
}

static inline struct verbs_attr verbs_attr_new_fd(uint16_t id, int *fd)
{
	return (struct verbs_attr){ id, (uint16_t)0, VERBS_ATTR_HOW(VERBS_ATTR_NEW_FD),
				    0,  0,           (uintptr_t)fd };
}

static inline struct verbs_attr verbs_attr_optional(struct verbs_attr attr)
{
	attr.how &= (uint16_t)~VERBS_ATTR_MUST;
	return attr;
}

/* One command has at most this many attributes, those of the driver included. */
#define VERBS_CMD_MAX_ATTRS 32

int verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
		  const struct verbs_attr *attrs, unsigned int nattrs);

/*
 * A short command lies as the kernel reads it and is not copied, for calls that programs make again
 * and again. Its attributes are written in order, without any that is left out; what the kernel
 * creates is read from them:
 *
 *	struct verbs_short cmd;
 *
 *	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE);
 *	ret = verbs_cmd_run_short(context, MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_ALLOC, &cmd,
 *				  1);
 *	handle = (uint32_t)cmd.attrs[0].value;
 */
#define VERBS_SHORT_MAX_ATTRS 8

struct verbs_short {
	/* The kernel's header: verbs_cmd_run_short() writes it. */
	uint16_t length, object, method, count;
	uint64_t zero;
	uint32_t driver, none;
	struct verbs_attr attrs[VERBS_SHORT_MAX_ATTRS];
};

static inline struct verbs_attr verbs_short_attr(uint16_t id, size_t len, uint64_t value)
{
	return (struct verbs_attr){ id, (uint16_t)len, VERBS_ATTR_MUST, 0, 0, value };
}

/* Up to 8 bytes travel inside the attribute, and lie at its start whatever the byte order. */
static inline struct verbs_attr verbs_short_in(uint16_t id, const void *data, size_t len)
{
	struct verbs_attr attr = verbs_short_attr(id, len, (uintptr_t)data);

	if (__builtin_expect(len <= sizeof(attr.value), 0)) {
		attr.value = 0;
		memcpy(&attr.value, data, len);
	}
	return attr;
}

static inline struct verbs_attr verbs_short_u64(uint16_t id, uint64_t value)
{
	return verbs_short_attr(id, sizeof(value), value);
}

static inline struct verbs_attr verbs_short_u32(uint16_t id, uint32_t value)
{
	const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	return verbs_short_attr(id, sizeof(value), is_big ? (uint64_t)value << 32 : value);
}

static inline struct verbs_attr verbs_short_out(uint16_t id, void *data, size_t len)
{
	return verbs_short_attr(id, len, (uintptr_t)data);
}

static inline struct verbs_attr verbs_short_handle(uint16_t id, uint32_t handle)
{
	return verbs_short_attr(id, 0, handle);
}

static inline struct verbs_attr verbs_short_fd(uint16_t id, int fd)
{
	return verbs_short_attr(id, 0, (uint64_t)(int64_t)fd);
}

/* A handle or a descriptor that the command creates: the attribute's value, afterwards. */
static inline struct verbs_attr verbs_short_new(uint16_t id)
{
	return verbs_short_attr(id, 0, 0);
}

/* Runs a command of NATTRS attributes. */
int verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			struct verbs_short *cmd, unsigned int nattrs);

/* Runs a command of one attribute, the object that it destroys. */
static inline int verbs_cmd_run_destroy(struct ibv_context *context, uint16_t object,
					uint16_t method, uint16_t id, uint32_t handle)
{
	struct verbs_short cmd;

	cmd.attrs[0] = verbs_short_handle(id, handle);
	return verbs_cmd_run_short(context, object, method, &cmd, 1);
}

/* Driver data that goes along with a core command. REQ and RESP are the driver's structs of
 * <rdma/mlx5-abi.h> alone, without any core header. The library zeroes RESP before it runs the
 * command, so fields of a shorter (older) answer read as 0. ATTRS are further attributes in the
 * driver's id space. A NULL udata means none of this. */
struct verbs_udata {
	const void *req;
	size_t req_len;
	void *resp;
	size_t resp_len;
	const struct verbs_attr *attrs;
	unsigned int nattrs;
};

/*
 * Commands on core objects. Creation fills the public object as said in section 2 (context, pd,
 * cqs, handle, keys, numbers, state, locks). Destruction first runs the command, then waits until
 * the application has acknowledged every event that it read for the object, then takes the locks
 * down: after it the provider may free the object. When the device is gone they
 * fail with EIO, unless the program has asked that this count as success (see ibv_open_device(3)).
 */
/* Opens DEVICE as ibv_open_device() does, with the driver's alloc_context_as(). */
struct ibv_context *verbs_open_device_as(struct ibv_device *device, const void *how);
int verbs_cmd_get_context(struct verbs_context *vctx, const struct verbs_udata *udata);
/* FDS give the context rights that they stand for; NULL: there are none. The result is
 * EPROTONOSUPPORT on a kernel that does not take them (before Linux 6.15). */
int verbs_cmd_get_context_with(struct verbs_context *vctx, const struct verbs_udata *udata,
			       const struct ibv_fd_arr *fds);
/* Describes the kernel context that exists behind cmd_fd (Linux 5.9). The driver's part is no
 * response but an attribute of its own, in udata->attrs. */
int verbs_cmd_query_context(struct verbs_context *vctx, const struct verbs_udata *udata);

/* Fills ATTR, all of it or as much as ATTR_SIZE holds, from the core's answer; what that lacks is
 * zero and the provider adds it from its response. The text of orig_attr.fw_ver is the provider's
 * to print, from the number in *fw_ver. (The library itself always asks the provider for a whole
 * struct, and shortens it for older programs afterwards.) */
int verbs_cmd_query_device(struct ibv_context *context, struct ibv_device_attr_ex *attr,
			   size_t attr_size, uint64_t *fw_ver, const struct verbs_udata *udata);
int verbs_cmd_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
			 size_t attr_size);

int verbs_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		       const struct verbs_udata *udata);
int verbs_cmd_dealloc_pd(struct ibv_pd *pd);

int verbs_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		     unsigned int access, struct verbs_mr *vmr, const struct verbs_udata *udata);
/* The first registers a dma-buf (Linux 5.12), the second memory that a DMA handle goes with. */
int verbs_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			    int fd, unsigned int access, struct verbs_mr *vmr,
			    const struct verbs_udata *udata);
int verbs_cmd_reg_mr_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr,
			struct verbs_mr *vmr, const struct verbs_udata *udata);
int verbs_cmd_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset, size_t length,
			unsigned int access, struct verbs_mr *vmr, const struct verbs_udata *udata);
/* Updates the keys; the library updates pd, addr and length. FLAGS are IBV_REREG_MR_*. */
int verbs_cmd_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
		       size_t length, uint64_t iova, unsigned int access,
		       const struct verbs_udata *udata);
/* Fills VMR from the MR that HANDLE names (ibv_import_mr). */
int verbs_cmd_query_mr(struct ibv_pd *pd, uint32_t handle, struct verbs_mr *vmr);
int verbs_cmd_dereg_mr(struct verbs_mr *vmr);
int verbs_cmd_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
			struct ibv_sge *sg_list, uint32_t num_sge);

int verbs_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		       const struct verbs_udata *udata);
int verbs_cmd_dealloc_mw(struct ibv_mw *mw);

/* Sets context and handle; copying to and from the memory is the provider's. MORE are the
 * provider's attributes, as those of a short command. */
int verbs_cmd_alloc_dm(struct ibv_context *context, const struct ibv_alloc_dm_attr *attr,
		       struct ibv_dm *dm, const struct verbs_attr *more, unsigned int nmore);
int verbs_cmd_free_dm(struct ibv_dm *dm);
/* Makes a dma-buf of the memory that mmap() of cmd_fd maps at byte OFFSET. */
int verbs_cmd_alloc_dmabuf(struct ibv_context *context, uint64_t offset, int *fd);

/* FLAGS are the kernel's (IB_UVERBS_CQ_FLAGS_*). cq->cqe is what the kernel granted: the provider
 * may correct it. */
int verbs_cmd_create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			uint32_t flags, struct verbs_cq *vcq, const struct verbs_udata *udata);
/* cq->cqe becomes what the kernel granted. Call it under the lock that the provider polls with, or
 * otherwise see to it that nobody polls. */
int verbs_cmd_resize_cq(struct ibv_cq *cq, uint32_t cqe, const struct verbs_udata *udata);
int verbs_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int verbs_cmd_destroy_cq(struct ibv_cq *cq);

/* attr->cap comes back as the kernel granted it. */
int verbs_cmd_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			struct verbs_qp *vqp, const struct verbs_udata *udata);
/* On success qp->state follows attr->qp_state. */
int verbs_cmd_modify_qp(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int attr_mask,
			const struct verbs_udata *udata);
int verbs_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		       struct ibv_qp_init_attr *init_attr);
int verbs_cmd_destroy_qp(struct ibv_qp *qp);
/* Opens another handle of an XRC receive QP; verbs_cmd_destroy_qp() closes it. */
int verbs_cmd_open_qp(struct ibv_context *context, const struct ibv_qp_open_attr *attr,
		      struct verbs_qp *vqp, const struct verbs_udata *udata);
int verbs_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int verbs_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

int verbs_cmd_create_ah(struct ibv_pd *pd, const struct ibv_ah_attr *attr, struct ibv_ah *ah,
			const struct verbs_udata *udata);
int verbs_cmd_destroy_ah(struct ibv_ah *ah);

/* attr->attr.max_wr and max_sge come back as the kernel granted them. */
int verbs_cmd_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			 struct verbs_srq *vsrq, const struct verbs_udata *udata);
int verbs_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask);
int verbs_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int verbs_cmd_destroy_srq(struct ibv_srq *srq);

int verbs_cmd_open_xrcd(struct ibv_context *context, const struct ibv_xrcd_init_attr *attr,
			struct verbs_xrcd *vxrcd, const struct verbs_udata *udata);
int verbs_cmd_close_xrcd(struct verbs_xrcd *vxrcd);

/* attr->max_wr and max_sge come back as the kernel granted them. When verbs_cmd_modify_wq()
 * succeeds, wq->state follows. */
int verbs_cmd_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr,
			struct ibv_wq *wq, const struct verbs_udata *udata);
int verbs_cmd_modify_wq(struct ibv_wq *wq, const struct ibv_wq_attr *attr,
			const struct verbs_udata *udata);
int verbs_cmd_destroy_wq(struct ibv_wq *wq);

int verbs_cmd_create_rwq_ind_table(struct ibv_context *context,
				   const struct ibv_rwq_ind_table_init_attr *attr,
				   struct ibv_rwq_ind_table *table,
				   const struct verbs_udata *udata);
int verbs_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table);

int verbs_cmd_create_flow(struct ibv_qp *qp, const struct ibv_flow_attr *attr,
			  struct ibv_flow *flow, const struct verbs_udata *udata);
int verbs_cmd_destroy_flow(struct ibv_flow *flow);

int verbs_cmd_create_flow_action_esp(struct ibv_context *context,
				     const struct ibv_flow_action_esp_attr *attr,
				     struct verbs_flow_action *vaction,
				     const struct verbs_udata *udata);
int verbs_cmd_modify_flow_action_esp(struct verbs_flow_action *vaction,
				     const struct ibv_flow_action_esp_attr *attr,
				     const struct verbs_udata *udata);
int verbs_cmd_destroy_flow_action(struct verbs_flow_action *vaction);

int verbs_cmd_create_counters(struct ibv_context *context,
			      const struct ibv_counters_init_attr *attr,
			      struct verbs_counters *vcounters, const struct verbs_udata *udata);
int verbs_cmd_destroy_counters(struct verbs_counters *vcounters);
int verbs_cmd_read_counters(struct verbs_counters *vcounters, uint64_t *values, uint32_t ncounters,
			    uint32_t flags, const struct verbs_udata *udata);

/* ---- 6. Help ---- */

/* Programs may call these as well, though no public header declares them. The first says where
 * sysfs is mounted; the second reads DIR/FILE into BUF, ends it, strips one newline, and returns
 * its length, or -1 with errno set. */
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
/* These, too: the first keeps memory from the children of fork(), the second undoes that
 * (fork.c). */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

/* Returns what ibv_query_device() says, so that a log line about a refused call can name the limit.
 * It is asked for once per context, by the first call that fails; NULL when it cannot be had. */
const struct ibv_device_attr *verbs_limits(struct ibv_context *context);

/* The driver of an open context, so that direct verbs (mlx5dv_*) can tell their own devices from
 * others. */
static inline const struct verbs_driver *verbs_driver_of(const struct ibv_device *device)
{
	return ((const struct verbs_device *)device)->driver;
}

#endif
