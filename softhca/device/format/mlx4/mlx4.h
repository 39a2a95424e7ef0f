/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx4.h - the parts of the format mlx4: WQEs, CQEs and doorbells of ConnectX-3.
 *
 * A front that emulates the kernel uses mlx5's commands and EQEs, which software never sees; see
 * kind.h. A kernel driver uses mlx4's commands (cmd.h) and EQEs.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_MLX4_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_MLX4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/format/format.h"

struct hca_order;

uint32_t mlx4_wqe_size(const uint8_t *raw);
void mlx4_wqe_clear_bell(uint8_t *raw);
bool mlx4_send_is_posted(const uint8_t *raw, bool odd_lap);
uint8_t mlx4_wqe_opcode(const uint8_t *raw);
uint16_t mlx4_wqe_stream(const uint8_t *raw);
int mlx4_decode_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t qpn,
		     enum fabric_service service, struct send_wqe *wqe);
/* Decodes a WQE of a control segment and data segments only. */
int mlx4_decode_raw(const uint8_t *raw, uint16_t index, struct send_wqe *wqe);
/* Adds the data segments from SEG to END of the WQE at RAW. */
int mlx4_decode_data(const uint8_t *raw, const uint8_t *seg, const uint8_t *end,
		     struct send_wqe *wqe);
void mlx4_decode_av(const uint8_t *av, bool roce, struct datagram_to *to);
void mlx4_decode_recv(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);
uint16_t mlx4_decode_srq(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);

uint32_t mlx4_changed_key(const uint8_t *raw);
int mlx4_execute_on_key(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);

int mlx4_execute_fast_reg(struct hca *hca, const struct qp *qp, const uint8_t *raw);

int mlx4_decode_special(const struct hca *hca, const struct qp *qp, const uint8_t *raw,
			uint16_t index, struct send_wqe *wqe);

uint32_t mlx4_encode_cqe(const struct cqe_place *place, const struct completion *done,
			 uint8_t *slot);
void mlx4_encode_ring_end(uint8_t *cqe);
void mlx4_set_cqe_owner(uint8_t *cqe, bool owner);
bool mlx4_is_software_cqe(const uint8_t *cqe, bool owner);

void mlx4_put_time(const struct cqe_place *place, uint8_t *cqe);

int mlx4_decode_frame_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
			   struct frame_send *send);
void mlx4_encode_frame_cqe(const struct cqe_place *place, const struct frame_completion *done,
			   uint8_t *cqe);

struct cq_arm mlx4_decode_arm(uint32_t word_be);
void mlx4_ring(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
uint32_t mlx4_rung_sq(uint64_t value_be);
uint32_t mlx4_rung_cq(uint64_t value_be);
/* Takes a doorbell on a page that also has registers of event queues. */
void mlx4_ring_driver(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);

void mlx4_encode_eqe(const struct event *event, uint8_t *eqe);
void mlx4_set_eqe_owner(uint8_t *eqe, bool owner);
void mlx4_trace_eqe(struct trace *trace, uint32_t eqn, const uint8_t *eqe);
void m4_command_event(struct hca *hca, const struct hca_order *order, uint8_t status);

void mlx4_trace_send(struct trace *trace, uint32_t qpn, uint32_t index, const uint8_t *wqe,
		     size_t len);
void mlx4_trace_cqe(struct trace *trace, uint32_t cqn, uint32_t index, const uint8_t *cqe);
const char *mlx4_opcode_name(uint8_t opcode);

bool mlx4_judge_write(struct hca *hca, uint32_t uar, uint32_t offset, const uint8_t *bytes,
		      size_t len);
void mlx4_judge_found(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
void mlx4_judge_send(struct hca *hca, const struct qp *qp, uint16_t index, const uint8_t *raw);
void mlx4_judge_posted(struct hca *hca, const struct qp *qp);
void mlx4_judge_frame(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw);
void mlx4_judge_frames_posted(struct hca *hca, const struct eth_sq *sq);

#endif
