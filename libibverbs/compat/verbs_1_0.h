/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_1_0.h - the structs of release 1.0, for programs built before 2007.
 *
 * Such a program calls the functions of version IBVERBS_1.0. It gets objects in the old layout,
 * each of which wraps a real object ("real", after the fields that the program knows). The wrapper
 * is the real object's cq_context, qp_context or srq_context, so that events lead back to it.
 */
#ifndef LIBIBVERBS_COMPAT_VERBS_1_0_H
#define LIBIBVERBS_COMPAT_VERBS_1_0_H

#include "libibverbs/private.h"

#include <assert.h>
#include <pthread.h>

/* Defines a function of version IBVERBS_1.0. Only programs of that release get the function,
 * because the version is not the default one for linking. */
#define COMPAT_FN(type, name, params)                                \
	VERBS_EXPORT type name##_1_0 params;                         \
	__asm__(".symver " #name "_1_0, ibv_" #name "@IBVERBS_1.0"); \
	VERBS_EXPORT type name##_1_0 params

struct old_device {
	void *unused[2];
	struct ibv_device *real;
	void *unused_ops[2];
	struct old_device *next;
};

struct old_context;
struct old_cq;
struct old_qp;
struct old_srq;
struct old_send_wr;
struct old_recv_wr;

/* Slots that programs of release 1.0 call inline. The unused slots were called by the library
 * only. */
struct old_context_ops {
	void *unused_0[7];
	int (*poll_cq)(struct old_cq *cq, int num_entries, struct ibv_wc *wc);
	int (*req_notify_cq)(struct old_cq *cq, int solicited_only);
	void *unused_9[7];
	int (*post_srq_recv)(struct old_srq *srq, struct old_recv_wr *wr,
			     struct old_recv_wr **bad_wr);
	void *unused_17[4];
	int (*post_send)(struct old_qp *qp, struct old_send_wr *wr, struct old_send_wr **bad_wr);
	int (*post_recv)(struct old_qp *qp, struct old_recv_wr *wr, struct old_recv_wr **bad_wr);
	void *unused_23[4];
};

struct old_context {
	struct old_device *device;
	struct old_context_ops ops;
	int cmd_fd;
	int async_fd;
	int num_comp_vectors;
	struct ibv_context *real;
	struct old_context *next;
};

struct old_pd {
	struct old_context *context;
	uint32_t handle;
	struct ibv_pd *real;
};

struct old_mr {
	struct old_context *context;
	struct old_pd *pd;
	uint32_t handle;
	uint32_t lkey;
	uint32_t rkey;
	struct ibv_mr *real;
};

struct old_ah {
	struct old_context *context;
	struct old_pd *pd;
	struct ibv_ah *real;
};

struct old_cq {
	struct old_context *context;
	void *cq_context;
	uint32_t handle;
	int cqe;
	pthread_mutex_t mutex; /* unused, like cond and the counts: the real CQ has its own */
	pthread_cond_t cond;
	uint32_t comp_events_completed;
	uint32_t async_events_completed;
	struct ibv_cq *real;
};

struct old_srq {
	struct old_context *context;
	void *srq_context;
	struct old_pd *pd;
	uint32_t handle;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
	struct ibv_srq *real;
};

struct old_qp {
	struct old_context *context;
	void *qp_context;
	struct old_pd *pd;
	struct old_cq *send_cq;
	struct old_cq *recv_cq;
	struct old_srq *srq;
	uint32_t handle;
	uint32_t qp_num;
	enum ibv_qp_state state;
	enum ibv_qp_type qp_type;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	uint32_t events_completed;
	struct ibv_qp *real;
};

struct old_qp_init_attr {
	void *qp_context;
	struct old_cq *send_cq;
	struct old_cq *recv_cq;
	struct old_srq *srq;
	struct ibv_qp_cap cap;
	enum ibv_qp_type qp_type;
	int sq_sig_all;
};

/* In release 1.0, next came before wr_id. */
struct old_send_wr {
	struct old_send_wr *next;
	uint64_t wr_id;
	struct ibv_sge *sg_list;
	int num_sge;
	enum ibv_wr_opcode opcode;
	unsigned int send_flags;
	__be32 imm_data;
	union {
		struct {
			uint64_t remote_addr;
			uint32_t rkey;
		} rdma;
		struct {
			uint64_t remote_addr;
			uint64_t compare_add;
			uint64_t swap;
			uint32_t rkey;
		} atomic;
		struct {
			struct old_ah *ah;
			uint32_t remote_qpn;
			uint32_t remote_qkey;
		} ud;
	} wr;
};

struct old_recv_wr {
	struct old_recv_wr *next;
	uint64_t wr_id;
	struct ibv_sge *sg_list;
	int num_sge;
};

union old_element {
	struct old_cq *cq;
	struct old_qp *qp;
	struct old_srq *srq;
	int port_num;
};

struct old_async_event {
	union old_element element;
	enum ibv_event_type event_type;
};

/* The sizes are checked on 64-bit machines. Mutexes have 40 or 48 bytes, depending on the
 * architecture, so they are counted apart. */
#if UINTPTR_MAX == UINT64_MAX
static_assert(offsetof(struct old_context, cmd_fd) == 28 * 8, "27 slots");
static_assert(offsetof(struct old_context, real) == 30 * 8, "release 1.0");
static_assert(offsetof(struct old_mr, real) == 4 * 8, "release 1.0");
static_assert(offsetof(struct old_cq, real) == 10 * 8 + sizeof(pthread_mutex_t), "release 1.0");
static_assert(offsetof(struct old_qp, real) == 15 * 8 + sizeof(pthread_mutex_t), "release 1.0");
static_assert(sizeof(struct old_send_wr) == 72, "release 1.0");
#endif

extern const struct old_context_ops verbs_old_ops;

#endif
