/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rig.h - the first adapter, or the one that RIG_DEVICE in the environment names, and two RC queue
 * pairs connected to each other.
 *
 * Tests of the public API start from here. Each end of a pair has its own CQ and one registered
 * buffer, so each end's completions have a known order. A failed set-up ends the program (MUST); a
 * test makes the calls that it examines itself.
 */
#ifndef TESTS_LIB_RIG_H
#define TESTS_LIB_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#define RIG_PORT       1
#define RIG_ALL_REMOTE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

struct rig {
	struct ibv_context *ctx;
	struct ibv_port_attr port;
	struct ibv_device_attr device;
	union ibv_gid gid; /* index 0 of the port */
};

struct rig_conf {
	struct ibv_qp_cap cap;
	int cqe;
	int cq_ex; /* the CQ is created by ibv_create_cq_ex() */
	struct ibv_comp_channel *channel;
	void *context; /* cq_context and qp_context */
	int sig_all;
	bool unreliable;   /* the QPs are of UC, not of RC */
	uint64_t send_ops; /* unless 0, ibv_create_qp_ex() gets these send_ops_flags */
	unsigned int qp_access;
	unsigned int mr_access;
	size_t buf_size;
	enum ibv_mtu mtu;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer, rd_atomic;
};

struct rig_end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
};

struct rig_pair {
	struct rig *rig;
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct rig_end end[2];
};

/* Opens the device, or ends the program with status 1: the script has started an adapter, so
 * finding none is a failure. */
void rig_open(struct rig *rig);
void rig_close(struct rig *rig);

/* Returns sizes for small tests: 16 requests each way, 4 SGEs, 64 inline bytes, buffers of 128 KiB,
 * all access rights. */
struct rig_conf rig_conf_default(void);

void rig_qp_init_attr(const struct rig_conf *conf, struct ibv_cq *cq,
		      struct ibv_qp_init_attr *attr);
struct ibv_qp *rig_qp_create(struct ibv_pd *pd, const struct rig_conf *conf, struct ibv_cq *cq);
/* Fills in the attributes of one step to STATE, and returns their mask. */
int rig_qp_attr(const struct rig *rig, const struct rig_conf *conf, uint32_t dest_qpn,
		enum ibv_qp_state state, struct ibv_qp_attr *attr);
void rig_qp_to(const struct rig *rig, const struct rig_conf *conf, struct ibv_qp *qp,
	       uint32_t dest_qpn, enum ibv_qp_state state);

/* Opens one end. It shares PD and owns the rest. */
void rig_end_open(struct ibv_pd *pd, const struct rig_conf *conf, struct rig_end *end);
void rig_end_close(struct rig_end *end);
struct ibv_cq_ex *rig_end_cq_ex(const struct rig_end *end);

void rig_pair_open(struct rig *rig, const struct rig_conf *conf, struct rig_pair *pair);
void rig_pair_close(struct rig_pair *pair);
/* Moves both QPs through RESET to RTS again, which drops queued requests. */
void rig_pair_reconnect(struct rig_pair *pair);

/* Polls until N completions have arrived, or for RIG_TIMEOUT_MS (20000) without one. Returns the
 * number of completions. */
int rig_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc);

/* Waits long enough for the adapter to show a wrong effect. */
void rig_settle(void);
/* Polls and drops all completions after rig_settle(). Returns their number. */
int rig_drain(struct ibv_cq *cq);

/* A topic of a program with one rig; see topics.h */
struct rig_topic {
	const char *name;
	void (*run)(struct rig *rig);
};

/* Runs the topics that the arguments choose, each with a new rig. Returns the exit status. */
int rig_main(const struct rig_topic *topics, size_t count, int argc, char **argv);

int rig_count_fds(void);

#endif
