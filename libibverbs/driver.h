/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.h - the whole contract between libibverbs and a provider.
 *
 * A provider is a shared object lib<name>-rdmakit<abi>.so in the plugin directory, or is linked
 * statically. It registers one struct verbs_driver. The library matches devices to drivers, lets
 * the driver create a device and a context, and then calls it through the operations of VERBS_OPS.
 * The provider accesses the kernel only through the verbs_cmd_*() functions below.
 *
 * Rules for everything here:
 * - Functions return 0 or a positive errno, and return objects through their last parameter, which
 *   is set only on success. Operations that a public inline function calls directly (slots OPS and
 *   VCTX) have the public prototype instead.
 * - A fault is logged where it is detected, at level warn (util/log.h); callers pass it on.
 * - The contract is private to one build: it has its own symbol version node and plugin suffix, and
 *   may change at any time.
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

/* Facts about a device that discovery finds before a driver is involved. Strings are never NULL, so
 * that drivers can compare them unchecked. */
struct verbs_device_info {
	char name[IBV_SYSFS_NAME_MAX];        /* "mlx5_0" */
	char uverbs_name[IBV_SYSFS_NAME_MAX]; /* "uverbs0" */
	char uverbs_path[IBV_SYSFS_PATH_MAX]; /* the uverbs device's directory in sysfs */
	char ibdev_path[IBV_SYSFS_PATH_MAX];  /* the infiniband class directory in sysfs */
	char modalias[256];                   /* "pci:v000015B3d00001021...", or "" */
	uint64_t uverbs_dev;                  /* dev_t of the character device */
	/* enum rdma_driver_id; RDMA_DRIVER_UNKNOWN if sysfs found the device, as it names no
	 * driver */
	uint32_t driver_id;
	uint32_t abi_version; /* version of the kernel driver's data */
	int index;            /* RDMA netlink device index; -1: unknown, as sysfs names no index */
	int node_type;
	uint64_t identity;       /* inode of the device's directory in sysfs: see device.c */
	__be64 node_guid;        /* from RDMA netlink; 0: unknown */
	struct verbs_pci_id pci; /* parsed from modalias; zeros if not PCI */
};

/* Sizes of the areas reserved for another library that loads the provider by a bridge: in a device,
 * and at the start of struct verbs_driver. */
#define VERBS_HOST_DEVICE_SIZE 40
#define VERBS_HOST_TABLE_SIZE  72

struct verbs_device {
	struct ibv_device device; /* first: returned to applications */
	const struct verbs_driver *driver;
	union {
		char of_host[VERBS_HOST_DEVICE_SIZE];
		/* Only in the object of another library's provider (foreign/), which has no fields
		 * below this union. A host's struct has padding at mark, which stays 0. */
		struct {
			uint32_t refcount_of_host, mark;
			struct verbs_device *vdev;
		} foreign;
	};
	struct verbs_device_info info;
	struct ibv_device *seen; /* what programs get: &device, or another library's object */
	/* The library's own part. The lock of the device list guards refcount, the number of lists
	 * and contexts that refer to the device. */
	unsigned int refcount;
	struct verbs_device *next;
};

/* Returns ERR, and also sets errno to ERR: programs may print errno, and a refusal by the library
 * itself has not set it. */
static inline int verbs_result(int err)
{
	if (__builtin_expect(err > 0, 0))
		errno = err;
	return err;
}

#define VERBS_DEVICE_IS_FOREIGN 0x6e676966u

static inline struct verbs_device *to_vdev(struct ibv_device *device)
{
	struct verbs_device *vdev = (struct verbs_device *)device;

	return vdev->foreign.mark == VERBS_DEVICE_IS_FOREIGN ? vdev->foreign.vdev : vdev;
}

/* detects a plugin built against another driver.h, whose structs and tables would not match */
#define VERBS_DRIVER_MAGIC 0x35746b61u

struct verbs_driver {
	/* First, because the driver pointer of a device points here. Only a bridge writes it. */
	_Alignas(void *) char of_host[VERBS_HOST_TABLE_SIZE];
	uint32_t magic;
	const char *name;
	/* A device belongs to the driver if its RDMA netlink driver id equals driver_id, or else if
	 * its PCI id is in the list. */
	uint32_t driver_id;
	const struct verbs_pci_id *pci_ids; /* ends with vendor 0; may be NULL */
	uint32_t min_abi, max_abi;          /* supported versions of the kernel driver's data */
	/* Set for devices that verbs_device_offer() lists: they have no character device, and their
	 * cmd_fd is -1. */
	bool has_no_node;
	/* Allocates a zeroed object that starts with struct verbs_device, which the library then
	 * fills in. Must not access the device, because listing devices opens none. */
	int (*alloc_device)(const struct verbs_device_info *info, struct verbs_device **vdev);
	void (*free_device)(struct verbs_device *vdev);
	/* Creates the provider's context around a struct verbs_context: calls
	 * verbs_context_alloc(), verbs_cmd_get_context() and verbs_set_ops(). On failure undoes
	 * everything; cmd_fd remains the caller's. */
	int (*alloc_context)(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
	/* Creates a context for an existing kernel context behind cmd_fd (ibv_import_device), with
	 * verbs_cmd_query_context() instead of verbs_cmd_get_context(). NULL: not supported. */
	int (*import_context)(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
	/* Does what alloc_context() does, with the options HOW that a call of the provider passes
	 * (verbs_open_device_as()). NULL: not supported. */
	int (*alloc_context_as)(struct verbs_device *vdev, int cmd_fd, const void *how,
				struct verbs_context **vctx);
	/* Undoes any of the three functions above, and calls verbs_context_free() at the end. The
	 * library closes cmd_fd afterwards. */
	void (*free_context)(struct verbs_context *vctx);
	/* Only in drivers that foreign/ makes: matches() replaces driver_id and pci_ids, and
	 * alloc_device_of() replaces alloc_device() and sets vdev->seen. */
	bool (*matches)(const struct verbs_driver *driver, const struct verbs_device_info *info);
	int (*alloc_device_of)(const struct verbs_driver *driver,
			       const struct verbs_device_info *info, struct verbs_device **vdev);
};

/* Registers a driver. The plugin's constructor, generated by VERBS_DRIVER_REGISTER, calls it.
 * Nothing unregisters a driver: the plugin is linked with -z nodelete. */
void verbs_register_driver(const struct verbs_driver *driver);

/*
 * A provider's driver is an object named verbs_provider_<name>, the name that static programs refer
 * to (see RDMA_STATIC_PROVIDERS in verbs.h). In a shared plugin, a constructor registers it; a
 * static program registers it itself.
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

/* Makes a list, for ibv_free_device_list(), of a device that the provider itself knows and that
 * discovery does not find. DRIVER need not be registered. Returns EOPNOTSUPP below another library
 * (bridge/). */
int verbs_device_offer(const struct verbs_driver *driver, const struct verbs_device_info *info,
		       struct ibv_device ***list);

/* ---- 2. Objects ---- */
/* If the library keeps state next to a public object, the provider embeds the wrapper struct;
 * otherwise it embeds the public struct. The provider allocates (zeroed) and frees.
 * verbs_cmd_create_*() and similar functions fill in the public part, locks included, before the
 * kernel can raise an event for the object; verbs_cmd_destroy_*() tears it down. */

/* Kinds of regions. The values are those of the distribution's library, which reads some of them
 * when a provider runs below it by a bridge. */
enum verbs_mr_kind {
	VERBS_MR_USER = 0, /* memory of this process */
	VERBS_MR_NULL = 1, /* ibv_alloc_null_mr */
	VERBS_MR_IMPORTED = 2,
	VERBS_MR_DMABUF = 3,
	VERBS_MR_DM = 4, /* device memory; the distribution's library has no value for it */
};

struct verbs_mr {
	struct ibv_mr mr;
	enum verbs_mr_kind kind;
	unsigned int access;
};

struct verbs_cq {
	union { /* by ABI, ibv_cq is a prefix of ibv_cq_ex, so one object serves both */
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
	/* Number of entries to request from the kernel, if not attr->cqe. A provider sets it before
	 * verbs_cmd_create_cq(); 0: unset. */
	uint32_t ring_cqe;
};

struct verbs_qp {
	union { /* by ABI, ibv_qp is a prefix of ibv_qp_ex, so one object serves both */
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t ex; /* VERBS_QP_HAS_EX if verbs_qp_set_ex() was called, otherwise 0 */
};

#define VERBS_QP_HAS_EX 2u

struct verbs_srq {
	struct ibv_srq srq;
	enum ibv_srq_type type;
	uint32_t srq_num;      /* for remote XRC senders; 0: the kernel has assigned none */
	struct ibv_xrcd *xrcd; /* type XRC only */
	struct ibv_cq *cq;     /* types XRC and TM only */
	/* Capacities to request from the kernel, if not those of attr->attr. A provider sets them
	 * before verbs_cmd_create_srq(); 0: unset. */
	uint32_t ring_wr, ring_sge;
};

/* The wrappers below have the kernel's handle, which their public structs lack and commands
 * need. */
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

/* Never returns NULL, because every context here is extended (the public verbs_get_ctx() may). */
static inline struct verbs_context *to_vctx(struct ibv_context *context)
{
	return (struct verbs_context *)((char *)context - offsetof(struct verbs_context, context));
}

/* ---- 3. Operations ---- */
/*
 * VERBS_OPS is the list of a provider's operations. An entry is
 *
 *	OP(slot, fail, return type, name, parameters)
 *
 * The list generates struct verbs_ops, the defaults and verbs_set_ops(). The slot determines how
 * programs reach the operation:
 *
 *	OPS	ibv_context.ops.<name>: inline functions of verbs.h call it directly
 *	VCTX	verbs_context.<name>: the same, in the extended context
 *	LATE	the same, where the context of a distribution's provider may lack the slot
 *	LIB	an exported or extended call checks the input and then calls it
 *
 * An operation that the provider leaves out has a default. If a comment in the list says so, it is
 * the plain kernel command, for providers without driver data for it. Any other default reports
 * that the operation is not supported, as fail determines; all but QUIET log a line:
 *
 *	ERRNO	returns EOPNOTSUPP
 *	NEG	returns -EOPNOTSUPP
 *	PTR	returns NULL, errno is EOPNOTSUPP
 *	FD	returns -1, errno is EOPNOTSUPP
 *	QUIET	returns nothing, or 0: the caller needs no result
 *
 * The basic and the extended call that create an object use the same operation; the library
 * converts the arguments of the basic call:
 *
 *	ibv_create_cq()		create_cq with an ibv_cq_init_attr_ex
 *	ibv_create_qp()		create_qp with an ibv_qp_init_attr_ex, comp_mask _PD
 *	ibv_create_srq()	create_srq with an ibv_srq_init_attr_ex, comp_mask _TYPE and _PD
 */
/* clang-format off */
#define VERBS_OPS(OP) \
	/* --- data path --- */ \
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
	OP(LATE, FD, int, dm_export_dmabuf_fd, (struct ibv_dm *dm)) \
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

/* Installs the non-NULL members of OPS, also in the public slots. A provider may call it again to
 * replace some operations, when a context learns more about its device. Until the first call, every
 * operation has its default. */
void verbs_set_ops(struct verbs_context *vctx, const struct verbs_ops *ops);

/* ---- 4. Contexts ---- */

/* verbs_context_alloc() allocates SIZE zeroed bytes for the provider's context, with a struct
 * verbs_context at OFFSET, fills in the public part, and installs the default operations.
 * verbs_context_free() undoes that, and closes the channel of async events, which old kernels open
 * with the context. */
int verbs_context_alloc(struct verbs_device *vdev, int cmd_fd, size_t size, size_t offset,
			struct verbs_context **vctx);
void verbs_context_free(struct verbs_context *vctx, size_t offset);

/* Marks that the provider has filled in wr_*, as requested by IBV_QP_INIT_ATTR_SEND_OPS_FLAGS:
 * ibv_qp_to_qp_ex() then returns &qp_ex. */
void verbs_qp_set_ex(struct verbs_qp *vqp);

/* ---- 5. Kernel commands ---- */
/*
 * A command is a list of attributes:
 *
 *	const struct verbs_attr attrs[] = {
 *		verbs_attr_new_handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, &uar->handle),
 *		verbs_attr_u32(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type),
 *		verbs_attr_out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset)),
 *	};
 *	ret = verbs_cmd_run(context, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC,
 *			    attrs, ARRAY_SIZE(attrs));
 *
 * verbs_cmd_run() returns the kernel's errno; EPROTONOSUPPORT means that the kernel has no such
 * object or method.
 */
enum verbs_attr_kind {
	VERBS_ATTR_SKIP, /* not part of the command: lets ?: leave out an attribute */
	VERBS_ATTR_VALUE,
	VERBS_ATTR_OUT,
	VERBS_ATTR_HANDLE,
	VERBS_ATTR_FD,
	/* The kernel gets attributes of the kinds above unchanged. */
	VERBS_ATTR_IN,
	VERBS_ATTR_NEW_HANDLE,
	VERBS_ATTR_NEW_FD,
};

/* An attribute, in the layout of the kernel's struct ib_uverbs_attr except for the kind. */
struct verbs_attr {
	uint16_t id;
	uint16_t len;
	uint16_t how;   /* enum verbs_attr_kind << 8, and VERBS_ATTR_MUST */
	uint8_t elem;   /* element of an enumerated attribute (flow action keymats...), else 0 */
	uint8_t unused; /* 0 */
	uint64_t value; /* VALUE, HANDLE, FD: the value; otherwise the address of the data */
};

#define VERBS_ATTR_MUST      1 /* a kernel that does not know the attribute refuses the command */
#define VERBS_ATTR_HOW(kind) ((uint16_t)((kind) << 8 | VERBS_ATTR_MUST))

static inline enum verbs_attr_kind verbs_attr_kind(const struct verbs_attr *attr)
{
	return (enum verbs_attr_kind)(attr->how >> 8);
}

static inline struct verbs_attr verbs_attr_skip(void)
{
	return (struct verbs_attr){ .how = VERBS_ATTR_HOW(VERBS_ATTR_SKIP) };
}

/* Input: LEN bytes at DATA, which must stay valid until the command has run. */
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

/* Flags or an enumeration: the kernel takes these as 8 bytes, even if it reads only 32 bits. */
static inline struct verbs_attr verbs_attr_flags(uint16_t id, uint64_t flags)
{
	return verbs_attr_u64(id, flags);
}

/* Output: LEN bytes at DATA. A shorter answer leaves the rest unchanged, so zero it first. */
static inline struct verbs_attr verbs_attr_out(uint16_t id, void *data, size_t len)
{
	return (struct verbs_attr){ id, (uint16_t)len,  VERBS_ATTR_HOW(VERBS_ATTR_OUT), 0,
				    0,  (uintptr_t)data };
}

/* verbs_attr_handle() names an existing object, verbs_attr_new_handle() one that the command
 * creates: *handle is set when the command succeeds. */
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

/* Limit of attributes per command, including the driver's. */
#define VERBS_CMD_MAX_ATTRS 32

int verbs_cmd_run(struct ibv_context *context, uint16_t object, uint16_t method,
		  const struct verbs_attr *attrs, unsigned int nattrs);

/*
 * A short command is built in the kernel's layout and not copied, for frequent calls. Its
 * attributes are written in order, with none left out; the kernel returns values in them:
 *
 *	struct verbs_short cmd;
 *
 *	cmd.attrs[0] = verbs_short_new(MLX5_IB_ATTR_VAR_OBJ_ALLOC_HANDLE);
 *	ret = verbs_cmd_run_short(context, MLX5_IB_OBJECT_VAR, MLX5_IB_METHOD_VAR_OBJ_ALLOC, &cmd,
 *				  1);
 *	handle = (uint32_t)cmd.attrs[0].value;
 */
#define VERBS_SHORT_MAX_ATTRS 10

struct verbs_short {
	/* The kernel's header, written by verbs_cmd_run_short(). */
	uint16_t length, object, method, count;
	uint64_t zero;
	uint32_t driver, none;
	struct verbs_attr attrs[VERBS_SHORT_MAX_ATTRS];
};

static inline struct verbs_attr verbs_short_attr(uint16_t id, size_t len, uint64_t value)
{
	return (struct verbs_attr){ id, (uint16_t)len, VERBS_ATTR_MUST, 0, 0, value };
}

/* Input. Up to 8 bytes are stored in the attribute, at its start whatever the byte order. */
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

/* A handle or descriptor that the command creates. After the command, the attribute's value is the
 * handle or descriptor. */
static inline struct verbs_attr verbs_short_new(uint16_t id)
{
	return verbs_short_attr(id, 0, 0);
}

int verbs_cmd_run_short(struct ibv_context *context, uint16_t object, uint16_t method,
			struct verbs_short *cmd, unsigned int nattrs);

/* Runs a command whose only attribute is the object to destroy. */
static inline int verbs_cmd_run_destroy(struct ibv_context *context, uint16_t object,
					uint16_t method, uint16_t id, uint32_t handle)
{
	struct verbs_short cmd;

	cmd.attrs[0] = verbs_short_handle(id, handle);
	return verbs_cmd_run_short(context, object, method, &cmd, 1);
}

/* Driver data that accompanies a core command. REQ and RESP are the driver's structs of
 * <rdma/mlx5-abi.h>, without the core's headers. The library zeroes RESP before the command, so
 * that fields missing in an older kernel's answer are 0. ATTRS are further attributes in the
 * driver's id space. A NULL udata means no driver data. */
struct verbs_udata {
	const void *req;
	size_t req_len;
	void *resp;
	size_t resp_len;
	const struct verbs_attr *attrs;
	unsigned int nattrs;
};

/*
 * Commands on core objects. Creation fills in the public object as described in section 2 (context,
 * pd, cqs, handle, keys, numbers, state, locks). Destruction runs the command, waits until the
 * application has acknowledged every event that it read for the object, and then destroys the
 * locks; after it the provider may free the object. If the device is gone, commands fail with EIO,
 * unless the program has asked to count that as success (see ibv_open_device(3)).
 */
/* Opens DEVICE like ibv_open_device(), with the driver's alloc_context_as(). */
struct ibv_context *verbs_open_device_as(struct ibv_device *device, const void *how);
int verbs_cmd_get_context(struct verbs_context *vctx, const struct verbs_udata *udata);
/* FDS grants the context the rights of descriptors; NULL: none. Returns EPROTONOSUPPORT if the
 * kernel does not support that (before Linux 6.15). */
int verbs_cmd_get_context_with(struct verbs_context *vctx, const struct verbs_udata *udata,
			       const struct ibv_fd_arr *fds);
/* Queries the existing kernel context behind cmd_fd (Linux 5.9). The driver's part is an attribute
 * in udata->attrs instead of a response. */
int verbs_cmd_query_context(struct verbs_context *vctx, const struct verbs_udata *udata);

/* Fills in ATTR, as much as ATTR_SIZE holds, from the core's answer. Fields that the core lacks are
 * zero; the provider sets them from its response. The provider also formats orig_attr.fw_ver from
 * the number in *fw_ver. (The library always passes a whole struct to the provider, and shortens it
 * for older programs afterwards.) */
int verbs_cmd_query_device(struct ibv_context *context, struct ibv_device_attr_ex *attr,
			   size_t attr_size, uint64_t *fw_ver, const struct verbs_udata *udata);
int verbs_cmd_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
			 size_t attr_size);

int verbs_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd,
		       const struct verbs_udata *udata);
int verbs_cmd_dealloc_pd(struct ibv_pd *pd);

int verbs_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		     unsigned int access, struct verbs_mr *vmr, const struct verbs_udata *udata);
/* verbs_cmd_reg_dmabuf_mr() registers a dma-buf (Linux 5.12), verbs_cmd_reg_mr_ex() memory with a
 * DMA handle. */
int verbs_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			    int fd, unsigned int access, struct verbs_mr *vmr,
			    const struct verbs_udata *udata);
int verbs_cmd_reg_mr_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr,
			struct verbs_mr *vmr, const struct verbs_udata *udata);
int verbs_cmd_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t dm_offset, size_t length,
			unsigned int access, struct verbs_mr *vmr, const struct verbs_udata *udata);
/* Updates MR's keys; the library updates pd, addr and length. FLAGS are IBV_REREG_MR_*. */
int verbs_cmd_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
		       size_t length, uint64_t iova, unsigned int access,
		       const struct verbs_udata *udata);
int verbs_cmd_query_mr(struct ibv_pd *pd, uint32_t handle, struct verbs_mr *vmr);
int verbs_cmd_dereg_mr(struct verbs_mr *vmr);
int verbs_cmd_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
			struct ibv_sge *sg_list, uint32_t num_sge);

int verbs_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		       const struct verbs_udata *udata);
int verbs_cmd_dealloc_mw(struct ibv_mw *mw);

/* Sets the context and handle of DM; the provider implements copying to and from the memory. MORE
 * are the provider's attributes, as in a short command. */
int verbs_cmd_alloc_dm(struct ibv_context *context, const struct ibv_alloc_dm_attr *attr,
		       struct ibv_dm *dm, const struct verbs_attr *more, unsigned int nmore);
int verbs_cmd_free_dm(struct ibv_dm *dm);
/* Makes a dma-buf of the memory that mmap() of cmd_fd maps at byte OFFSET. */
int verbs_cmd_alloc_dmabuf(struct ibv_context *context, uint64_t offset, int *fd);

/* FLAGS are the kernel's (IB_UVERBS_CQ_FLAGS_*). Sets cq->cqe to the number of entries that the
 * kernel granted, which the provider may correct. */
int verbs_cmd_create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			uint32_t flags, struct verbs_cq *vcq, const struct verbs_udata *udata);
/* Sets cq->cqe to the number of entries that the kernel granted. Call it under the lock for
 * polling, or while no thread can poll. */
int verbs_cmd_resize_cq(struct ibv_cq *cq, uint32_t cqe, const struct verbs_udata *udata);
int verbs_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
int verbs_cmd_destroy_cq(struct ibv_cq *cq);

/* Writes the capacities that the kernel granted to attr->cap. */
int verbs_cmd_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
			struct verbs_qp *vqp, const struct verbs_udata *udata);
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

/* Writes the capacities that the kernel granted to attr->attr.max_wr and attr->attr.max_sge. */
int verbs_cmd_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			 struct verbs_srq *vsrq, const struct verbs_udata *udata);
int verbs_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask);
int verbs_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int verbs_cmd_destroy_srq(struct ibv_srq *srq);

int verbs_cmd_open_xrcd(struct ibv_context *context, const struct ibv_xrcd_init_attr *attr,
			struct verbs_xrcd *vxrcd, const struct verbs_udata *udata);
int verbs_cmd_close_xrcd(struct verbs_xrcd *vxrcd);

/* verbs_cmd_create_wq() writes the capacities that the kernel granted to attr->max_wr and max_sge.
 * verbs_cmd_modify_wq() updates wq->state on success. */
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

/* ---- 6. Providers of other libraries (foreign/) ---- */

/* Completes a zeroed context inside an object of the provider. SIZE is the number of bytes up to
 * the context's end; if less than sizeof(*vctx), the first slots do not exist.
 * verbs_context_cleanup() undoes that. */
int verbs_context_init_sized(struct verbs_context *vctx, struct verbs_device *vdev, int cmd_fd,
			     size_t size);
void verbs_context_cleanup(struct verbs_context *vctx);
void verbs_ops_replace(struct verbs_context *vctx, const struct verbs_ops *ops);
/* Do what verbs_cmd_create_cq() and verbs_cmd_create_srq() do, for an object without struct
 * verbs_cq or verbs_srq. RING_CQE is verbs_cq.ring_cqe; TAIL holds the fields that struct verbs_srq
 * has behind the public SRQ. */
int verbs_cmd_create_bare_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			     uint32_t flags, uint32_t ring_cqe, struct ibv_cq *cq,
			     const struct verbs_udata *udata);
int verbs_cmd_create_bare_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
			      struct ibv_srq *srq, struct verbs_srq *tail,
			      const struct verbs_udata *udata);

/* ---- 7. Help ---- */

/* Exported, although no public header declares these functions, because programs call them.
 * ibv_get_sysfs_path() returns where sysfs is mounted. ibv_read_sysfs_file() reads DIR/FILE into
 * BUF, terminates the text, removes one newline, and returns the length, or -1 with errno. */
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
/* Exported for the same reason: ibv_dontfork_range() excludes memory from the children of fork(),
 * and ibv_dofork_range() undoes that (fork.c). Both return 0, or -1 with errno. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

/* Returns the device's limits, as ibv_query_device() does, for log lines about refused calls. The
 * first call queries the device, once per context. Returns NULL if the query fails. */
const struct ibv_device_attr *verbs_limits(struct ibv_context *context);

/* Returns the driver of an open context, by which direct verbs (mlx5dv_*) recognise their own
 * devices. */
static inline const struct verbs_driver *verbs_driver_of(const struct ibv_device *device)
{
	return ((const struct verbs_device *)device)->driver;
}

#endif
