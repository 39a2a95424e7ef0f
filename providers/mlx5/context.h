/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * context.h - an open device: what kernel and environment said when it was opened, and what its
 * objects share.
 */
#ifndef PROVIDERS_MLX5_CONTEXT_H
#define PROVIDERS_MLX5_CONTEXT_H

#include <pthread.h>
#include "libibverbs/driver.h" /* before kernel headers: public headers name some of their things */
#include <rdma/mlx5-abi.h>
#include "providers/common/buf_pool.h"
#include "providers/common/dbrec.h"
#include "providers/common/id_lookup.h"
#include "providers/mlx5/env.h"
#include "providers/mlx5/uar.h"
#include "util/bits.h"

struct mlx5_device {
	struct verbs_device vdev; /* first */
};

struct mlx5_context {
	struct mlx5_env env;
	struct mlx5_ib_alloc_ucontext_resp
		caps; /* limits of the device, as the kernel answered the open */

	struct id_lookup ids; /* QPs by the number that their CQEs carry */
	struct dbrec_pool dbrecs;
	struct buf_pool queue_bufs;

	pthread_mutex_t uar_lock; /* guards the four below and the users of each register */
	struct mlx5_uar *uars;
	struct mlx5_uar *cq_uar;
	struct mlx5_bfreg *bfregs;
	uint32_t numbered_uars; /* pages that were made by their number: uar_page.c */

	pthread_mutex_t device_lock; /* guards the next three: asked for when first needed */
	bool device_known;
	struct ibv_device_attr device_attr;
	struct mlx5_ib_query_device_resp device_resp;

	uint32_t raw_packet_caps;            /* enum ibv_raw_packet_caps */
	const void *core_clock, *clock_info; /* pages of clock.c, when first needed */

	uint8_t link_layer[3]; /* of each port, once known; atomic */

	struct verbs_context vctx;
};

static inline struct mlx5_context *to_mctx(struct ibv_context *context)
{
	return container_of(to_vctx(context), struct mlx5_context, vctx);
}

/* Linux 5.8 and later: doorbell pages are objects. Others have some ready for each context. */
static inline bool context_has_uar_objects(const struct mlx5_context *ctx)
{
	return !ctx->caps.tot_bfregs;
}

extern const struct verbs_driver verbs_provider_mlx5;

static inline bool context_is_mlx5(struct ibv_context *context)
{
	return verbs_driver_of(context->device) == &verbs_provider_mlx5;
}

int mlx5_context_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
/* Around a kernel context that another process, or part of this one, has opened. */
int mlx5_context_import(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
void mlx5_context_free(struct verbs_context *vctx);

/* What direct verbs may ask of the next open on this thread: MLX5_IB_ALLOC_UCTX_* flags. */
void mlx5_context_set_open_flags(uint32_t flags);

/* CQEs name a QP by user index rather than by QPN. */
static inline bool context_has_user_index(const struct mlx5_context *ctx)
{
	return ctx->caps.cqe_version == 1;
}

/* device.c */
int mlx5_device_query_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size);
int mlx5_device_query_port(struct ibv_context *context, uint8_t port_num,
			   struct ibv_port_attr *attr, size_t attr_size);
int mlx5_device_attr_get(struct mlx5_context *ctx, const struct ibv_device_attr **attr);
int mlx5_device_resp_get(struct mlx5_context *ctx, const struct mlx5_ib_query_device_resp **resp);

/* The device computes and verifies IP checksums of frames. */
bool mlx5_device_checks_ip(struct mlx5_context *ctx);

/* pd.c, mr.c */
int mlx5_pd_alloc(struct ibv_context *context, struct ibv_pd **pd);
int mlx5_pd_dealloc(struct ibv_pd *pd);
uint32_t mlx5_pd_number(struct ibv_pd *pd);
int mlx5_mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		struct verbs_mr **vmr);
int mlx5_mr_reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
		       unsigned int access, struct verbs_mr **vmr);
int mlx5_mr_reg_ex(struct ibv_pd *pd, const struct ibv_mr_init_attr *attr, struct verbs_mr **vmr);
int mlx5_mr_rereg(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  unsigned int access);
int mlx5_mr_dereg(struct verbs_mr *vmr);
int mlx5_mr_import(struct ibv_pd *pd, uint32_t handle, struct verbs_mr **vmr);
void mlx5_mr_unimport(struct verbs_mr *vmr);
struct ibv_mr *mlx5_mr_alloc_null(struct ibv_pd *pd);

/* dm.c */
struct ibv_dm *mlx5_dm_alloc(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
int mlx5_dm_free(struct ibv_dm *dm);
int mlx5_dm_import(struct ibv_context *context, uint32_t handle, struct ibv_dm **dm);
void mlx5_dm_unimport(struct ibv_dm *dm);
struct ibv_mr *mlx5_dm_reg_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset, size_t length,
			      unsigned int access);
int mlx5_dm_export_dmabuf(struct ibv_dm *dm);

struct ibv_td *mlx5_td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr);
int mlx5_td_dealloc(struct ibv_td *td);
struct ibv_pd *mlx5_parent_domain_alloc(struct ibv_context *context,
					struct ibv_parent_domain_init_attr *attr);
int mlx5_pd_import(struct ibv_context *context, uint32_t handle, struct ibv_pd **pd);
void mlx5_pd_unimport(struct ibv_pd *pd);

/* srq.c, xrc.c */
int mlx5_srq_create(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
		    struct verbs_srq **vsrq);
int mlx5_srq_destroy(struct ibv_srq *srq);
struct ibv_xrcd *mlx5_xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int mlx5_xrcd_close(struct ibv_xrcd *xrcd);
struct ibv_qp *mlx5_qp_open(struct ibv_context *context, struct ibv_qp_open_attr *attr);

/* wq.c */
struct ibv_wq *mlx5_wq_create(struct ibv_context *context, struct ibv_wq_init_attr *attr);
int mlx5_wq_modify(struct ibv_wq *wq, struct ibv_wq_attr *attr);
int mlx5_wq_destroy(struct ibv_wq *wq);
struct ibv_rwq_ind_table *mlx5_rwq_table_create(struct ibv_context *context,
						struct ibv_rwq_ind_table_init_attr *attr);
int mlx5_rwq_table_destroy(struct ibv_rwq_ind_table *table);

/* flow.c */
struct ibv_flow *mlx5_flow_create(struct ibv_qp *qp, struct ibv_flow_attr *attr);
int mlx5_flow_destroy(struct ibv_flow *flow);
struct ibv_flow_action *mlx5_flow_action_create_esp(struct ibv_context *context,
						    struct ibv_flow_action_esp_attr *attr);
int mlx5_flow_action_modify_esp(struct ibv_flow_action *action,
				struct ibv_flow_action_esp_attr *attr);
int mlx5_flow_action_destroy(struct ibv_flow_action *action);
struct ibv_counters *mlx5_counters_create(struct ibv_context *context,
					  struct ibv_counters_init_attr *attr);
int mlx5_counters_destroy(struct ibv_counters *counters);
int mlx5_counters_attach(struct ibv_counters *counters, struct ibv_counter_attach_attr *attr,
			 struct ibv_flow *flow);
int mlx5_counters_read(struct ibv_counters *counters, uint64_t *values, uint32_t ncounters,
		       uint32_t flags);

/* qp_extra.c */
int mlx5_qp_set_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int mlx5_qp_query_ece(struct ibv_qp *qp, struct ibv_ece *ece);
int mlx5_qp_modify_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);

/* mw.c */
struct ibv_mw *mlx5_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type);
int mlx5_mw_dealloc(struct ibv_mw *mw);
int mlx5_mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* ah.c */
int mlx5_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah);
int mlx5_ah_destroy(struct ibv_ah *ah);

/* cq.c */
int mlx5_cq_create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		   struct verbs_cq **vcq);
int mlx5_cq_resize(struct ibv_cq *cq, int cqe);
int mlx5_cq_destroy(struct ibv_cq *cq);
int mlx5_cq_arm(struct ibv_cq *cq, int solicited_only);
void mlx5_cq_event(struct ibv_cq *cq);

/* qp.c */
int mlx5_qp_create(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		   struct verbs_qp **vqp);
int mlx5_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int mlx5_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		  struct ibv_qp_init_attr *init_attr);
int mlx5_qp_destroy(struct ibv_qp *qp);

#endif
