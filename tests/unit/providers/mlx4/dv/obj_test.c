/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * obj_test.c - mlx4dv_init_obj(): each object alone, all of them in one call, and none of a device
 * of another provider.
 */
#include "tests/unit/providers/mlx4/rig.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "providers/mlx4/mlx4dv.h"
#include "providers/mlx4/srq.h"
#include "providers/mlx4/wq.h"

enum { ALL = MLX4DV_OBJ_QP | MLX4DV_OBJ_CQ | MLX4DV_OBJ_SRQ | MLX4DV_OBJ_RWQ, WQN = 0x4711 };

int verbs_cmd_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr,
			struct ibv_wq *wq, const struct verbs_udata *udata)
{
	(void)udata;
	wq->context = context;
	wq->cq = attr->cq;
	wq->wq_num = WQN;
	return 0;
}

int verbs_cmd_destroy_wq(struct ibv_wq *wq)
{
	(void)wq;
	return 0;
}

struct objects {
	struct rig *rig;
	struct verbs_device *device;
	struct verbs_srq *srq;
	struct ibv_wq *wq;
};

static int open_objects(void **state)
{
	static struct objects o;
	struct ibv_context *context;
	struct ibv_srq_init_attr_ex srq = { .attr = { .max_wr = 3, .max_sge = 2 },
					    .comp_mask = IBV_SRQ_INIT_ATTR_PD };
	struct ibv_wq_init_attr wq = { .wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 8 };

	o.rig = rig_new(NULL);
	context = &o.rig->ctx->vctx.context;
	o.device = (struct verbs_device *)context->device;
	o.device->driver = &verbs_provider_mlx4;
	srq.pd = wq.pd = &o.rig->pd.pd;
	wq.cq = &o.rig->cq->vcq.cq;
	assert_int_equal(mlx4_srq_create(context, &srq, &o.srq), 0);
	o.wq = mlx4_wq_create(context, &wq);
	assert_non_null(o.wq);
	*state = &o;
	return 0;
}

static int close_objects(void **state)
{
	struct objects *o = *state;

	assert_int_equal(mlx4_wq_destroy(o->wq), 0);
	assert_int_equal(mlx4_srq_destroy(&o->srq->srq), 0);
	rig_free(o->rig);
	return 0;
}

/* What a call fills in; bytes of 0xee have not been written. */
struct views {
	struct mlx4dv_qp qp;
	struct mlx4dv_cq cq;
	struct mlx4dv_srq srq;
	struct mlx4dv_rwq rwq;
};

static int init_obj(struct objects *o, uint64_t types, uint64_t qp_mask, uint64_t cq_mask,
		    struct views *views)
{
	struct mlx4dv_obj obj;

	memset(views, 0xee, sizeof(*views));
	memset(&obj, 0, sizeof(obj)); /* what the types do not name is not looked at */
	if (types & MLX4DV_OBJ_QP)
		obj.qp.in = &o->rig->qp->vqp.qp;
	if (types & MLX4DV_OBJ_CQ)
		obj.cq.in = &o->rig->cq->vcq.cq;
	if (types & MLX4DV_OBJ_SRQ)
		obj.srq.in = &o->srq->srq;
	if (types & MLX4DV_OBJ_RWQ)
		obj.rwq.in = o->wq;
	obj.qp.out = &views->qp;
	obj.cq.out = &views->cq;
	obj.srq.out = &views->srq;
	obj.rwq.out = &views->rwq;
	views->qp.comp_mask = qp_mask;
	views->cq.comp_mask = cq_mask;
	errno = 0;
	return mlx4dv_init_obj(&obj, types);
}

static void check_qp(const struct objects *o, const struct mlx4dv_qp *view)
{
	const struct mlx4_qp *qp = o->rig->qp;
	const uint8_t *buf = qp->buf.addr;

	assert_ptr_equal(view->rdb, qp->rq.dbrec);
	assert_ptr_equal(view->sdb, qp->sq.doorbell);
	assert_int_equal(view->doorbell_qpn, qp->sq.qpn_be);
	assert_int_equal(view->sq.wqe_cnt, rig_slots(o->rig));
	assert_int_equal(view->sq.wqe_shift, qp->sq.slot_log);
	assert_ptr_equal(buf + view->sq.offset, rig_slot(o->rig, 0));
	assert_int_equal(view->rq.wqe_cnt, 4);
	assert_int_equal(view->rq.wqe_shift, 5); /* two SGEs */
	assert_ptr_equal(buf + view->rq.offset, qp->rq.buf);
	assert_ptr_equal(view->buf.buf, buf);
	assert_int_equal(view->buf.length, qp->buf.size);
}

static void check_cq(const struct objects *o, const struct mlx4dv_cq *view)
{
	const struct mlx4_cq *cq = o->rig->cq;

	assert_ptr_equal(view->buf.buf, cq->buf.addr);
	assert_int_equal(view->buf.length, cq->buf.size);
	assert_int_equal(view->cqe_cnt, 8);
	assert_int_equal(view->cqn, RIG_CQN);
	assert_ptr_equal(view->set_ci_db, cq->dbrec);
	assert_ptr_equal(view->arm_db, cq->dbrec + 1);
	assert_int_equal(view->arm_sn, cq->arm_sn);
	assert_int_equal(view->cqe_size, 64);
	assert_true(cq->taken);
}

static void check_srq(const struct objects *o, const struct mlx4dv_srq *view, int posted)
{
	const struct mlx4_srq *srq = to_msrq(&o->srq->srq);

	assert_ptr_equal(view->buf.buf, srq->buf.addr);
	assert_int_equal(view->buf.length, srq->buf.size);
	assert_int_equal(view->wqe_shift, 6);
	assert_int_equal(view->head, posted);
	assert_int_equal(view->tail, 3);
	assert_ptr_equal(view->db, srq->dbrec);
	assert_int_equal(view->comp_mask, 0);
}

static void check_rwq(const struct objects *o, const struct mlx4dv_rwq *view)
{
	const struct mlx4_qp *qp = mlx4_wq_queue(o->wq);

	assert_ptr_equal(view->rdb, qp->rq.dbrec);
	assert_int_equal(view->rq.wqe_cnt, 8);
	assert_int_equal(view->rq.wqe_shift, 7);
	assert_ptr_equal((const uint8_t *)view->buf.buf + view->rq.offset, qp->rq.buf);
	assert_ptr_equal(view->buf.buf, qp->buf.addr);
	assert_int_equal(view->buf.length, qp->buf.size);
	assert_int_equal(view->comp_mask, 0);
}

static void post_to_srq(struct objects *o)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	assert_int_equal(mlx4_post_srq_recv(&o->srq->srq, &wr, &bad), 0);
}

/* Objects that the call was not asked for are neither looked at nor written, as programs leave
 * their pointers uninitialised. */
static void check_views(struct objects *o, uint64_t types, int posted)
{
	struct views views, untouched;

	memset(&untouched, 0xee, sizeof(untouched));
	untouched.qp.comp_mask = untouched.cq.comp_mask = 0;
	assert_int_equal(init_obj(o, types, 0, 0, &views), 0);
	if (types & MLX4DV_OBJ_QP)
		check_qp(o, &views.qp);
	else
		assert_memory_equal(&views.qp, &untouched.qp, sizeof(views.qp));
	if (types & MLX4DV_OBJ_CQ)
		check_cq(o, &views.cq);
	else
		assert_memory_equal(&views.cq, &untouched.cq, sizeof(views.cq));
	if (types & MLX4DV_OBJ_SRQ)
		check_srq(o, &views.srq, posted);
	else
		assert_memory_equal(&views.srq, &untouched.srq, sizeof(views.srq));
	if (types & MLX4DV_OBJ_RWQ)
		check_rwq(o, &views.rwq);
	else
		assert_memory_equal(&views.rwq, &untouched.rwq, sizeof(views.rwq));
}

static void any_choice_of_objects_is_shown(void **state)
{
	for (uint64_t types = 0; types <= ALL; types++)
		check_views(*state, types, 0);
	post_to_srq(*state);
	check_views(*state, MLX4DV_OBJ_SRQ, 1);
}

static void members_are_granted_that_the_mask_asks_for(void **state)
{
	struct objects *o = *state;
	struct views views;

	assert_int_equal(init_obj(o, MLX4DV_OBJ_QP, UINT64_MAX, 0, &views), 0);
	assert_int_equal(views.qp.comp_mask, MLX4DV_QP_MASK_UAR_MMAP_OFFSET);
	assert_int_equal(views.qp.uar_mmap_offset, 0);
	assert_int_equal(init_obj(o, MLX4DV_OBJ_QP, MLX4DV_QP_MASK_UAR_MMAP_OFFSET << 1, 0, &views),
			 0);
	assert_int_equal(views.qp.comp_mask, 0);
	assert_int_not_equal(views.qp.uar_mmap_offset, 0);
	assert_int_equal(init_obj(o, MLX4DV_OBJ_CQ, 0, UINT64_MAX, &views), 0);
	assert_int_equal(views.cq.comp_mask, MLX4DV_CQ_MASK_UAR);
	assert_ptr_equal(views.cq.cq_uar, o->rig->ctx->uar);
	assert_int_equal(init_obj(o, MLX4DV_OBJ_CQ, 0, MLX4DV_CQ_MASK_UAR << 1, &views), 0);
	assert_int_equal(views.cq.comp_mask, 0);
	assert_ptr_not_equal(views.cq.cq_uar, o->rig->ctx->uar);
}

/* With one foreign object, nothing is written of any: the caller could not know which are valid. */
static void objects_of_another_provider_are_refused(void **state)
{
	struct objects *o = *state;
	struct verbs_device foreign = *o->device;
	struct ibv_context context = { .device = &foreign.device }, **owners[] = {
		&o->rig->qp->vqp.qp.context,
		&o->rig->cq->vcq.cq.context,
		&o->srq->srq.context,
		&o->wq->context,
	};
	struct ibv_context *const ours = o->wq->context;
	struct views views, untouched;

	foreign.driver = NULL;
	memset(&untouched, 0xee, sizeof(untouched));
	untouched.qp.comp_mask = untouched.cq.comp_mask = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(owners); i++)
		for (uint64_t types = 1; types <= ALL; types++) {
			if (!(types & 1u << i))
				continue;
			*owners[i] = &context;
			assert_int_equal(init_obj(o, types, 0, 0, &views), EOPNOTSUPP);
			assert_int_equal(errno, EOPNOTSUPP);
			*owners[i] = ours;
			assert_memory_equal(&views, &untouched, sizeof(views));
		}
}

/* An initiator of XRC receives nothing, so its ring of receives is empty. */
static void a_qp_without_receives_has_an_empty_ring_of_them(void **state)
{
	const struct rig_options options = { .type = IBV_QPT_XRC_SEND };
	struct objects o = *(struct objects *)*state;
	struct views views;

	o.rig = rig_new(&options);
	assert_int_equal(init_obj(&o, MLX4DV_OBJ_QP, 0, 0, &views), 0);
	assert_int_equal(views.qp.rq.wqe_cnt, 0);
	assert_int_equal(views.qp.rq.offset, 0);
	rig_free(o.rig);
}

#define OBJECT_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_objects, close_objects)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OBJECT_TEST(any_choice_of_objects_is_shown),
		OBJECT_TEST(members_are_granted_that_the_mask_asks_for),
		OBJECT_TEST(objects_of_another_provider_are_refused),
		OBJECT_TEST(a_qp_without_receives_has_an_empty_ring_of_them),
	};

	return RIG_RUN(tests);
}
