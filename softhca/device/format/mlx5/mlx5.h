/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx5.h - the parts of the format mlx5, and what those objects use of it that only mlx5 has:
 * queues of frames, UMR, tag matching.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_MLX5_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_MLX5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/format/format.h"

struct mkey;
struct qp_path;
struct crypt;
struct sig;

uint32_t mlx5_wqe_size(const uint8_t *raw);
uint32_t mlx5_wqe_bbs(const uint8_t *raw);
size_t mlx5_masked_size(const uint8_t *raw);
uint8_t mlx5_wqe_opcode(const uint8_t *raw);
uint16_t mlx5_wqe_stream(const uint8_t *raw);
uint32_t mlx5_umr_key(const uint8_t *raw);
int mlx5_decode_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t qpn,
		     enum fabric_service service, struct send_wqe *wqe);
void mlx5_decode_recv(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);
uint16_t mlx5_decode_srq(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);

void mlx5_decode_path(const uint8_t *ads, bool roce, struct qp_path *path);
void mlx5_decode_av(const uint8_t *av, bool roce, struct datagram_to *to);

bool mlx5_send_is_signed(const uint8_t *raw);
bool mlx5_recv_is_signed(const uint8_t *raw, uint32_t stride, uint32_t n, uint16_t index);

void mlx5_decode_mkey(struct mkey *mkey);
int mlx5_add_special_key(struct hca *hca);

int mlx5_create(struct hca *hca);
void mlx5_destroy(struct hca *hca);

int mlx5_execute_umr(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);
int mlx5_execute_frame_umr(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw,
			   size_t len);

uint32_t mlx5_encode_cqe(const struct cqe_place *place, const struct completion *done,
			 uint8_t *slot);
void mlx5_encode_ring_end(uint8_t *cqe);
void mlx5_encode_sig_error(const struct mkey *key, uint32_t qpn, uint8_t *cqe);
/* Decodes what a key computes; it returns false when the adapter does not have it. */
bool mlx5_decode_bsf(const uint8_t *bsf, size_t len, struct sig *sig, struct crypt *crypt);
void mlx5_set_cqe_owner(uint8_t *cqe, bool owner);
void mlx5_set_cqe_lap(uint8_t *cqe, uint8_t lap);
bool mlx5_is_software_cqe(const uint8_t *cqe, bool owner);

bool mlx5_can_compress(const uint8_t *cqe);
bool mlx5_cqe_follows(const uint8_t *title, const uint8_t *last, const uint8_t *cqe);
void mlx5_encode_mini_cqe(const struct run_format *format, const uint8_t *cqe, uint8_t *mini);
void mlx5_encode_title(uint8_t *cqe, uint32_t count);
void mlx5_encode_block(uint8_t *block, uint32_t count);

int mlx5_decode_frame_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
			   struct frame_send *send);
int mlx5_decode_underlay_send(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
			      struct frame_send *send, struct datagram_to *to);
uint16_t mlx5_striding_next(const uint8_t *head);
void mlx5_decode_frame_recv(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);
void mlx5_encode_frame_cqe(const struct cqe_place *place, const struct frame_completion *done,
			   uint8_t *cqe);

void mlx5_encode_eqe(const struct event *event, uint8_t *eqe);
void mlx5_set_eqe_owner(uint8_t *eqe, bool owner);

struct cq_arm mlx5_decode_arm(uint32_t word_be);
void mlx5_ring(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
uint32_t mlx5_rung_sq(uint64_t value_be);
uint32_t mlx5_rung_cq(uint64_t value_be);

void mlx5_trace_command(struct trace *trace, const void *in, size_t in_len, const void *out,
			size_t out_len);
void mlx5_trace_send(struct trace *trace, uint32_t qpn, uint32_t index, const uint8_t *wqe,
		     size_t len);
void mlx5_trace_cqe(struct trace *trace, uint32_t cqn, uint32_t index, const uint8_t *cqe);
void mlx5_trace_eqe(struct trace *trace, uint32_t eqn, const uint8_t *eqe);
const char *mlx5_opcode_name(uint8_t opcode);

void mlx5_judge_send(struct hca *hca, const struct qp *qp, uint16_t index, const uint8_t *raw);

bool mlx5_judge_write(struct hca *hca, uint32_t uar, uint32_t offset, const uint8_t *bytes,
		      size_t len);
void mlx5_judge_found(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
void mlx5_bells_create(struct uar *uar);
void mlx5_bells_free(struct hca *hca, struct uar *uar);

#endif
