/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * direct_verbs.c - pages on direct verbs: queues, keys, rates, scheduling, memory and flows of
 * libmlx5, and the few of libmlx4.
 *
 * Covers: providers/mlx5/dv/
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <infiniband/mlx4dv.h>
#include <infiniband/mlx5dv.h>

#include "errors.h"

NEWER(mlx5dv_get_data_direct_sysfs_path);

enum { PAGE = 4096 };

/* ---- devices and objects ---- */

static int open_device(struct bed *bed, struct mlx5dv_context_attr attr)
{
	return OBJ(mlx5dv_open_device(bed->device, &attr));
}

CASE(mlx5dv_open_device, EINVAL, "comp_mask has an unknown bit")
{
	return open_device(bed, (struct mlx5dv_context_attr){ .comp_mask = 1 << 20 });
}

CASE(mlx5dv_open_device, EINVAL, "flags an unknown flag")
{
	return open_device(bed, (struct mlx5dv_context_attr){ .flags = 1u << 20 });
}

CASE_ON(ON_MLX4, mlx5dv_open_device, EOPNOTSUPP, "device is not driven by this provider")
{
	return open_device(bed, (struct mlx5dv_context_attr){ .flags = 0 });
}

static int open_with(struct bed *bed, int fd, uint32_t count)
{
	struct ibv_fd_arr fds = { &fd, count };

	return open_device(
		bed, (struct mlx5dv_context_attr){ .comp_mask = MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY,
						   .fds = &fds });
}

CASE(mlx5dv_open_device, EINVAL, "fds is NULL, empty")
{
	return open_with(bed, 0, 0);
}

CASE(mlx5dv_open_device, EINVAL, "or one that stands for no right")
{
	return open_with(bed, 0, 1);
}

CASE(mlx5dv_open_device, EINVAL, "or has more than 16383 descriptors")
{
	static int fds[16384];
	struct ibv_fd_arr array = { fds, ARRAY_SIZE(fds) };

	return open_device(
		bed, (struct mlx5dv_context_attr){ .comp_mask = MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY,
						   .fds = &array });
}

CASE(mlx5dv_open_device, EBADF, "A number in fds is no descriptor")
{
	return open_with(bed, 9999, 1);
}

CASE_ON(ON_MLX4, mlx5dv_query_device, EOPNOTSUPP, "ctx_in is of another provider")
{
	struct mlx5dv_context attr = { 0 };

	return RET(mlx5dv_query_device(bed->ctx, &attr));
}

static int query_port(struct bed *bed, uint32_t port)
{
	struct mlx5dv_port info;

	return RET(mlx5dv_query_port(bed->ctx, port, &info));
}

CASE_ON(ON_MLX4, mlx5dv_query_port, EOPNOTSUPP, "context is of another provider")
{
	return query_port(bed, RIG_PORT);
}

CASE(mlx5dv_query_port, EINVAL, "There is no such port")
{
	return query_port(bed, 9);
}

static int init_cq(struct bed *bed, uint64_t type)
{
	struct mlx5dv_cq cq = { 0 };
	struct mlx5dv_obj obj = { .cq = { bed->cq, &cq } };

	return RET(mlx5dv_init_obj(&obj, type));
}

CASE(mlx5dv_init_obj, EINVAL, "obj_type is 0")
{
	return init_cq(bed, 0);
}

CASE(mlx5dv_init_obj, EINVAL, "or has an unknown type")
{
	return init_cq(bed, 1 << 20);
}

CASE_ON(ON_MLX4, mlx5dv_init_obj, EOPNOTSUPP, "An object is of another provider")
{
	return init_cq(bed, MLX5DV_OBJ_CQ);
}

static void *own_alloc(size_t size __attribute__((unused)), void *data __attribute__((unused)))
{
	return NULL;
}

CASE(mlx5dv_set_context_attr, EOPNOTSUPP, "type is none that there is")
{
	struct mlx5dv_ctx_allocators attr = { .alloc = own_alloc };

	return RET(mlx5dv_set_context_attr(bed->ctx, 77, &attr));
}

CASE_ON(ON_MLX4, mlx5dv_set_context_attr, EOPNOTSUPP, "context is of another provider")
{
	struct mlx5dv_ctx_allocators attr = { .alloc = own_alloc };

	return RET(mlx5dv_set_context_attr(bed->ctx, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &attr));
}

CASE_ON(ON_MLX4, mlx5dv_get_clock_info, EOPNOTSUPP, "context is of another provider")
{
	struct mlx5dv_clock_info info;

	return RET(mlx5dv_get_clock_info(bed->ctx, &info));
}

static int create_cq(struct bed *bed, struct mlx5dv_cq_init_attr attr)
{
	struct ibv_cq_init_attr_ex basic = { .cqe = 16 };

	return OBJ(mlx5dv_create_cq(bed->ctx, &basic, &attr));
}

CASE(mlx5dv_create_cq, EINVAL, "comp_mask or flags has something unknown")
{
	return create_cq(bed, (struct mlx5dv_cq_init_attr){ .comp_mask = 1 << 20 });
}

CASE(mlx5dv_create_cq, EINVAL, "comp_mask or flags has something unknown")
{
	return create_cq(bed,
			 (struct mlx5dv_cq_init_attr){ .comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_FLAGS,
						       .flags = 1u << 20 });
}

CASE(mlx5dv_create_cq, EINVAL, "cqe_comp_res_format is none")
{
	return create_cq(bed, (struct mlx5dv_cq_init_attr){
				      .comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE,
				      .cqe_comp_res_format = 0 });
}

CASE_ON(ON_MLX4, mlx5dv_create_cq, EOPNOTSUPP, "context is of another provider")
{
	return create_cq(bed, (struct mlx5dv_cq_init_attr){ .comp_mask = 0 });
}

static int create_wq(struct bed *bed, struct mlx5dv_wq_init_attr attr)
{
	struct ibv_wq_init_attr basic = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 2, .pd = bed->pd, .cq = bed->cq
	};

	return OBJ(mlx5dv_create_wq(bed->ctx, &basic, &attr));
}

CASE_ON(ON_ROCE, mlx5dv_create_wq, EINVAL, "comp_mask has something unknown")
{
	return create_wq(bed, (struct mlx5dv_wq_init_attr){ .comp_mask = 1 << 20 });
}

CASE_ON(ON_ROCE, mlx5dv_create_wq, EINVAL, "striding_rq_attrs exceeds what the device has")
{
	return create_wq(bed,
			 (struct mlx5dv_wq_init_attr){
				 .comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
				 .striding_rq_attrs = { .single_stride_log_num_of_bytes = 60,
							.single_wqe_log_num_of_strides = 9 } });
}

CASE_ON(ON_MLX4, mlx5dv_create_wq, EOPNOTSUPP, "context is of another provider")
{
	return create_wq(bed, (struct mlx5dv_wq_init_attr){ .comp_mask = 0 });
}

/* ---- queue pairs ---- */

static int create_qp(struct bed *bed, struct mlx5dv_qp_init_attr attr)
{
	struct ibv_qp_init_attr_ex basic = bed_qp_attr_ex(bed);

	return OBJ(mlx5dv_create_qp(bed->ctx, &basic, &attr));
}

CASE(mlx5dv_create_qp, EINVAL, "comp_mask or create_flags has something unknown or contradictory")
{
	return create_qp(bed, (struct mlx5dv_qp_init_attr){ .comp_mask = 1 << 20 });
}

CASE(mlx5dv_create_qp, EINVAL, "DC is asked for another qp_type than IBV_QPT_DRIVER")
{
	return create_qp(bed, (struct mlx5dv_qp_init_attr){
				      .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
				      .dc_init_attr = { .dc_type = MLX5DV_DCTYPE_DCI } });
}

CASE_ON(ON_MLX4, mlx5dv_create_qp, EOPNOTSUPP, "context is of another provider")
{
	return create_qp(bed, (struct mlx5dv_qp_init_attr){ .comp_mask = 0 });
}

CASE(mlx5dv_create_qp, EOPNOTSUPP, "send_ops_flags has what the type, or the device, does not have")
{
	struct ibv_qp_init_attr_ex basic = bed_qp_attr_ex(bed);
	struct mlx5dv_qp_init_attr attr = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
					    .send_ops_flags = 1u << 30 };

	return OBJ(mlx5dv_create_qp(bed->ctx, &basic, &attr));
}

static int reset_stream(struct ibv_qp *qp)
{
	return RET(mlx5dv_dci_stream_id_reset(qp, 1));
}

CASE(mlx5dv_dci_stream_id_reset, EINVAL, "qp is no DC initiator")
{
	return reset_stream(bed_rts(bed));
}

CASE_ON(ON_MLX4, mlx5dv_dci_stream_id_reset, EOPNOTSUPP, "or of another provider")
{
	return reset_stream(bed_rts(bed));
}

CASE(mlx5dv_modify_qp_lag_port, EOPNOTSUPP, "No ports are bonded")
{
	return RET(mlx5dv_modify_qp_lag_port(bed_rts(bed), 1));
}

CASE(mlx5dv_query_qp_lag_port, EOPNOTSUPP, "No ports are bonded")
{
	uint8_t port, active;

	return RET(mlx5dv_query_qp_lag_port(bed_rts(bed), &port, &active));
}

CASE(mlx5dv_modify_qp_udp_sport, EOPNOTSUPP, "The type or the state is another")
{
	return RET(mlx5dv_modify_qp_udp_sport(bed->rc, 0xc001));
}

static const char without[] = "or the context is without DevX or of another provider";

CASE_ON(ON_MLX4, mlx5dv_modify_qp_lag_port, EOPNOTSUPP, without)
{
	return RET(mlx5dv_modify_qp_lag_port(bed_rts(bed), 1));
}

CASE_ON(ON_MLX4, mlx5dv_query_qp_lag_port, EOPNOTSUPP, without)
{
	uint8_t port, active;

	return RET(mlx5dv_query_qp_lag_port(bed_rts(bed), &port, &active));
}

CASE_ON(ON_MLX4, mlx5dv_modify_qp_udp_sport, EOPNOTSUPP, without)
{
	return RET(mlx5dv_modify_qp_udp_sport(bed_rts(bed), 0xc001));
}

CASE(mlx5dv_modify_qp_sched_elem, EOPNOTSUPP, "The state is another")
{
	return RET(mlx5dv_modify_qp_sched_elem(bed->rc, NULL, NULL));
}

CASE(mlx5dv_modify_qp_sched_elem, EINVAL,
     "responder is not NULL for a queue pair that has no answers")
{
	struct mlx5dv_sched_attr attr = { 0 };
	struct mlx5dv_sched_node *root = mlx5dv_sched_node_create(bed->ctx, &attr);
	struct mlx5dv_sched_leaf *leaf;

	MUST(root);
	attr.parent = root;
	leaf = mlx5dv_sched_leaf_create(bed->ctx, &attr);
	MUST(leaf);
	return RET(mlx5dv_modify_qp_sched_elem(bed_qp(bed, IBV_QPT_UD), NULL, leaf));
}

CASE_ON(ON_MLX4, mlx5dv_modify_qp_sched_elem, EOPNOTSUPP, "or of another provider")
{
	return RET(mlx5dv_modify_qp_sched_elem(bed->rc, NULL, NULL));
}

static int map_ah(struct bed *bed)
{
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = RIG_PORT };
	struct ibv_ah *ah = ibv_create_ah(bed->pd, &attr);

	MUST(ah);
	return RET(mlx5dv_map_ah_to_qp(ah, bed->rc->qp_num));
}

CASE_ON(ON_MLX4, mlx5dv_map_ah_to_qp, EOPNOTSUPP, "or the context is without DevX or of another")
{
	return map_ah(bed);
}

CASE(mlx5dv_reserved_qpn_alloc, EINVAL, "qpn is not given out by this context")
{
	return RET(mlx5dv_reserved_qpn_dealloc(bed->ctx, 0x123456));
}

static int reserve_qpn(struct bed *bed)
{
	uint32_t qpn;

	return RET(mlx5dv_reserved_qpn_alloc(bed->ctx, &qpn));
}

CASE_ON(ON_MLX4, mlx5dv_reserved_qpn_alloc, EOPNOTSUPP, "or of another provider")
{
	return reserve_qpn(bed);
}

CASE(mlx5dv_reserved_qpn_alloc, ENOMEM, "There is no memory")
{
	return NO_MEMORY(reserve_qpn(bed));
}

CASE(mlx5dv_dr_action_create_dest_ibv_qp, EINVAL, "ibqp is of another type")
{
	return OBJ(mlx5dv_dr_action_create_dest_ibv_qp(bed->rc));
}

CASE_ON(ON_ROCE, mlx5dv_dr_action_create_dest_ibv_qp, ENOMEM, "There is no memory")
{
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_RAW_PACKET);

	return NO_MEMORY(OBJ(mlx5dv_dr_action_create_dest_ibv_qp(qp)));
}

/* ---- direct rules ---- */

struct root {
	struct mlx5dv_dr_domain *domain;
	struct mlx5dv_dr_table *table;
};

static struct root root_open(struct bed *bed, enum mlx5dv_dr_domain_type type)
{
	struct root root = { .domain = mlx5dv_dr_domain_create(bed->ctx, type) };

	MUST(root.domain && (root.table = mlx5dv_dr_table_create(root.domain, 0)));
	return root;
}

static int create_domain(struct bed *bed, int type)
{
	return OBJ(mlx5dv_dr_domain_create(bed->ctx, (enum mlx5dv_dr_domain_type)type));
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EINVAL, "type is not a type of domains")
{
	return create_domain(bed, 3);
}

CASE_ON(ON_MLX4, mlx5dv_dr_flow, EOPNOTSUPP, "ctx is of another provider")
{
	return create_domain(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
}

CASE(mlx5dv_dr_flow, EOPNOTSUPP, "or its port is not Ethernet")
{
	return create_domain(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX);
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, ENOMEM, "There is no memory")
{
	return NO_MEMORY(create_domain(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX));
}

CASE(mlx5dv_dr_flow, EINVAL, "devx_obj is NULL")
{
	return OBJ(mlx5dv_dr_action_create_dest_devx_tir(NULL));
}

CASE(mlx5dv_dr_flow, EINVAL, "or not a flow counter")
{
	return OBJ(mlx5dv_dr_action_create_flow_counter(NULL, 0));
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EINVAL, "The destination is a root table")
{
	return OBJ(mlx5dv_dr_action_create_dest_table(
		root_open(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX).table));
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EINVAL, "An array has fewer than two destinations")
{
	return OBJ(mlx5dv_dr_action_create_dest_array(
		root_open(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX).domain, 1, NULL));
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EINVAL, "vlan_hdr does not begin with 0x8100 or 0x88a8")
{
	return OBJ(mlx5dv_dr_action_create_push_vlan(
		root_open(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX).domain, 0));
}

static int create_reformat(struct bed *bed, uint32_t flags,
			   enum mlx5dv_flow_action_packet_reformat_type type)
{
	static uint8_t header[64];

	return OBJ(mlx5dv_dr_action_create_packet_reformat(
		root_open(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX).domain, flags, type, sizeof(header),
		header));
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EINVAL, "flags has an unknown bit")
{
	return create_reformat(bed, 2, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2);
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EINVAL, "or reformat_type does not fit the domain")
{
	return create_reformat(bed, MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL,
			       MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL);
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EOPNOTSUPP, "flags lacks MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL")
{
	return create_reformat(bed, 0, MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2);
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EOPNOTSUPP, "level is not 0")
{
	return OBJ(mlx5dv_dr_table_create(root_open(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX).domain, 1));
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EOPNOTSUPP, "The domain has only root tables")
{
	return RET(mlx5dv_dr_domain_sync(root_open(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX).domain, 0));
}

static struct mlx5dv_flow_match_parameters *match_all(void)
{
	enum { FIELDS = 64 };
	struct mlx5dv_flow_match_parameters *match = calloc(1, sizeof(*match) + FIELDS);

	MUST(match);
	match->match_sz = FIELDS;
	return match;
}

static struct mlx5dv_dr_matcher *matcher_open(struct bed *bed)
{
	struct mlx5dv_dr_matcher *matcher = mlx5dv_dr_matcher_create(
		root_open(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX).table, 0, 0, match_all());

	MUST(matcher);
	return matcher;
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EOPNOTSUPP, "The matcher belongs to a root table")
{
	struct mlx5dv_dr_matcher_layout layout = { .flags = MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE };

	return RET(mlx5dv_dr_matcher_set_layout(matcher_open(bed), &layout));
}

static int create_rule(struct bed *bed, size_t count, struct mlx5dv_dr_action *one,
		       struct mlx5dv_dr_action *other)
{
	struct mlx5dv_dr_action *actions[] = { one, other };

	return OBJ(mlx5dv_dr_rule_create(matcher_open(bed), match_all(), count, actions));
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EINVAL, "A rule has two tags")
{
	return create_rule(bed, 2, mlx5dv_dr_action_create_tag(1), mlx5dv_dr_action_create_tag(2));
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EOPNOTSUPP, "A rule pushes or pops a VLAN")
{
	return create_rule(bed, 1, mlx5dv_dr_action_create_pop_vlan(), NULL);
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EOPNOTSUPP, "or has two destinations")
{
	return create_rule(bed, 2, mlx5dv_dr_action_create_drop(), mlx5dv_dr_action_create_drop());
}

static struct mlx5dv_dr_action *counter_action(struct bed *bed)
{
	uint8_t in[16] = { 0x09, 0x39 }, out[16]; /* ALLOC_FLOW_COUNTER */
	struct mlx5dv_devx_obj *counter =
		mlx5dv_devx_obj_create(bed->ctx, in, sizeof(in), out, sizeof(out));
	struct mlx5dv_dr_action *action;

	MUST(counter);
	MUST(action = mlx5dv_dr_action_create_flow_counter(counter, 0));
	return action;
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EOPNOTSUPP, "or two counters")
{
	return create_rule(bed, 2, counter_action(bed), counter_action(bed));
}

CASE_ON(ON_ROCE, mlx5dv_dr_flow, EBUSY, "a domain by its tables")
{
	return RET(mlx5dv_dr_domain_destroy(root_open(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX).domain));
}

CASE_ON(ON_ROCE, mlx5dv_dr_action_create_dest_ibv_qp, EBUSY, "Rules use action")
{
	struct mlx5dv_dr_action *drop = mlx5dv_dr_action_create_drop();

	MUST(!create_rule(bed, 1, drop, NULL));
	return RET(mlx5dv_dr_action_destroy(drop));
}

CASE(mlx5dv_dump, EINVAL, "fout or the object is NULL")
{
	return RET(-mlx5dv_dump_dr_domain(NULL, NULL));
}

static int create_node(struct bed *bed, struct mlx5dv_sched_attr attr)
{
	return OBJ(mlx5dv_sched_node_create(bed->ctx, &attr));
}

CASE(mlx5dv_sched_node_create, EINVAL, "comp_mask is not 0")
{
	return create_node(bed, (struct mlx5dv_sched_attr){ .comp_mask = 1 });
}

CASE(mlx5dv_sched_node_create, EINVAL, "or any without a parent")
{
	return create_node(
		bed, (struct mlx5dv_sched_attr){ .flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE });
}

CASE(mlx5dv_sched_node_create, EINVAL, "a leaf has no parent")
{
	struct mlx5dv_sched_attr attr = { 0 };

	return OBJ(mlx5dv_sched_leaf_create(bed->ctx, &attr));
}

CASE(mlx5dv_sched_node_create, ENOMEM, "There is no memory")
{
	int ret = 0;

	/* many times, so that the provider has no room left for it */
	for (int i = 0; i < 300 && !ret; i++)
		ret = NO_MEMORY(create_node(bed, (struct mlx5dv_sched_attr){ .flags = 0 }));
	return ret;
}

CASE_ON(ON_MLX4, mlx5dv_sched_node_create, EOPNOTSUPP, "or of another provider")
{
	return create_node(bed, (struct mlx5dv_sched_attr){ .flags = 0 });
}

static int alloc_pp(struct bed *bed, uint32_t rate, size_t size, uint32_t flags)
{
	uint32_t context[16] = { htobe32(rate) };

	return OBJ(mlx5dv_pp_alloc(bed->ctx, size, context, flags));
}

CASE_ON(ON_ROCE, mlx5dv_pp_alloc, EINVAL, "The rate is 0 or beyond what the device can")
{
	return alloc_pp(bed, 0, 8, 0);
}

CASE_ON(ON_ROCE, mlx5dv_pp_alloc, EINVAL, "pp_context_sz is 0 or more than 48")
{
	return alloc_pp(bed, 100000, 0, 0);
}

CASE_ON(ON_ROCE, mlx5dv_pp_alloc, EINVAL, "pp_context_sz is 0 or more than 48")
{
	return alloc_pp(bed, 100000, 52, 0);
}

CASE_ON(ON_ROCE, mlx5dv_pp_alloc, EINVAL, "or the context is without DevX")
{
	struct bed other = { .ctx = devx_refused(bed) };

	return alloc_pp(&other, 100000, 8, 0);
}

CASE_ON(ON_ROCE, mlx5dv_pp_alloc, EOPNOTSUPP, "flags has others")
{
	return alloc_pp(bed, 100000, 8, 1u << 20);
}

CASE_ON(ON_MLX4, mlx5dv_pp_alloc, EOPNOTSUPP, "context is of another provider")
{
	return alloc_pp(bed, 100000, 8, 0);
}

CASE_ON(ON_ROCE, mlx5dv_pp_alloc, ENOMEM, "There is no memory")
{
	int ret = 0;

	/* many times, so that the provider has no room left for it */
	for (int i = 0; i < 300 && !ret; i++)
		ret = NO_MEMORY(alloc_pp(bed, 100000, 8, 0));
	return ret;
}

CASE_ON(ON_ROCE, mlx5dv_pp_alloc, ENOSPC, "The table is full")
{
	int ret = 0;

	for (uint32_t i = 0; i < 200 && !ret; i++)
		ret = alloc_pp(bed, 100000 + 1000 * i, 8,
			       MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX);
	return ret;
}

/* ---- keys ---- */

static int create_mkey(struct bed *bed, uint32_t flags, uint16_t entries)
{
	struct mlx5dv_mkey_init_attr attr = { .pd = bed->pd,
					      .create_flags = flags,
					      .max_entries = entries };

	return OBJ(mlx5dv_create_mkey(&attr));
}

CASE(mlx5dv_create_mkey, EOPNOTSUPP, "create_flags is 0")
{
	return create_mkey(bed, 0, 4);
}

CASE(mlx5dv_create_mkey, EOPNOTSUPP, "has flags that are not known")
{
	return create_mkey(bed, 1u << 30, 4);
}

CASE_ON(ON_MLX4, mlx5dv_create_mkey, EOPNOTSUPP, "pd is of another provider")
{
	return create_mkey(bed, MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, 4);
}

CASE(mlx5dv_create_mkey, EINVAL, "max_entries is more than 65532")
{
	return create_mkey(bed, MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, 65535);
}

CASE(mlx5dv_create_mkey, ENOMEM, "There is no memory for the key")
{
	return NO_MEMORY(create_mkey(bed, MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, 4));
}

CASE(mlx5dv_mkey_check, EINVAL, "mkey was made without signatures")
{
	struct mlx5dv_mkey_init_attr attr = { .pd = bed->pd,
					      .max_entries = 4,
					      .create_flags =
						      MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT };
	struct mlx5dv_mkey *mkey = mlx5dv_create_mkey(&attr);
	struct mlx5dv_mkey_err err;

	MUST(mkey);
	return RET(mlx5dv_mkey_check(mkey, &err));
}

/* An objects that only the adapter knows is left in the domain. */
CASE(ibv_alloc_pd, EINVAL, "objects that only the adapter knows")
{
	struct mlx5dv_mkey_init_attr attr = { .pd = ibv_alloc_pd(bed->ctx),
					      .max_entries = 4,
					      .create_flags =
						      MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT };

	MUST(attr.pd && mlx5dv_create_mkey(&attr));
	return RET(ibv_dealloc_pd(attr.pd));
}

static struct ibv_qp_ex *mkey_qp(struct bed *bed, bool rts, struct mlx5dv_qp_ex **dv)
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);
	struct mlx5dv_qp_init_attr mlx5 = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
					    .send_ops_flags = MLX5DV_QP_EX_WITH_MKEY_CONFIGURE |
							      MLX5DV_QP_EX_WITH_MR_LIST };
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp *qp;

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	attr.cap.max_inline_data = 256;
	qp = mlx5dv_create_qp(bed->ctx, &attr, &mlx5);
	MUST(qp);
	if (rts)
		rig_qp_to(&bed->rig, &conf, qp, qp->qp_num, IBV_QPS_RTS);
	*dv = mlx5dv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(qp));
	return ibv_qp_to_qp_ex(qp);
}

static struct mlx5dv_mkey *bed_mkey(struct bed *bed)
{
	struct mlx5dv_mkey_init_attr attr = { .pd = bed->pd,
					      .max_entries = 4,
					      .create_flags =
						      MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT };
	struct mlx5dv_mkey *mkey = mlx5dv_create_mkey(&attr);

	MUST(mkey);
	return mkey;
}

static int configure_mkey(struct bed *bed, bool rts, unsigned int wr_flags, uint32_t conf_flags,
			  unsigned int pieces, unsigned int lists)
{
	struct mlx5dv_mkey_conf_attr attr = { .conf_flags = conf_flags };
	struct mlx5dv_mkey *mkey = bed_mkey(bed);
	struct ibv_sge sges[600];
	struct mlx5dv_qp_ex *dv;
	struct ibv_qp_ex *qp = mkey_qp(bed, rts, &dv);

	for (size_t i = 0; i < ARRAY_SIZE(sges); i++)
		sges[i] = (struct ibv_sge){ (uintptr_t)bed->buf, 64, bed->mr->lkey };
	ibv_wr_start(qp);
	qp->wr_flags = wr_flags;
	mlx5dv_wr_mkey_configure(dv, mkey, 1, &attr);
	for (unsigned int i = 0; i < lists; i++)
		mlx5dv_wr_set_mkey_layout_list(dv, (uint16_t)pieces, sges);
	return RET(ibv_wr_complete(qp));
}

CASE(mlx5dv_wr_mkey_configure, EOPNOTSUPP, "wr_flags lacks IBV_SEND_INLINE")
{
	return configure_mkey(bed, true, 0, 0, 1, 1);
}

CASE(mlx5dv_wr_mkey_configure, EOPNOTSUPP, "conf_flags or comp_mask has an unknown bit")
{
	return configure_mkey(bed, true, IBV_SEND_INLINE, 1u << 30, 1, 1);
}

CASE(mlx5dv_wr_mkey_configure, EINVAL, "the queue pair is not in state RTS")
{
	return configure_mkey(bed, false, IBV_SEND_INLINE, 0, 1, 1);
}

CASE(mlx5dv_wr_mkey_configure, ENOMEM, "There are more pieces than the key has entries")
{
	return configure_mkey(bed, true, IBV_SEND_INLINE, 0, 100, 1);
}

/* ---- memory ---- */

static int alloc_dm(struct bed *bed, uint32_t type, size_t length, uint64_t comp_mask)
{
	struct ibv_alloc_dm_attr attr = { .length = length };
	struct mlx5dv_alloc_dm_attr mlx5 = { .type = type, .comp_mask = comp_mask };

	return OBJ(mlx5dv_alloc_dm(bed->ctx, &attr, &mlx5));
}

CASE(mlx5dv_alloc_dm, EOPNOTSUPP, "The type is unknown, or the device has none of it")
{
	return alloc_dm(bed, 77, 64, 0);
}

CASE(mlx5dv_alloc_dm, EOPNOTSUPP, "or the device has none of it")
{
	return alloc_dm(bed, MLX5DV_DM_TYPE_STEERING_SW_ICM, 64, 0);
}

CASE(mlx5dv_alloc_dm, EOPNOTSUPP, "the device does not have the operation")
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct ibv_dm *dm = ibv_alloc_dm(bed->ctx, &attr);

	MUST(dm);
	return OBJ(mlx5dv_dm_map_op_addr(dm, 0));
}

CASE_ON(ON_MLX4, mlx5dv_alloc_dm, EOPNOTSUPP, "or the context is of another provider")
{
	return alloc_dm(bed, MLX5DV_DM_TYPE_MEMIC, 64, 0);
}

CASE(mlx5dv_alloc_dm, EINVAL, "A comp_mask is not 0")
{
	return alloc_dm(bed, MLX5DV_DM_TYPE_MEMIC, 64, 1);
}

CASE(mlx5dv_alloc_dm, EINVAL, "the length is 0 or above the total size of the device's memory")
{
	return alloc_dm(bed, MLX5DV_DM_TYPE_MEMIC, 1 << 30, 0);
}

CASE(mlx5dv_alloc_dm, ENOMEM, "The device does not have that much memory left")
{
	int ret = 0;

	for (int i = 0; i < 2000 && !ret; i++)
		ret = alloc_dm(bed, MLX5DV_DM_TYPE_MEMIC, 16 << 10, 0);
	return ret;
}

static int alloc_var(struct bed *bed, uint32_t flags)
{
	return OBJ(mlx5dv_alloc_var(bed->ctx, flags));
}

CASE(mlx5dv_alloc_var, EOPNOTSUPP,
     "flags has a bit that the library or the device does not support")
{
	return alloc_var(bed, 1u << 20);
}

CASE_ON(ON_MLX4, mlx5dv_alloc_var, EOPNOTSUPP, "context is of another provider")
{
	return alloc_var(bed, 0);
}

CASE(mlx5dv_alloc_var, ENOSPC, "No page is left")
{
	int ret = 0;

	for (int i = 0; i < 5000 && !ret; i++)
		ret = alloc_var(bed, 0);
	return ret;
}

static int shared_memory(void)
{
	int fd = memfd_create("dma-buf", MFD_CLOEXEC);

	MUST(fd >= 0 && !ftruncate(fd, 2 * PAGE));
	return fd;
}

NEWER(mlx5dv_reg_dmabuf_mr);

static int reg_dmabuf(struct bed *bed, uint64_t offset, int fd, int mlx5_access)
{
	if (!mlx5dv_reg_dmabuf_mr)
		return NO_SUCH_CALL;
	return OBJ(mlx5dv_reg_dmabuf_mr(bed->pd, offset, PAGE, 0, fd, IBV_ACCESS_LOCAL_WRITE,
					mlx5_access));
}

CASE(mlx5dv_reg_dmabuf_mr, EINVAL, "mlx5_access has an unknown flag")
{
	return reg_dmabuf(bed, 0, shared_memory(), 1 << 20);
}

CASE(mlx5dv_reg_dmabuf_mr, EINVAL, "offset and iova do not lie equal in a page")
{
	return reg_dmabuf(bed, 100, shared_memory(), 0);
}

CASE(mlx5dv_reg_dmabuf_mr, EINVAL, "fd is no dma-buf")
{
	return reg_dmabuf(bed, 0, 0, 0);
}

CASE_ON(ON_MLX4, mlx5dv_reg_dmabuf_mr, EOPNOTSUPP, "The context is of another provider")
{
	return reg_dmabuf(bed, 0, shared_memory(), 0);
}

CASE(mlx5dv_reg_dmabuf_mr, ENODEV, "The device has no such function to tell the path of")
{
	char path[64];

	return mlx5dv_get_data_direct_sysfs_path
		       ? RET(mlx5dv_get_data_direct_sysfs_path(bed->ctx, path, sizeof(path)))
		       : NO_SUCH_CALL;
}

CASE(mlx5dv_crypto_login, ENOENT, "The context is not logged in")
{
	return RET(mlx5dv_crypto_logout(bed->ctx));
}

CASE(mlx5dv_dek_create, EINVAL, "An attribute is none that there is")
{
	struct mlx5dv_dek_init_attr attr = { .key_size = 77, .pd = bed->pd };

	return OBJ(mlx5dv_dek_create(bed->ctx, &attr));
}

CASE_ON(ON_MLX4, mlx5dv_dek_create, EOPNOTSUPP, "The device does not encrypt")
{
	struct mlx5dv_dek_init_attr attr = { .pd = bed->pd };

	return OBJ(mlx5dv_dek_create(bed->ctx, &attr));
}

CASE(mlx5dv_dek_create, ENOMEM, "There is no memory for the key")
{
	struct mlx5dv_dek_init_attr attr = { .has_keytag = true,
					     .pd = bed->pd,
					     .comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN };

	for (int i = 0; i < 32; i++)
		attr.key[i] = (char)(i + 1);
	memset(attr.key + 32, 'T', 8);
	return NO_MEMORY(OBJ(mlx5dv_dek_create(bed->ctx, &attr)));
}

CASE(mlx5dv_devx_alloc_msi_vector, EOPNOTSUPP, "ibctx is not driven by VFIO")
{
	return OBJ(mlx5dv_devx_alloc_msi_vector(bed->ctx));
}

CASE(mlx5dv_devx_create_eq, EOPNOTSUPP, "ibctx is not driven by VFIO")
{
	uint32_t in[4] = { 0 }, out[4];

	return OBJ(mlx5dv_devx_create_eq(bed->ctx, in, sizeof(in), out, sizeof(out)));
}

CASE(mlx5dv_vfio_get_events_fd, EOPNOTSUPP, "ibctx is not driven by VFIO")
{
	return RET(-mlx5dv_vfio_get_events_fd(bed->ctx));
}

CASE(mlx5dv_vfio_process_events, EOPNOTSUPP, "context is not driven by VFIO")
{
	return RET(mlx5dv_vfio_process_events(bed->ctx));
}

CASE(mlx5dv_devx_alloc_msi_vector, EINVAL, "msi is NULL")
{
	(void)bed;
	return RET(mlx5dv_devx_free_msi_vector(NULL));
}

CASE(mlx5dv_devx_create_eq, EINVAL, "eq is NULL")
{
	(void)bed;
	return RET(mlx5dv_devx_destroy_eq(NULL));
}

CASE_ON(ON_ROCE, mlx5dv_dr_action_create_dest_vport, EINVAL, "table is NULL")
{
	(void)bed;
	return OBJ(mlx5dv_dr_action_create_dest_root_table(NULL, 0));
}

CASE_ON(ON_ROCE, mlx5dv_dr_action_create_dest_vport, EINVAL,
	"or no root table of a domain of type FDB")
{
	return OBJ(mlx5dv_dr_action_create_dest_root_table(
		root_open(bed, MLX5DV_DR_DOMAIN_TYPE_NIC_RX).table, 0));
}

CASE(mlx5dv_dr_action_create_dest_vport, EOPNOTSUPP, "All other calls, in this release")
{
	return OBJ(mlx5dv_dr_action_create_dest_vport(NULL, 0));
}

CASE(mlx5dv_flow_action_esp, EPROTONOSUPPORT, "The kernel has no such actions")
{
	struct ibv_flow_action_esp esp = { .spi = 1 };
	struct ibv_flow_action_esp_attr attr = { .esp_attr = &esp };
	struct mlx5dv_flow_action_esp mlx5 = { 0 };

	return OBJ(mlx5dv_create_flow_action_esp(bed->ctx, &attr, &mlx5));
}

CASE(mlx5dv_flow_action_esp, EOPNOTSUPP, "A comp_mask is unknown")
{
	struct ibv_flow_action_esp esp = { .spi = 1 };
	struct ibv_flow_action_esp_attr attr = { .esp_attr = &esp };
	struct mlx5dv_flow_action_esp mlx5 = { .comp_mask = 1 << 20 };

	return OBJ(mlx5dv_create_flow_action_esp(bed->ctx, &attr, &mlx5));
}

static int init_mlx4_cq(struct bed *bed)
{
	struct mlx4dv_cq cq = { 0 };
	struct mlx4dv_obj obj = { .cq = { bed->cq, &cq } };

	return RET(mlx4dv_init_obj(&obj, MLX4DV_OBJ_CQ));
}

CASE(mlx4dv_init_obj, EOPNOTSUPP, "The object or the context is of another provider")
{
	return init_mlx4_cq(bed);
}

CASE_ON(ON_MLX4, mlx4dv_init_obj, EOPNOTSUPP, "attr_type is unknown")
{
	uint32_t value = 0;

	return RET(mlx4dv_set_context_attr(bed->ctx, 77, &value));
}

static int set_mlx4_allocators(struct bed *bed, struct mlx4dv_ctx_allocators attr)
{
	return RET(mlx4dv_set_context_attr(bed->ctx, MLX4DV_SET_CTX_ATTR_BUF_ALLOCATORS, &attr));
}

CASE_ON(ON_MLX4, mlx4dv_init_obj, EINVAL, "alloc or free is NULL")
{
	return set_mlx4_allocators(bed, (struct mlx4dv_ctx_allocators){ .alloc = own_alloc });
}

static int create_mlx4_qp(struct bed *bed, struct mlx4dv_qp_init_attr attr)
{
	struct ibv_qp_init_attr_ex basic = bed_qp_attr_ex(bed);

	return OBJ(mlx4dv_create_qp(bed->ctx, &basic, &attr));
}

CASE_ON(ON_MLX4, mlx4dv_init_obj, EOPNOTSUPP, "inl_recv_sz is not 0")
{
	return create_mlx4_qp(
		bed, (struct mlx4dv_qp_init_attr){ .comp_mask = MLX4DV_QP_INIT_ATTR_MASK_INL_RECV,
						   .inl_recv_sz = 64 });
}

CASE_ON(ON_MLX4, mlx4dv_init_obj, EINVAL, "comp_mask of mlx4_attr has an unknown bit")
{
	return create_mlx4_qp(bed, (struct mlx4dv_qp_init_attr){ .comp_mask = 1 << 20 });
}

/* ---- further errors of libmlx5 ---- */

CASE(mlx5dv_set_context_attr, EINVAL, "alloc or free is NULL")
{
	struct mlx5dv_ctx_allocators attr = { .alloc = own_alloc };

	return RET(mlx5dv_set_context_attr(bed->ctx, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &attr));
}

static int create_anchor(struct bed *bed, enum mlx5dv_flow_table_type type, uint16_t priority,
			 uint64_t comp_mask)
{
	struct mlx5dv_steering_anchor_attr attr = { type, priority, comp_mask };

	return OBJ(mlx5dv_create_steering_anchor(bed->ctx, &attr));
}

CASE_ON(ON_ROCE, mlx5dv_create_steering_anchor, EINVAL, "There is no such ft_type")
{
	return create_anchor(bed, (enum mlx5dv_flow_table_type)9, 0, 0);
}

CASE_ON(ON_ROCE, mlx5dv_create_steering_anchor, EINVAL, "priority is more than 15")
{
	return create_anchor(bed, MLX5DV_FLOW_TABLE_TYPE_NIC_RX, 16, 0);
}

CASE_ON(ON_ROCE, mlx5dv_create_steering_anchor, EOPNOTSUPP, "The device has no tables of ft_type")
{
	return create_anchor(bed, MLX5DV_FLOW_TABLE_TYPE_FDB, 0, 0);
}

CASE_ON(ON_ROCE, mlx5dv_create_steering_anchor, EOPNOTSUPP, "comp_mask is not 0")
{
	return create_anchor(bed, MLX5DV_FLOW_TABLE_TYPE_NIC_RX, 0, 1);
}

CASE_ON(ON_MLX4, mlx5dv_create_steering_anchor, EOPNOTSUPP, "context is of another provider")
{
	return create_anchor(bed, MLX5DV_FLOW_TABLE_TYPE_NIC_RX, 0, 0);
}

CASE_ON(ON_ROCE, mlx5dv_create_steering_anchor, ENOMEM, "There is no memory")
{
	int ret = 0;

	/* many times, so that the provider has no room left for it */
	for (int i = 0; i < 300 && !ret; i++)
		ret = NO_MEMORY(create_anchor(bed, MLX5DV_FLOW_TABLE_TYPE_NIC_RX, 0, 0));
	return ret;
}

/* The last of the page, as the rights do not come back. */
CASE_ON(ON_ROCE, mlx5dv_create_steering_anchor, EPERM, "The program lacks CAP_NET_RAW")
{
	capabilities_drop();
	return create_anchor(bed, MLX5DV_FLOW_TABLE_TYPE_NIC_RX, 0, 0);
}

CASE(mlx5dv_get_vfio_device_list, EOPNOTSUPP, "flags or comp_mask has an unknown bit")
{
	struct mlx5dv_vfio_context_attr attr = { .pci_name = "0000:00:00.0", .comp_mask = 1 };

	return OBJ(mlx5dv_get_vfio_device_list(&attr));
}

CASE(mlx5dv_get_vfio_device_list, EINVAL, "attr is NULL")
{
	return OBJ(mlx5dv_get_vfio_device_list(NULL));
}

CASE(mlx5dv_get_vfio_device_list, ENOENT, "At pci_name is no ConnectX with an IOMMU group")
{
	struct mlx5dv_vfio_context_attr attr = { .pci_name = "ffff:1f:1f.7" };

	return OBJ(mlx5dv_get_vfio_device_list(&attr));
}

NEWER(mlx5dv_devx_uar_export_dmabuf_fd);

CASE(mlx5dv_devx_uar_export_dmabuf_fd, EPROTONOSUPPORT, "The kernel cannot export pages")
{
	struct mlx5dv_devx_uar *uar;

	if (!mlx5dv_devx_uar_export_dmabuf_fd)
		return NO_SUCH_CALL;
	uar = mlx5dv_devx_alloc_uar(bed->ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	MUST(uar);
	adapter_fault("cmd:1=EPROTONOSUPPORT");
	return SIZE(mlx5dv_devx_uar_export_dmabuf_fd(uar));
}

static int post_raw(struct bed *bed, bool rts, uint32_t octwords)
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);
	struct mlx5dv_qp_init_attr mlx5 = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
					    .send_ops_flags = MLX5DV_QP_EX_WITH_RAW_WQE };
	struct rig_conf conf = rig_conf_default();
	uint32_t wqe[64] = { htobe32(MLX5_OPCODE_NOP), htobe32(octwords) };
	struct ibv_qp *qp;

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	qp = mlx5dv_create_qp(bed->ctx, &attr, &mlx5);
	MUST(qp);
	if (rts)
		rig_qp_to(&bed->rig, &conf, qp, qp->qp_num, IBV_QPS_RTS);
	ibv_wr_start(ibv_qp_to_qp_ex(qp));
	mlx5dv_wr_raw_wqe(mlx5dv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(qp)), wqe);
	return RET(ibv_wr_complete(ibv_qp_to_qp_ex(qp)));
}

CASE(mlx5dv_wr_post, EINVAL, "The queue pair is not in RTS")
{
	return post_raw(bed, false, 1);
}

CASE(mlx5dv_wr_post, ENOMEM, "The size of wqe is 0")
{
	return post_raw(bed, true, 0);
}

CASE(mlx5dv_wr_post, EOPNOTSUPP, "an operation that is not supported")
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);
	struct mlx5dv_qp_init_attr mlx5 = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
					    .send_ops_flags = 1ull << 40 };

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	return OBJ(mlx5dv_create_qp(bed->ctx, &attr, &mlx5));
}
