/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watched.h - a context with the checker in front of a provider of the test's own. Its objects are
 * plain memory, and the test chooses its completions.
 */
#ifndef TESTS_UNIT_LIBIBVERBS_CHECK_WATCHED_H
#define TESTS_UNIT_LIBIBVERBS_CHECK_WATCHED_H

#include "tests/unit/libibverbs/unit.h"

#include "libibverbs/check/check.h"
#include "tests/unit/log_text.h"

/* What the provider does next. */
struct watched_provider {
	int err;              /* result of each call but a poll */
	int takes;            /* requests that a post accepts */
	struct ibv_wc wcs[8]; /* what a poll returns, the first `completions` of them */
	int completions;
	uint32_t lkey, qpn;        /* of the next region and queue pair */
	unsigned int posts, polls; /* calls that reached the provider */
	void *behind;              /* what CQs have where ours have start_poll() */
	void (*in_post)(void);     /* NULL, or runs inside of a post */
	void (*in_poll)(void);     /* as in_post */
	void (*in_query)(void);    /* NULL, or runs once inside of a query */
};

extern struct watched_provider provider;
/* The context is open while a test runs: see WATCHED_TEST(). */
extern struct ibv_context *watched;
extern struct ibv_pd watched_pd, other_pd;

int watched_open(void **state);
int watched_close(void **state);

/* The calls of the program. They fail the test if the call fails. */
struct verbs_mr *watched_region(void *addr, size_t length, unsigned int access);
struct ibv_cq *watched_cq(int cqe);
struct ibv_qp *watched_qp(enum ibv_qp_type type, struct ibv_cq *cq, struct ibv_srq *srq);
struct ibv_srq *watched_srq(void);
void watched_modify(struct ibv_qp *qp, enum ibv_qp_state state);

struct ibv_sge watched_sge(const void *addr, uint32_t length, const struct verbs_mr *vmr);
int watched_send(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge, unsigned int flags);
int watched_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge);
void watched_complete(struct ibv_cq *cq, const struct ibv_qp *qp, uint64_t wr_id,
		      enum ibv_wc_opcode opcode, enum ibv_wc_status status);

#define says_nothing()   assert_string_equal(log_text(), "")

#define WATCHED_TEST(fn) cmocka_unit_test_setup_teardown(fn, watched_open, watched_close)

#endif
