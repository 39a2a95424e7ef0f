/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the inline calls of the public headers do, as text: which operation or function they reach,
 * with which arguments, and what they answer when there is none. Built once with our headers and
 * once with the installed ones; the output of both must be the same. Only names of release 44 are
 * used. The exported functions are stand-ins that say their name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>

static struct verbs_context vctx;
static struct ibv_pd pd = { .context = &vctx.context };
static volatile unsigned int access_at_run_time;

/* In parentheses, so that a name is not taken for the macro that the headers define over it. */
int(ibv_query_port)(struct ibv_context *context, uint8_t port_num,
		    struct _compat_ibv_port_attr *attr)
{
	(void)context;
	printf("exported query_port %d, first bytes %d\n", port_num, *(unsigned char *)attr);
	return 5;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	printf("exported query_device, zeroed %d\n", attr->max_qp == 0);
	return 6;
}

struct ibv_mr *(ibv_reg_mr)(struct ibv_pd *p, void *addr, size_t length, int access)
{
	printf("exported reg_mr %d %zu %d 0x%x\n", p == &pd, length, addr != NULL, access);
	return NULL;
}

struct ibv_mr *(ibv_reg_mr_iova)(struct ibv_pd *p, void *addr, size_t length, uint64_t iova,
				 int access)
{
	printf("exported reg_mr_iova %d %zu %d 0x%" PRIx64 " 0x%x\n", p == &pd, length,
	       addr != NULL, iova, access);
	return NULL;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *p, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	printf("exported reg_mr_iova2 %d %zu %d 0x%x\n", p == &pd, length, iova == (uintptr_t)addr,
	       access);
	return NULL;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *p, struct ibv_qp_init_attr *attr)
{
	printf("exported create_qp %d %d\n", p == &pd, attr->qp_type);
	return NULL;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *p, struct ibv_srq_init_attr *attr)
{
	printf("exported create_srq %d %u\n", p == &pd, attr->attr.max_wr);
	return NULL;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	(void)context, (void)entry;
	printf("exported query_gid_ex %u %u %u %zu\n", port, index, flags, size);
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	(void)context, (void)entries;
	printf("exported query_gid_table %zu %u %zu\n", max, flags, size);
	return 0;
}

static int op_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr,
			 size_t size)
{
	(void)context, (void)attr;
	printf("op query_port %d, size is that of the caller %d\n", port_num,
	       size == sizeof(*attr));
	return 7;
}

static int answer;

static int op_query_device_ex(struct ibv_context *context,
			      const struct ibv_query_device_ex_input *input,
			      struct ibv_device_attr_ex *attr, size_t size)
{
	(void)context, (void)attr;
	printf("op query_device_ex %d, size %d\n", input != NULL, size == sizeof(*attr));
	return answer;
}

static struct ibv_qp *op_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	(void)context;
	printf("op create_qp_ex 0x%x\n", attr->comp_mask);
	return NULL;
}

static struct ibv_srq *op_create_srq_ex(struct ibv_context *context,
					struct ibv_srq_init_attr_ex *attr)
{
	(void)context;
	printf("op create_srq_ex 0x%x\n", attr->comp_mask);
	return NULL;
}

static struct ibv_wq *op_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *attr)
{
	(void)attr;
	struct ibv_wq *wq = calloc(1, sizeof(*wq));

	wq->context = context;
	wq->events_completed = 9;
	return wq;
}

static int op_post_srq_ops(struct ibv_srq *srq, struct ibv_ops_wr *op, struct ibv_ops_wr **bad)
{
	(void)srq, (void)op, (void)bad;
	printf("op post_srq_ops\n");
	return 8;
}

static int op_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	(void)qp, (void)mw, (void)bind;
	printf("op bind_mw\n");
	return 0;
}

static struct ibv_mw *op_alloc_mw(struct ibv_pd *p, enum ibv_mw_type type)
{
	printf("op alloc_mw %d %d\n", p == &pd, type);
	return NULL;
}

static int op_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	(void)cq, (void)wc;
	printf("op poll_cq %d\n", num_entries);
	return 3;
}

static int op_dealloc_td(struct ibv_td *td)
{
	(void)td;
	printf("op dealloc_td\n");
	return 2;
}

#define CALL_INT(call) (errno = 0, printf("  " #call " -> %d\n", (int)(call)))
#define CALL_PTR(call) \
	(errno = 0, printf("  " #call " -> %d", (call) != NULL), printf(" errno %d\n", errno))

static void call_all(const char *title)
{
	struct ibv_context *ctx = &vctx.context;
	struct ibv_port_attr port = { .state = (enum ibv_port_state)1 };
	struct ibv_device_attr_ex device;
	struct ibv_query_device_ex_input input = { 0 }, bad_input = { 1 };
	struct ibv_qp qp = { .context = ctx };
	struct ibv_cq cq = { .context = ctx };
	struct ibv_srq srq = { .context = ctx };
	struct ibv_td td = { .context = ctx };
	struct ibv_flow flow = { .context = ctx };
	struct ibv_ops_wr op = { 0 }, *bad = NULL;
	struct ibv_wc wc[2];

	printf("%s\n", title);
	CALL_INT(ibv_query_port(ctx, 2, &port));
	memset(&device, 1, sizeof(device));
	CALL_INT(ibv_query_device_ex(ctx, NULL, &device));
	CALL_INT(ibv_query_device_ex(ctx, &input, &device));
	CALL_INT(ibv_query_device_ex(ctx, &bad_input, &device));
	CALL_PTR(ibv_alloc_td(ctx, NULL));
	CALL_INT(ibv_dealloc_td(&td));
	CALL_PTR(ibv_alloc_parent_domain(ctx, NULL));
	CALL_PTR(ibv_open_xrcd(ctx, NULL));
	CALL_PTR(ibv_create_cq_ex(ctx, NULL));
	CALL_INT(ibv_modify_cq(&cq, NULL));
	CALL_PTR(ibv_create_flow(&qp, NULL));
	CALL_INT(ibv_destroy_flow(&flow));
	CALL_PTR(ibv_create_flow_action_esp(ctx, NULL));
	CALL_PTR(ibv_alloc_dm(ctx, NULL));
	CALL_PTR(ibv_alloc_null_mr(&pd));
	CALL_PTR(ibv_reg_dm_mr(&pd, NULL, 0, 0, 0));
	CALL_INT(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 0));
	CALL_PTR(ibv_create_rwq_ind_table(ctx, NULL));
	CALL_PTR(ibv_create_counters(ctx, NULL));
	CALL_INT(ibv_get_srq_num(&srq, NULL));
	CALL_PTR(ibv_open_qp(ctx, NULL));
	CALL_INT(ibv_modify_qp_rate_limit(&qp, NULL));
	CALL_INT(ibv_query_rt_values_ex(ctx, NULL));
	CALL_INT(ibv_post_srq_ops(&srq, &op, &bad));
	printf("  bad is the request %d\n", bad == &op);
	CALL_PTR(ibv_alloc_mw(&pd, IBV_MW_TYPE_2));
	if (ctx->ops.poll_cq)
		CALL_INT(ibv_poll_cq(&cq, 2, wc));
}

static void call_creators(void)
{
	struct ibv_context *ctx = &vctx.context;
	struct ibv_qp_init_attr_ex qp = { .qp_type = IBV_QPT_UD, .pd = &pd };
	struct ibv_srq_init_attr_ex srq = { .attr = { .max_wr = 17 }, .pd = &pd };
	struct ibv_wq_init_attr wq_attr = { .wq_context = &qp };
	struct ibv_wq *wq;

	for (qp.comp_mask = 0; qp.comp_mask < 8; qp.comp_mask++)
		CALL_PTR(ibv_create_qp_ex(ctx, &qp));
	for (srq.comp_mask = 0; srq.comp_mask < 32; srq.comp_mask++) {
		for (int type = IBV_SRQT_BASIC; type <= IBV_SRQT_TM; type++) {
			srq.srq_type = (enum ibv_srq_type)type;
			CALL_PTR(ibv_create_srq_ex(ctx, &srq));
		}
	}
	wq = ibv_create_wq(ctx, &wq_attr);
	if (!wq)
		return;
	printf("wq context %d events %u lock %d\n", wq->wq_context == &qp, wq->events_completed,
	       pthread_mutex_trylock(&wq->mutex));
	free(wq);
}

static void call_memory(void)
{
	static char buf[8];
	struct ibv_pd other = { .context = &vctx.context };
	struct ibv_mr mr = { .pd = &pd }, foreign = { .pd = &other };
	struct ibv_mw mw = { .context = &vctx.context, .pd = &pd, .type = IBV_MW_TYPE_1 };
	struct ibv_mw_bind bind;

	ibv_reg_mr(&pd, buf, 8, IBV_ACCESS_LOCAL_WRITE);
	ibv_reg_mr(&pd, buf, 8, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	ibv_reg_mr(&pd, buf, 8, access_at_run_time);
	ibv_reg_mr_iova(&pd, buf, 8, 0x1000, IBV_ACCESS_REMOTE_READ);
	ibv_reg_mr_iova(&pd, buf, 8, 0x1000, IBV_ACCESS_RELAXED_ORDERING);
	ibv_reg_mr_iova(&pd, buf, 8, 0x1000, access_at_run_time);

	for (int n = 0; n < 16; n++) {
		memset(&bind, 0, sizeof(bind));
		mw.type = n & 1 ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1;
		bind.bind_info.mr = n & 2 ? n & 4 ? &foreign : &mr : NULL;
		bind.bind_info.addr = n & 4 ? 1 : 0;
		bind.bind_info.length = n & 8 ? 1 : 0;
		CALL_INT(ibv_bind_mw(NULL, &mw, &bind));
	}
}

/* The table as a library of some size would have it: of sz bytes, filled or empty, or not there
 * at all. */
static void call_with_tables(void)
{
	struct ibv_context *ctx = &vctx.context;
	const size_t full = sizeof(vctx);

	ctx->abi_compat = NULL;
	vctx.sz = full;
	call_all("no table");
	ctx->abi_compat = __VERBS_ABI_IS_EXTENDED;
	call_all("empty table");

	vctx.query_port = op_query_port;
	vctx.query_device_ex = op_query_device_ex;
	vctx.create_qp_ex = op_create_qp_ex;
	vctx.create_srq_ex = op_create_srq_ex;
	vctx.create_wq = op_create_wq;
	vctx.post_srq_ops = op_post_srq_ops;
	vctx.dealloc_td = op_dealloc_td;
	ctx->ops.bind_mw = op_bind_mw;
	ctx->ops.alloc_mw = op_alloc_mw;
	ctx->ops.poll_cq = op_poll_cq;
	call_all("full table");
	answer = EOPNOTSUPP;
	call_all("the device declines");
	answer = EINVAL;
	call_all("the device fails");

	vctx.sz = full - offsetof(struct verbs_context, query_port) - 1;
	call_all("a byte too small for query_port");
	vctx.sz++;
	call_all("just large enough for query_port");
	vctx.sz = full - offsetof(struct verbs_context, dealloc_td);
	call_all("just large enough for dealloc_td");
	vctx.sz = full;
}

static void pure_functions(void)
{
	for (unsigned int i = 0; i < 4096; i++) {
		uint32_t n = i * 2654435761u;

		printf("%x %x\n", ibv_flow_label_to_udp_sport(n), ibv_inc_rkey(n));
	}
	for (uint32_t qpt = 0; qpt < 16; qpt++)
		printf("%d", ibv_is_qpt_supported(0x8314, (enum ibv_qp_type)qpt));
	printf("\n");
}

/* One byte for each bit, as PRM layouts are written. */
struct mlx5_ifc_example_bits {
	uint8_t opcode[0x10];
	uint8_t reserved_at_10[0x1];
	uint8_t flag[0x1];
	uint8_t middle[0xb];
	uint8_t low[0x3];
	uint8_t whole[0x20];
	uint8_t wide[0x40];
	uint8_t array[4][0x40];
};

static void hex(const char *title, const void *bytes, size_t count)
{
	printf("%s", title);
	for (size_t i = 0; i < count; i++)
		printf(" %02x", ((const uint8_t *)bytes)[i]);
	printf("\n");
}

static void devx_fields(uint32_t n)
{
	uint64_t box[6];

	memset(box, 0xa5, sizeof(box));
	DEVX_SET(example, box, opcode, n);
	DEVX_SET(example, box, flag, n >> 3);
	DEVX_SET(example, box, middle, n >> 5);
	DEVX_SET(example, box, low, n >> 7);
	DEVX_SET(example, box, whole, n * 3);
	DEVX_SET64(example, box, wide, (uint64_t)n << 20);
	DEVX_ARRAY_SET64(example, box, array, 2, (uint64_t)n * n);
	hex("devx", box, sizeof(box));
	printf("%x %x %x %x %x %" PRIx64 "\n", DEVX_GET(example, box, opcode),
	       DEVX_GET(example, box, flag), DEVX_GET(example, box, middle),
	       DEVX_GET(example, box, low), DEVX_GET(example, box, whole),
	       DEVX_GET64(example, box, wide));
}

static void wqe_segments(uint32_t n)
{
	uint8_t buf[64] __attribute__((aligned(16))), bytes[18];
	void *seg = buf;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(n >> (i % 24));
	memset(buf, 0, sizeof(buf));
	mlx5dv_set_ctrl_seg(seg, n, n >> 8, n >> 16, n & 0xffffff, n >> 4, n >> 26, n >> 9, n * 5);
	hex("ctrl", buf, 16);
	mlx5dv_set_data_seg(seg, n, n * 7, (uintptr_t)n << 24);
	hex("data", buf, 16);
#ifdef __SSSE3__
	mlx5dv_x86_set_ctrl_seg(seg, n, n >> 8, n >> 16, n & 0xffffff, n >> 4, n >> 26, n >> 9,
				n * 5);
	hex("ctrl by SSE", buf, 16);
	mlx5dv_x86_set_data_seg(seg, n, n * 7, (uintptr_t)n << 24);
	hex("data by SSE", buf, 16);
#endif
	mlx5dv_set_dgram_seg(seg, (uint64_t)n << 30, n & 0xffffff, n & 1, n >> 3, n >> 5, n >> 7,
			     bytes, n >> 9, n >> 11, n * 11, bytes + 2);
	hex("datagram", buf, 48);
	mlx5dv_set_eth_seg(seg, n, n >> 4, n % 19, bytes);
	hex("ethernet", buf, 48);
}

static void cqe_and_clock(uint32_t n)
{
	struct mlx5_cqe64 cqe = { .op_own = (uint8_t)n };
	struct mlx5dv_clock_info clock = { .nsec = 1000000000000ull,
					   .last_cycles = (uint64_t)n << 13,
					   .frac = n % 1000,
					   .mult = 0x1999999,
					   .shift = 24,
					   .mask = (1ull << 48) - 1 };

	printf("cqe %u %u %u %u", mlx5dv_get_cqe_opcode(&cqe), mlx5dv_get_cqe_format(&cqe),
	       mlx5dv_get_cqe_se(&cqe), mlx5dv_get_cqe_owner(&cqe));
	mlx5dv_set_cqe_owner(&cqe, n >> 8);
	printf(" %02x", cqe.op_own);
	printf(" clock %" PRIu64 " %" PRIu64 "\n", mlx5dv_ts_to_ns(&clock, n),
	       mlx5dv_ts_to_ns(&clock, ~(uint64_t)n));
}

int main(void)
{
	struct ibv_gid_entry entry;

	call_with_tables();
	call_creators();
	call_memory();
	ibv_query_gid_ex(&vctx.context, 1, 2, &entry, 3);
	ibv_query_gid_table(&vctx.context, &entry, 4, 5);
	pure_functions();
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t n = i * 2654435761u;

		devx_fields(n);
		wqe_segments(n);
		cqe_and_clock(n);
	}
	return 0;
}
