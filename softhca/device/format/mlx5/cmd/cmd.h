/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd.h - commands: a function for each, which reads the input mailbox and fills the output
 * mailbox. cmd.c has the table.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_CMD_CMD_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_CMD_CMD_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"

struct flow_table;
struct hca;

struct cmd {
	const uint8_t *in;
	size_t in_len;
	uint8_t *out;
	size_t out_len;
	const char *why; /* cause of a failure, for the syndrome and the trace */
};

typedef enum prm_status (*cmd_fn)(struct hca *hca, struct cmd *cmd);

static inline enum prm_status cmd_fail(struct cmd *cmd, enum prm_status status, const char *why)
{
	cmd->why = why;
	return status;
}

/* Fails a command with the status for ERR, which is an errno of an allocation or of a lookup. */
enum prm_status cmd_errno(struct cmd *cmd, int err, const char *what);

/* Returns whether a reserved part of a mailbox is 0. */
bool cmd_is_zero(const uint8_t *bytes, size_t len);

/* Asserts that OBJECT has room for a context of SIZE bytes. */
#define CONTEXT_HOLDS(object, size) \
	static_assert((size) <= sizeof(((object *)0)->context), "the context is too small")

bool mlx5_has_steering(const struct hca *hca);

/* Timeouts of LRO in microseconds: how long a TIR may hold a segment to merge later ones. See
 * cmd/tir.c. */
extern const uint16_t mlx5_lro_periods[4];

enum { CMD_OUT_MAX = PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE };

/* Returns the room for an answer of variable length, in bytes. */
static inline size_t cmd_out_room(const struct cmd *cmd)
{
	return cmd->out_len < CMD_OUT_MAX ? cmd->out_len : CMD_OUT_MAX;
}

/* Returns whether the answer has room for COUNT elements of SIZE bytes in its list at LIST. */
static inline bool cmd_has_room(const struct cmd *cmd, const uint8_t *list, size_t count,
				size_t size)
{
	return count * size <= cmd_out_room(cmd) - (size_t)(list - cmd->out);
}

/* Returns the page list PAS[] at PART of the input mailbox, and the number of entries that fit. */
static inline const void *cmd_pas(const struct cmd *cmd, uint32_t part, size_t *count)
{
	size_t at = FLD_BYTE(part);

	*count = cmd->in_len > at ? (cmd->in_len - at) / 8 : 0;
	return cmd->in + at;
}

enum prm_status driver_enable(struct hca *hca, struct cmd *cmd);
enum prm_status driver_disable(struct hca *hca, struct cmd *cmd);
enum prm_status driver_query_issi(struct hca *hca, struct cmd *cmd);
enum prm_status driver_set_issi(struct hca *hca, struct cmd *cmd);
enum prm_status driver_query_pages(struct hca *hca, struct cmd *cmd);
enum prm_status driver_manage_pages(struct hca *hca, struct cmd *cmd);
enum prm_status driver_init(struct hca *hca, struct cmd *cmd);
enum prm_status driver_teardown(struct hca *hca, struct cmd *cmd);
enum prm_status uctx_create(struct hca *hca, struct cmd *cmd);
enum prm_status uctx_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status umem_create(struct hca *hca, struct cmd *cmd);
enum prm_status umem_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status xrcd_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status xrcd_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status xrc_srq_create(struct hca *hca, struct cmd *cmd);
enum prm_status xrc_srq_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status rmp_create(struct hca *hca, struct cmd *cmd);
enum prm_status rmp_destroy(struct hca *hca, struct cmd *cmd);
/* Returns how many strides a WQE of a striding queue has, by its WQ context. */
uint32_t wq_strides(const uint8_t *wq);
enum prm_status xrq_create(struct hca *hca, struct cmd *cmd);
enum prm_status xrq_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status xrq_query(struct hca *hca, struct cmd *cmd);
enum prm_status xrq_arm(struct hca *hca, struct cmd *cmd);
enum prm_status xrc_srq_arm(struct hca *hca, struct cmd *cmd);
enum prm_status xrc_srq_query(struct hca *hca, struct cmd *cmd);
enum prm_status rmp_modify(struct hca *hca, struct cmd *cmd);
enum prm_status rmp_query(struct hca *hca, struct cmd *cmd);
enum prm_status reg_access(struct hca *hca, struct cmd *cmd);
enum prm_status caps_query(struct hca *hca, struct cmd *cmd);
enum prm_status caps_set(struct hca *hca, struct cmd *cmd);
enum prm_status caps_query_adapter(struct hca *hca, struct cmd *cmd);
enum prm_status uar_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status uar_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status pd_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status pd_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status td_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status td_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status mkey_create(struct hca *hca, struct cmd *cmd);
enum prm_status mkey_query(struct hca *hca, struct cmd *cmd);
enum prm_status mkey_query_special(struct hca *hca, struct cmd *cmd);
enum prm_status mkey_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status psv_create(struct hca *hca, struct cmd *cmd);
enum prm_status psv_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status eq_create(struct hca *hca, struct cmd *cmd);
enum prm_status eq_query(struct hca *hca, struct cmd *cmd);
enum prm_status eq_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status cq_create(struct hca *hca, struct cmd *cmd);
enum prm_status cq_query(struct hca *hca, struct cmd *cmd);
enum prm_status cq_modify(struct hca *hca, struct cmd *cmd);
enum prm_status cq_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status qp_create(struct hca *hca, struct cmd *cmd);
enum prm_status qp_query(struct hca *hca, struct cmd *cmd);
enum prm_status qp_modify(struct hca *hca, struct cmd *cmd);
enum prm_status qp_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status mad_answer(struct hca *hca, struct cmd *cmd);
enum prm_status dct_create(struct hca *hca, struct cmd *cmd);
enum prm_status dct_do_drain(struct hca *hca, struct cmd *cmd);
enum prm_status dct_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status dct_query(struct hca *hca, struct cmd *cmd);
enum prm_status dct_arm(struct hca *hca, struct cmd *cmd);
enum prm_status mcg_attach(struct hca *hca, struct cmd *cmd);
enum prm_status mcg_detach(struct hca *hca, struct cmd *cmd);
enum prm_status port_query_context(struct hca *hca, struct cmd *cmd);
enum prm_status port_modify_context(struct hca *hca, struct cmd *cmd);
enum prm_status port_query_gid(struct hca *hca, struct cmd *cmd);
enum prm_status port_query_pkey(struct hca *hca, struct cmd *cmd);
enum prm_status port_set_roce_address(struct hca *hca, struct cmd *cmd);
enum prm_status port_query_roce_address(struct hca *hca, struct cmd *cmd);
enum prm_status memic_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status memic_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status memic_modify(struct hca *hca, struct cmd *cmd);
enum prm_status pacing_set_rate(struct hca *hca, struct cmd *cmd);
enum prm_status vport_query(struct hca *hca, struct cmd *cmd);
enum prm_status vport_modify(struct hca *hca, struct cmd *cmd);
enum prm_status vport_query_state(struct hca *hca, struct cmd *cmd);
enum prm_status vport_modify_state(struct hca *hca, struct cmd *cmd);
enum prm_status vport_query_counter(struct hca *hca, struct cmd *cmd);
enum prm_status q_counter_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status q_counter_query(struct hca *hca, struct cmd *cmd);
enum prm_status q_counter_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status eth_rq_create(struct hca *hca, struct cmd *cmd);
enum prm_status eth_rq_modify(struct hca *hca, struct cmd *cmd);
enum prm_status eth_rq_query(struct hca *hca, struct cmd *cmd);
enum prm_status eth_rq_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status eth_sq_create(struct hca *hca, struct cmd *cmd);
enum prm_status eth_sq_modify(struct hca *hca, struct cmd *cmd);
enum prm_status eth_sq_query(struct hca *hca, struct cmd *cmd);
enum prm_status eth_sq_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status tis_create(struct hca *hca, struct cmd *cmd);
enum prm_status tis_modify(struct hca *hca, struct cmd *cmd);
enum prm_status tis_query(struct hca *hca, struct cmd *cmd);
enum prm_status tis_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status tir_create(struct hca *hca, struct cmd *cmd);
enum prm_status tir_modify(struct hca *hca, struct cmd *cmd);
enum prm_status tir_query(struct hca *hca, struct cmd *cmd);
enum prm_status tir_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status rqt_create(struct hca *hca, struct cmd *cmd);
enum prm_status rqt_modify(struct hca *hca, struct cmd *cmd);
enum prm_status rqt_query(struct hca *hca, struct cmd *cmd);
enum prm_status rqt_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status flow_table_create(struct hca *hca, struct cmd *cmd);
enum prm_status flow_table_modify(struct hca *hca, struct cmd *cmd);
enum prm_status flow_table_query(struct hca *hca, struct cmd *cmd);
enum prm_status flow_table_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status flow_table_set_root(struct hca *hca, struct cmd *cmd);
enum prm_status flow_group_create(struct hca *hca, struct cmd *cmd);
enum prm_status flow_group_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status flow_entry_set(struct hca *hca, struct cmd *cmd);
enum prm_status flow_entry_query(struct hca *hca, struct cmd *cmd);
enum prm_status flow_entry_delete(struct hca *hca, struct cmd *cmd);
enum prm_status flow_counter_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status flow_counter_query(struct hca *hca, struct cmd *cmd);
enum prm_status flow_counter_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status modify_header_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status modify_header_dealloc(struct hca *hca, struct cmd *cmd);
enum prm_status packet_reformat_alloc(struct hca *hca, struct cmd *cmd);
enum prm_status packet_reformat_dealloc(struct hca *hca, struct cmd *cmd);

enum prm_status general_obj(struct hca *hca, struct cmd *cmd);
enum prm_status sched_create(struct hca *hca, struct cmd *cmd);
enum prm_status sched_modify(struct hca *hca, struct cmd *cmd);
enum prm_status sched_query(struct hca *hca, struct cmd *cmd);
enum prm_status sched_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status av_mapping_create(struct hca *hca, struct cmd *cmd);
enum prm_status av_mapping_query(struct hca *hca, struct cmd *cmd);
enum prm_status av_mapping_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status sw_icm_create(struct hca *hca, struct cmd *cmd);
enum prm_status sampler_create(struct hca *hca, struct cmd *cmd);
enum prm_status sampler_query(struct hca *hca, struct cmd *cmd);
enum prm_status sampler_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status flow_meter_create(struct hca *hca, struct cmd *cmd);
enum prm_status flow_meter_modify(struct hca *hca, struct cmd *cmd);
enum prm_status flow_meter_query(struct hca *hca, struct cmd *cmd);
enum prm_status flow_meter_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status aso_create(struct hca *hca, struct cmd *cmd);
enum prm_status aso_query(struct hca *hca, struct cmd *cmd);
enum prm_status aso_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status steering_sync(struct hca *hca, struct cmd *cmd);
enum prm_status sw_icm_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status reserved_qpn_create(struct hca *hca, struct cmd *cmd);
enum prm_status reserved_qpn_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status login_create(struct hca *hca, struct cmd *cmd);
enum prm_status login_query(struct hca *hca, struct cmd *cmd);
enum prm_status login_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status dek_create(struct hca *hca, struct cmd *cmd);
enum prm_status dek_query(struct hca *hca, struct cmd *cmd);
enum prm_status dek_destroy(struct hca *hca, struct cmd *cmd);
enum prm_status lag_query(struct hca *hca, struct cmd *cmd);

/* Finds scheduling group N of a queue; NULL if N is 0. Returns NULL, or the reason why the queue
 * may not use it. In cmd/sched.c. */
struct sched_element;
const char *sched_find_group(const struct hca *hca, uint32_t n, struct sched_element **group);

/* Ports of queues on a bonded adapter; in cmd/lag.c. lag_port_of() returns the port of queue NUMBER
 * if the queue names none, or 0 if ports are not bonded. */
uint32_t lag_port_of(const struct hca *hca, uint32_t number);
const char *lag_check_port(const struct hca *hca, uint64_t port);

/* Returns the flow table that a command names, or fails the command and returns NULL. In
 * cmd/flow/flow_table.c. */
struct flow_table *flow_table_find(struct hca *hca, struct cmd *cmd);

#endif
