/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.h - objects that programs create, and the tables of methods that create them. Decision:
 * docs/adr/0052.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_OBJECTS_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_OBJECTS_H

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "softhca/front/process/driver/region.h"
#include "softhca/front/process/uverbs/dmabuf.h"
#include "softhca/front/process/uverbs/events.h"
#include "softhca/front/process/uverbs/uverbs.h"

struct uverbs_pd {
	struct object base;
	uint32_t pdn;
};

/* Memory on the adapter. */
struct uverbs_dm {
	struct object base;
	uint64_t addr;
	uint64_t size, length;      /* in bytes: allocated, and asked for */
	uint32_t first_page, pages; /* pages of the uverbs file */
	bool is_icm;                /* for table entries: no pages; else ICM is unused */
	struct sw_icm *icm;
};

/* Hints for PCI transactions; see dmah.c */
struct uverbs_dmah {
	struct object base;
};

enum mr_kind {
	MR_PINNED,    /* memory that was present at registration */
	MR_ON_DEMAND, /* memory that need only be present when used */
	MR_IMPLICIT,  /* on demand, all memory of a process */
	MR_DEVICE,
	MR_DMABUF, /* a file's memory, which this process has mapped */
};

struct uverbs_mr {
	struct object base;
	enum mr_kind kind;
	struct uverbs_pd *pd;
	/* only for MR_DEVICE, else NULL; counts this region as a user, so it is not destroyed
	 * before it */
	struct uverbs_dm *dm;
	/* NULL: none; counts this region as a user, so it is not destroyed before it */
	struct uverbs_dmah *dmah;
	uint32_t key, room;    /* room: see region_create_key() */
	struct region region;  /* as the program sees it; not for MR_DEVICE */
	uint64_t iova, length; /* as reported to the program */
	struct dmabuf dmabuf;
};

/* What a program asks for when it registers memory. */
struct mr_request {
	uint64_t start; /* an address, or an offset in a file */
	uint64_t length, iova, access;
	int32_t fd; /* below 0: memory at an address */
};

/* Make a region of the caller's memory, or of a file, with its handle. Return 0 or a positive
 * errno. */
int mr_of_memory(struct uverbs_call *uc, struct uverbs_pd *pd, const struct mr_request *req,
		 struct uverbs_mr **mr);
int mr_of_file(struct uverbs_call *uc, struct uverbs_pd *pd, const struct mr_request *req,
	       struct uverbs_mr **mr);

int mr_new(struct uverbs_call *uc, struct uverbs_mr **mr);
void mr_free(struct uverbs_mr *mr);
/* Creates the key of an MR whose region is set, in PD, and gives the MR a handle. Frees MR on
 * failure. */
int mr_finish(struct uverbs_call *uc, struct uverbs_mr *mr, struct uverbs_pd *pd);
/* Gives an MR with a key, in PD, a handle. Destroys it on failure. */
int mr_publish(struct uverbs_call *uc, struct uverbs_mr *mr, struct uverbs_pd *pd);
/* Returns the MR's handle and keys in these attributes. Destroys it on failure. */
int mr_return(struct uverbs_call *uc, struct uverbs_mr *mr, uint16_t handle, uint16_t lkey,
	      uint16_t rkey);
/* Checks access flags. Returns EINVAL for unknown bits, or remote write or atomics without local
 * write (IBTA). */
int mr_check_access(const struct uverbs_call *uc, uint64_t access);

struct uverbs_uar {
	struct object base;
	struct uar_page page;
	uint32_t index; /* page number in the file */
};

struct uverbs_cq {
	struct object base;
	struct event_source events;
	uint32_t cqn;
	uint32_t cqe;
	uint32_t cqe_size;
	bool padded;
	bool real_time; /* a wall-clock timestamp was asked for */
	struct epitaph_place epitaph;
};

/* An XRC domain: programs that name the same file share it. See uverbs/xrcd.c. */
struct xrc_domain;

struct uverbs_xrcd {
	struct object base;
	struct xrc_domain *domain;
};

struct uverbs_srq {
	struct object base;
	struct event_source events;
	struct uverbs_pd *pd;
	struct uverbs_xrcd *xrcd; /* NULL: not an XRC SRQ */
	struct uverbs_cq *cq;     /* of an SRQ for XRC or tag matching; else NULL */
	uint16_t type;            /* IB_UVERBS_SRQT_* */
	uint32_t srqn;
	uint32_t wqes, sges;
	struct epitaph_place epitaph;
};

/* A receive work queue without a QP (ibv_create_wq()), and a table of these for RSS. */
struct uverbs_wq {
	struct object base;
	struct event_source events;
	struct uverbs_pd *pd;
	struct uverbs_cq *cq;
	uint32_t rqn;
	uint32_t state;          /* enum ibv_wq_state */
	struct wqn_range *range; /* mlx4: the range of rqn; else NULL */
};

struct uverbs_rwq_table {
	struct object base;
	uint32_t rqtn;
	unsigned int size;
	struct uverbs_wq **wq;
};

struct mcast;
LIST_HEAD(mcast_list, mcast);

/* A QP of the device, with the state that the device does not keep. XRC target QPs may have a
 * handle in several programs, so this is apart from the handle. */
struct real_qp {
	LIST_ENTRY(real_qp) in_domain; /* of an XRC target */
	unsigned int users;
	/* Of a raw packet QP, which the device has as SQ, RQ and TIR; else NULL */
	struct raw_qp *raw;
	uint32_t qpn;
	uint8_t state; /* enum qp_state, when last set or queried */
	uint8_t port;
	uint32_t access; /* as the program set it; see fill_access() */
	uint8_t max_dest_reads;
	bool out_of_order;
	/* of a DC target; else NULL. uverbs/qp/dct.c allocates and frees it */
	struct dc_target *target;
};

struct uverbs_qp {
	struct object base;
	struct event_source events;
	struct real_qp *real;
	struct uverbs_pd *pd;                /* NULL: an XRC target has neither PD nor queues */
	struct uverbs_cq *send_cq, *recv_cq; /* recv_cq NULL: an XRC initiator */
	struct uverbs_srq *srq;              /* NULL: it has its own receive queue */
	struct uverbs_xrcd *xrcd;            /* only of an XRC target */
	struct uverbs_rwq_table *table;      /* a raw packet QP that spreads frames (RSS) */
	struct mcast_list groups;            /* attached groups: see uverbs/mcast.c */
	struct epitaph_place epitaph;
	uint16_t type; /* IB_UVERBS_QPT_*, QP_TYPE_* */
	bool sq_sig_all;
	bool is_underlay; /* sends as another QP's number */
	uint32_t rq_wqe_count, rq_sges;
	/* connection establishment options (ECE) in the adapter's answer to the last CREATE or
	 * MODIFY; 0 after a failed MODIFY */
	uint32_t ece;
};

extern const struct uverbs_methods device_methods, pd_methods, mr_methods, cq_methods, qp_methods,
	async_methods, uar_methods, devx_methods, ah_methods, srq_methods, xrcd_methods, mw_methods,
	wq_methods, flow_methods, counters_methods, dm_methods, mr_advise_methods,
	mr_dmabuf_methods, dmah_methods, pp_methods, var_methods, devx_obj_methods,
	devx_umem_methods, devx_event_methods, devx_async_methods, flow_matcher_methods,
	flow_dv_methods, flow_action_methods, dmabuf_methods, steering_anchor_methods;
extern const struct uverbs_writes device_writes, async_writes, pd_writes, mr_writes, cq_writes,
	qp_writes, qp_modify_writes, qp_query_writes, ah_writes, mcast_writes, srq_writes,
	xrcd_writes, mw_writes, query_device_writes, wq_writes, flow_writes;

/* Create and destroy the device's user context for a program that may send commands (DevX).
 * Destroyed after the program's last object, which belongs to it. */
int devx_file_open(struct uverbs_call *uc);
void devx_file_close(struct uverbs_file *file);

uint32_t xrc_domain_number(const struct xrc_domain *domain);
/* Adds an XRC target QP, which other programs may then open. */
void xrc_domain_add_qp(struct xrc_domain *domain, struct real_qp *real);

/* Makes the raw packet QP that spreads frames over TABLE, as the driver's part of the call says. */
struct raw_qp;
int qp_spread(struct uverbs_call *uc, const struct uverbs_rwq_table *table, struct raw_qp **raw);

/* Finds a QP's state (enum qp_state) and the PSN of its next packet. If the device does not answer,
 * these are the last known state, and 0. */
void qp_look(struct adapter *adapter, const struct real_qp *real, unsigned int *state,
	     uint32_t *psn);

/* Makes another handle for REAL, which is destroyed with its last handle. */
int qp_reopen(struct uverbs_call *uc, struct uverbs_xrcd *xrcd, struct real_qp *real,
	      uint64_t user_handle, struct uverbs_qp **qp);

void mcast_detach_all(struct uverbs_qp *qp);
int qp_service_type(unsigned int type);

/* Returns the UAR of FILE whose device number is UAR, or NULL. */
struct uverbs_uar *uverbs_uar_by_number(const struct uverbs_file *file, uint32_t uar);

#endif
