/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attributes.c - kernel commands of rare calls, with each combination of omitted arguments: object,
 * method, attributes, lengths and values. The lines must be those of another release's libraries
 * and match Linux' declarations (tests/lib/kernel/ioctl_attributes.h). Results of the calls are not
 * printed, so commands that the adapter refuses count, too. In a guest with Linux' own driver, the
 * variable LINUX_ANSWERS (ib or roce) makes it compare the answers (linux_answers.h).
 *
 * Further topics: exported device memory to which a peer writes, the speed of a port, buffers of
 * the library, and completion counters.
 *
 * Covers: softhca/front/process/uverbs/dmabuf_object.c, softhca/front/process/uverbs/dmabuf.c,
 * softhca/front/process/driver/adapter_port.c, libibverbs/cmd/, libibverbs/verbs_dmah.c,
 * libibverbs/verbs_buf.c, providers/mlx5/dm.c, providers/mlx5/dv/uar.c
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>

#include "tests/lib/kernel/ioctl_attributes.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/verbs/releases/linux_answers.h"
#include "util/bits.h"

enum { PAGE = 4096, BYTES = 64 * PAGE, LWRITE = IBV_ACCESS_LOCAL_WRITE, FD_CLOSED = 1000 };

/* Set on a kernel's own driver, whose answers are judged: the link. */
static const char *on_linux;

/* Addresses are in commands that are compared, so both runs have the same. */
#define MEMORY           ((char *)0x200000000000) /* free under the sanitizers, too */

#define CALL(name, call) (call_begin(name), ioctl_attributes_say(true), call_end((call)))
#define OBJECT(name, call)                        \
	({                                        \
		call_begin(name);                 \
		ioctl_attributes_say(true);       \
		__typeof__(call) object = (call); \
		call_end(0);                      \
		object;                           \
	})

/* Creates an object and destroys it at once, without printing the latter. */
#define BRIEFLY(name, make, end)                                \
	do {                                                    \
		__typeof__(make) made = OBJECT((name), (make)); \
		if (made)                                       \
			end(made);                              \
	} while (0)

static void call_begin(const char *name)
{
	say("%s", name);
	if (on_linux)
		ioctl_attributes_judge(linux_answer(name, on_linux));
}

static int call_end(int ret)
{
	ioctl_attributes_say(false);
	return ret;
}

static void memory_map(void)
{
	static char *at;

	if (!at)
		at = mmap(MEMORY, BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	MUST(at == MEMORY);
}

/* softhca takes a file of memory for a dma-buf. Linux does not, and says so with the errno of a
 * wrong attribute, so it needs a line of its own. It says EBADF, after all attributes, of a
 * descriptor that is not open. */
static int file_of_pages(void)
{
	int fd = on_linux ? FD_CLOSED : memfd_create("dma-buf", MFD_CLOEXEC);

	if (on_linux)
		return fd;
	MUST(fd >= 0 && !ftruncate(fd, BYTES));
	return fd;
}

static void ports(struct rig *rig)
{
	struct ibv_gid_entry entry, table[4];
	struct ibv_port_attr attr;
	uint64_t speed;

	CALL("query_port", ibv_query_port(rig->ctx, 1, &attr));
	CALL("query_port 9", ibv_query_port(rig->ctx, 9, &attr));
	CALL("query_port_speed", ibv_query_port_speed(rig->ctx, 1, &speed));
	CALL("query_port_speed 300", ibv_query_port_speed(rig->ctx, 300, &speed));
	CALL("query_gid_ex", ibv_query_gid_ex(rig->ctx, 1, 0, &entry, 0));
	CALL("query_gid_table", (int)ibv_query_gid_table(rig->ctx, table, ARRAY_SIZE(table), 0));
}

/* ---- regions ---- */

static void region_of(struct ibv_pd *pd, uint64_t mask, int fd, struct ibv_dmah *dmah)
{
	struct ibv_mr_init_attr attr = {
		.length = PAGE,
		.access = LWRITE | IBV_ACCESS_RELAXED_ORDERING,
		.comp_mask = mask,
		.iova = PAGE,
		.addr = MEMORY,
		.fd = fd,
		.fd_offset = PAGE,
		.dmah = dmah,
	};
	char name[64];
	struct ibv_mr *mr;

	snprintf(name, sizeof(name), "reg_mr_ex 0x%llx", (unsigned long long)mask);
	mr = OBJECT(name, ibv_reg_mr_ex(pd, &attr));
	if (mr)
		CALL("dereg_mr", ibv_dereg_mr(mr));
}

static void regions(struct rig *rig)
{
	struct ibv_dmah_init_attr hint = { .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH, .ph = 1 };
	struct ibv_dmah *dmah = ibv_alloc_dmah(rig->ctx, &hint);
	struct ibv_pd *pd = OBJECT("alloc_pd", ibv_alloc_pd(rig->ctx));
	int fd = file_of_pages();

	MUST(pd);
	memory_map();
	for (int of_file = 0; of_file < 2; of_file++)
		for (int more = 0; more < (dmah ? 4 : 2); more++)
			region_of(pd,
				  (of_file ? IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET
					   : IBV_REG_MR_MASK_ADDR) |
					  (more & 1 ? IBV_REG_MR_MASK_IOVA : 0) |
					  (more & 2 ? IBV_REG_MR_MASK_DMAH : 0),
				  fd, dmah);
	close(fd);
	if (dmah)
		ibv_dealloc_dmah(dmah);
	CALL("dealloc_pd", ibv_dealloc_pd(pd));
}

static void older_regions(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_sge sge = { (uintptr_t)MEMORY, PAGE, 0 };
	int fd = file_of_pages();
	struct ibv_mr *mr;

	MUST(pd);
	memory_map();
	mr = OBJECT("reg_mr", ibv_reg_mr(pd, MEMORY, PAGE, LWRITE));
	MUST(mr);
	CALL("rereg_mr access",
	     ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, LWRITE));
	CALL("rereg_mr all", ibv_rereg_mr(mr,
					  IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_PD |
						  IBV_REREG_MR_CHANGE_TRANSLATION,
					  pd, MEMORY, 2 * PAGE, 0));
	sge.lkey = mr->lkey;
	CALL("advise_mr", ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));
	CALL("advise_mr flush", ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
					      IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1));
	CALL("dereg_mr", ibv_dereg_mr(mr));
	BRIEFLY("reg_mr_iova", ibv_reg_mr_iova(pd, MEMORY, PAGE, 3 * PAGE, 0), ibv_dereg_mr);
	BRIEFLY("reg_mr on demand", ibv_reg_mr(pd, MEMORY, PAGE, IBV_ACCESS_ON_DEMAND),
		ibv_dereg_mr);
	BRIEFLY("reg_dmabuf_mr", ibv_reg_dmabuf_mr(pd, PAGE, PAGE, 0, fd, LWRITE), ibv_dereg_mr);
	BRIEFLY("mlx5dv_reg_dmabuf_mr", mlx5dv_reg_dmabuf_mr(pd, 0, PAGE, 0, fd, 0, 0),
		ibv_dereg_mr);
	BRIEFLY("mlx5dv_reg_dmabuf_mr direct",
		mlx5dv_reg_dmabuf_mr(pd, 0, PAGE, 0, fd, 0, MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT),
		ibv_dereg_mr);
	BRIEFLY("alloc_null_mr", ibv_alloc_null_mr(pd), ibv_dereg_mr);
	BRIEFLY("alloc_mw", ibv_alloc_mw(pd, IBV_MW_TYPE_1), ibv_dealloc_mw);
	BRIEFLY("import_mr", ibv_import_mr(pd, 0x7fff), ibv_unimport_mr);
	close(fd);
	MUST(!ibv_dealloc_pd(pd));
}

/* A hint is required, and a steering tag needs all three attributes: the library or the kernel
 * refuses less. */
static void dma_handles(struct rig *rig)
{
	static const struct ibv_dmah_init_attr attrs[] = {
		{ IBV_DMAH_INIT_ATTR_MASK_PH, 3, 2, IBV_TPH_MEM_TYPE_PM },
		{ 7, 3, 0, IBV_TPH_MEM_TYPE_VM },
		{ 7, 0, 3, IBV_TPH_MEM_TYPE_PM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		struct ibv_dmah_init_attr attr = attrs[i];
		struct ibv_dmah *dmah = OBJECT("alloc_dmah", ibv_alloc_dmah(rig->ctx, &attr));

		if (dmah)
			CALL("dealloc_dmah", ibv_dealloc_dmah(dmah));
	}
}

static void device_memory(struct rig *rig)
{
	static const enum mlx5dv_alloc_dm_type types[] = {
		MLX5DV_DM_TYPE_MEMIC,
		MLX5DV_DM_TYPE_STEERING_SW_ICM,
		MLX5DV_DM_TYPE_HEADER_MODIFY_SW_ICM,
		MLX5DV_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM,
		MLX5DV_DM_TYPE_ENCAP_SW_ICM,
	};
	struct ibv_alloc_dm_attr attr = { .length = 2 * PAGE, .log_align_req = 7 };
	struct ibv_dm *dm = OBJECT("alloc_dm", ibv_alloc_dm(rig->ctx, &attr));
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_mr *mr;

	MUST(dm && pd);
	mr = OBJECT("reg_dm_mr", ibv_reg_dm_mr(pd, dm, 64, PAGE, LWRITE | IBV_ACCESS_ZERO_BASED));
	MUST(mr);
	CALL("dereg_mr", ibv_dereg_mr(mr));
	close(CALL("dm_export_dmabuf_fd", ibv_dm_export_dmabuf_fd(dm)));
	CALL("dm_map_op_addr 0", !mlx5dv_dm_map_op_addr(dm, 0));
	CALL("dm_map_op_addr 1", !mlx5dv_dm_map_op_addr(dm, 1));
	BRIEFLY("import_dm", ibv_import_dm(rig->ctx, dm->handle), ibv_unimport_dm);
	CALL("free_dm", ibv_free_dm(dm));
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct mlx5dv_alloc_dm_attr type = { .type = types[i] };
		char name[32];

		snprintf(name, sizeof(name), "mlx5dv_alloc_dm %d", types[i]);
		BRIEFLY(name, mlx5dv_alloc_dm(rig->ctx, &attr, &type), ibv_free_dm);
	}
	MUST(!ibv_dealloc_pd(pd));
}

/* ---- queues ---- */

static void completion_queues(struct rig *rig)
{
	struct ibv_comp_channel *channel =
		OBJECT("create_comp_channel", ibv_create_comp_channel(rig->ctx));
	char name[32];

	for (uint32_t bits = 0; bits < 16; bits++) {
		struct ibv_cq_init_attr_ex attr = {
			.cqe = 15,
			.channel = bits & 1 ? channel : NULL,
			.comp_vector = bits & 1,
			.wc_flags = bits & 2 ? IBV_WC_EX_WITH_COMPLETION_TIMESTAMP : 0,
			.comp_mask = bits & 12 ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0,
			.flags = (bits & 4 ? IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN : 0) |
				 (bits & 8 ? IBV_CREATE_CQ_ATTR_SINGLE_THREADED : 0),
		};
		struct ibv_cq_ex *cq;

		snprintf(name, sizeof(name), "create_cq_ex %x", bits);
		cq = OBJECT(name, ibv_create_cq_ex(rig->ctx, &attr));
		if (cq)
			CALL("destroy_cq", ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	}
	ibv_destroy_comp_channel(channel);
}

static void changes_of_cqs(struct rig *rig)
{
	struct ibv_cq *cq = OBJECT("create_cq", ibv_create_cq(rig->ctx, 15, NULL, NULL, 0));
	struct ibv_modify_cq_attr moderate = { IBV_CQ_ATTR_MODERATE, { 2, 3 } };

	MUST(cq);
	CALL("modify_cq", ibv_modify_cq(cq, &moderate));
	CALL("resize_cq", ibv_resize_cq(cq, 31));
	CALL("destroy_cq", ibv_destroy_cq(cq));
}

static void shared_receives(struct rig *rig)
{
	struct ibv_xrcd_init_attr domain = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							  IBV_XRCD_INIT_ATTR_OFLAGS,
					     .fd = -1,
					     .oflags = O_CREAT };
	struct ibv_xrcd *xrcd = OBJECT("open_xrcd", ibv_open_xrcd(rig->ctx, &domain));
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 15, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_srq_attr change = { .max_wr = 8, .srq_limit = 2 };
	const enum ibv_srq_type types[] = { IBV_SRQT_BASIC, IBV_SRQT_XRC };

	MUST(xrcd && cq && pd);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct ibv_srq_init_attr_ex attr = {
			.attr = { .max_wr = 8, .max_sge = 1 },
			.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
				     (i ? IBV_SRQ_INIT_ATTR_CQ : 0) |
				     (i == 1 ? IBV_SRQ_INIT_ATTR_XRCD : 0),
			.srq_type = types[i],
			.pd = pd,
			.xrcd = xrcd,
			.cq = cq,
		};
		struct ibv_srq *srq = OBJECT("create_srq_ex", ibv_create_srq_ex(rig->ctx, &attr));
		uint32_t number;

		if (!srq)
			continue;
		CALL("modify_srq", ibv_modify_srq(srq, &change, IBV_SRQ_LIMIT));
		CALL("query_srq", ibv_query_srq(srq, &change));
		CALL("get_srq_num", ibv_get_srq_num(srq, &number));
		CALL("destroy_srq", ibv_destroy_srq(srq));
	}
	CALL("close_xrcd", ibv_close_xrcd(xrcd));
	MUST(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

static void queue_pairs(struct rig *rig)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
						  IBV_QPT_RAW_PACKET };
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 15, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);

	MUST(cq && pd);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		for (uint32_t flags = 0; flags < 2; flags++) {
			struct ibv_qp_init_attr_ex attr = {
				.send_cq = cq,
				.recv_cq = cq,
				.cap = { 4, 4, 1, 1, 0 },
				.qp_type = types[i],
				.comp_mask = IBV_QP_INIT_ATTR_PD |
					     (flags ? IBV_QP_INIT_ATTR_CREATE_FLAGS : 0),
				.pd = pd,
				.create_flags = flags ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0,
			};
			struct ibv_qp_init_attr init;
			struct ibv_qp_attr state = { .qp_state = IBV_QPS_RESET };
			char name[32];
			struct ibv_qp *qp;

			snprintf(name, sizeof(name), "create_qp of type %d%s", types[i],
				 flags ? " with flags" : "");
			qp = OBJECT(name, ibv_create_qp_ex(rig->ctx, &attr));
			if (!qp)
				continue;
			CALL("modify_qp", ibv_modify_qp(qp, &state, IBV_QP_STATE));
			CALL("query_qp", ibv_query_qp(qp, &state, IBV_QP_STATE, &init));
			CALL("destroy_qp", ibv_destroy_qp(qp));
		}
	MUST(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

static void receive_queues(struct rig *rig)
{
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 15, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);

	MUST(cq && pd);
	for (int flags = 0; flags < 2; flags++) {
		struct ibv_wq_init_attr attr = {
			.wq_type = IBV_WQT_RQ,
			.max_wr = 4,
			.max_sge = 1,
			.pd = pd,
			.cq = cq,
			.comp_mask = flags ? IBV_WQ_INIT_ATTR_FLAGS : 0,
			.create_flags = flags ? IBV_WQ_FLAGS_SCATTER_FCS : 0,
		};
		struct ibv_wq *wq = OBJECT(flags ? "create_wq with flags" : "create_wq",
					   ibv_create_wq(rig->ctx, &attr));
		struct ibv_rwq_ind_table_init_attr list = { .log_ind_tbl_size = 0, .ind_tbl = &wq };
		struct ibv_wq_attr change = { .attr_mask = IBV_WQ_ATTR_STATE,
					      .wq_state = IBV_WQS_RDY };
		struct ibv_rwq_ind_table *table;

		if (!wq)
			continue;
		CALL("modify_wq", ibv_modify_wq(wq, &change));
		table = OBJECT("create_rwq_ind_table", ibv_create_rwq_ind_table(rig->ctx, &list));
		if (table)
			CALL("destroy_rwq_ind_table", ibv_destroy_rwq_ind_table(table));
		CALL("destroy_wq", ibv_destroy_wq(wq));
	}
	MUST(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

static void counters(struct rig *rig)
{
	struct ibv_counters_init_attr attr = { 0 };
	struct ibv_counters *set = OBJECT("create_counters", ibv_create_counters(rig->ctx, &attr));
	uint64_t values[2];

	MUST(set);
	CALL("read_counters", ibv_read_counters(set, values, 2, 0));
	CALL("read_counters cached",
	     ibv_read_counters(set, values, 2, IBV_READ_COUNTERS_ATTR_PREFER_CACHED));
	CALL("destroy_counters", ibv_destroy_counters(set));
}

static void matcher_of(struct ibv_context *ctx, enum ibv_flow_attr_type type, uint32_t flags,
		       enum mlx5dv_flow_table_type table, bool has_table)
{
	struct {
		size_t size;
		uint8_t bytes[512];
	} mask = { .size = 64, .bytes = { 1 } };
	struct mlx5dv_flow_matcher_attr attr = {
		.type = type,
		.flags = flags,
		.priority = 3,
		.match_criteria_enable = 1,
		.match_mask = (void *)&mask,
		.comp_mask = has_table ? MLX5DV_FLOW_MATCHER_MASK_FT_TYPE : 0,
		.ft_type = table,
	};
	struct mlx5dv_flow_matcher *matcher =
		OBJECT("create_flow_matcher", mlx5dv_create_flow_matcher(ctx, &attr));

	if (matcher)
		CALL("destroy_flow_matcher", mlx5dv_destroy_flow_matcher(matcher));
}

static void action_end(struct ibv_flow_action *action)
{
	if (action)
		CALL("destroy it", ibv_destroy_flow_action(action));
}

static void flows(struct rig *rig)
{
	uint64_t actions[2] = { 0 };

	matcher_of(rig->ctx, IBV_FLOW_ATTR_NORMAL, 0, 0, false);
	matcher_of(rig->ctx, IBV_FLOW_ATTR_ALL_DEFAULT, 0, 0, false);
	matcher_of(rig->ctx, IBV_FLOW_ATTR_MC_DEFAULT, 0, 0, false);
	matcher_of(rig->ctx, IBV_FLOW_ATTR_SNIFFER, 0, 0, false);
	matcher_of(rig->ctx, IBV_FLOW_ATTR_NORMAL, IBV_FLOW_ATTR_FLAGS_EGRESS, 0, false);
	matcher_of(rig->ctx, IBV_FLOW_ATTR_NORMAL, 0, MLX5DV_FLOW_TABLE_TYPE_NIC_RX, true);
	matcher_of(rig->ctx, IBV_FLOW_ATTR_NORMAL, 0, MLX5DV_FLOW_TABLE_TYPE_NIC_TX, true);
	action_end(OBJECT("modify_header", mlx5dv_create_flow_action_modify_header(
						   rig->ctx, sizeof(actions), actions,
						   MLX5DV_FLOW_TABLE_TYPE_NIC_RX)));
	action_end(OBJECT("reformat to L2",
			  mlx5dv_create_flow_action_packet_reformat(
				  rig->ctx, 0, NULL,
				  MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2,
				  MLX5DV_FLOW_TABLE_TYPE_NIC_RX)));
	action_end(OBJECT("reformat to a tunnel",
			  mlx5dv_create_flow_action_packet_reformat(
				  rig->ctx, sizeof(actions), actions,
				  MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
				  MLX5DV_FLOW_TABLE_TYPE_NIC_TX)));
}

static void umem_of(struct ibv_context *ctx, uint64_t pages, uint64_t mask, int fd)
{
	struct mlx5dv_devx_umem_in in = {
		.addr = mask ? NULL : MEMORY,
		.size = PAGE,
		.access = LWRITE,
		.pgsz_bitmap = pages,
		.comp_mask = mask,
		.dmabuf_fd = fd,
	};
	struct mlx5dv_devx_umem *umem = OBJECT(mask ? "umem_reg_ex dma-buf" : "umem_reg_ex",
					       mlx5dv_devx_umem_reg_ex(ctx, &in));

	if (umem)
		CALL("umem_dereg", mlx5dv_devx_umem_dereg(umem));
}

static void umems(struct rig *rig)
{
	int fd = file_of_pages();

	memory_map();
	BRIEFLY("umem_reg", mlx5dv_devx_umem_reg(rig->ctx, MEMORY, PAGE, LWRITE),
		mlx5dv_devx_umem_dereg);
	umem_of(rig->ctx, PAGE, 0, -1);
	umem_of(rig->ctx, ~0ull << 12, 0, -1);
	umem_of(rig->ctx, PAGE, MLX5DV_UMEM_MASK_DMABUF, fd);
	close(fd);
}

static void devx_pages(struct rig *rig)
{
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_var *var;

	for (uint32_t type = 0; type < 2; type++) {
		uar = mlx5dv_devx_alloc_uar(rig->ctx, type);
		if (!uar)
			continue;
		CALL("uar_export_dmabuf_fd", mlx5dv_devx_uar_export_dmabuf_fd(uar));
		mlx5dv_devx_free_uar(uar);
	}
	var = OBJECT("alloc_var", mlx5dv_alloc_var(rig->ctx, 0));
	if (var)
		CALL("free_var", (mlx5dv_free_var(var), 0));
}

static void devx_commands(struct rig *rig)
{
	uint8_t alloc[16] = { 0x09, 0x39 }, out[16], hca_cap[16] = { 0x01, 0x00 };
	uint8_t ask[32] = { 0x09, 0x3b }, answer[32];
	struct mlx5dv_devx_obj *obj = OBJECT(
		"obj_create", mlx5dv_devx_obj_create(rig->ctx, alloc, sizeof(alloc), out, 16));
	uint32_t eqn;

	MUST(obj);
	memcpy(ask + 28, out + 8, 4); /* the counter's number */
	CALL("query_eqn", mlx5dv_devx_query_eqn(rig->ctx, 1, &eqn));
	CALL("general_cmd", mlx5dv_devx_general_cmd(rig->ctx, hca_cap, 16, out, sizeof(out)));
	CALL("obj_query", mlx5dv_devx_obj_query(obj, ask, 32, answer, 32));
	CALL("obj_modify", mlx5dv_devx_obj_modify(obj, ask, 32, answer, 32));
	CALL("obj_destroy", mlx5dv_devx_obj_destroy(obj));
}

static void devx_events(struct rig *rig)
{
	struct mlx5dv_devx_event_channel *channel;
	struct mlx5dv_devx_cmd_comp *answers;
	const int fd = eventfd(0, EFD_CLOEXEC);
	uint16_t type = 9; /* a port */

	MUST(fd >= 0);
	for (int flags = 0; flags < 2; flags++) {
		channel = OBJECT(
			"create_event_channel",
			mlx5dv_devx_create_event_channel(
				rig->ctx, flags ? MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA : 0));
		MUST(channel);
		CALL("subscribe", mlx5dv_devx_subscribe_devx_event(channel, NULL, 2, &type, 5));
		CALL("subscribe_fd", mlx5dv_devx_subscribe_devx_event_fd(channel, fd, NULL, type));
		mlx5dv_devx_destroy_event_channel(channel);
	}
	answers = OBJECT("create_cmd_comp", mlx5dv_devx_create_cmd_comp(rig->ctx));
	if (answers)
		mlx5dv_devx_destroy_cmd_comp(answers);
	close(fd);
}

static void other_calls(struct rig *rig)
{
	struct mlx5dv_port port = { 0 };
	uint8_t rates[48] = { 0 };
	char path[64];

	CALL("mlx5dv_query_port", mlx5dv_query_port(rig->ctx, 1, &port));
	CALL("data_direct_path", mlx5dv_get_data_direct_sysfs_path(rig->ctx, path, sizeof(path)));
	CALL("pp_alloc", !mlx5dv_pp_alloc(rig->ctx, sizeof(rates), rates, 0));
	CALL("pp_alloc dedicated", !mlx5dv_pp_alloc(rig->ctx, sizeof(rates), rates,
						    MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX));
}

/* ---- effects ---- */

static bool is_written(struct rig_pair *pair, const struct ibv_mr *to, uint64_t at)
{
	struct rig_end *from = &pair->end[0];
	struct ibv_sge sge = { (uintptr_t)from->buf, 64, from->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = at, .rkey = to->rkey },
	}, *bad;
	struct ibv_wc wc;

	return !ibv_post_send(from->qp, &wr, &bad) && rig_poll(from->cq, 1, &wc) == 1 &&
	       wc.status == IBV_WC_SUCCESS;
}

/* The region is of the second page, from an offset in it. */
static struct ibv_mr *region_of_export(struct ibv_pd *pd, int fd)
{
	const int access = LWRITE | IBV_ACCESS_REMOTE_WRITE;

	return ibv_reg_dmabuf_mr(pd, PAGE + 256, PAGE - 256, PAGE + 256, fd, access);
}

static void exported_memory(struct rig *rig)
{
	struct ibv_alloc_dm_attr attr = { .length = 2 * PAGE, .log_align_req = 12 };
	struct ibv_dm *dm = ibv_alloc_dm(rig->ctx, &attr);
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	uint8_t seen[64];
	struct ibv_mr *mr;
	int fd;

	MUST(dm);
	rig_pair_open(rig, &conf, &pair);
	fd = ibv_dm_export_dmabuf_fd(dm);
	say_check(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC, "device memory is a dma-buf");
	say_check(lseek(fd, 0, SEEK_END) == 2 * PAGE, "of its pages");
	say_check(!ibv_reg_dmabuf_mr(pair.pd, PAGE, PAGE + 1, PAGE, fd, 0), "and nothing behind");
	mr = region_of_export(pair.pd, fd);
	say_check(mr != NULL, "a part of it is a region");
	MUST(mr);
	memset(pair.end[0].buf, 0x5a, 64);
	say_check(is_written(&pair, mr, PAGE + 256), "a peer writes there");
	say_check(!ibv_memcpy_from_dm(seen, dm, PAGE + 256, 64) &&
			  !memcmp(seen, pair.end[0].buf, 64),
		  "and the memory has it");
	say_check(!ibv_free_dm(dm), "the memory is given back");
	say_check(!is_written(&pair, mr, PAGE + 256), "and no longer written to");
	say_check(!ibv_dereg_mr(mr), "the region goes");
	say_check(!region_of_export(pair.pd, fd), "and there is no other");
	close(fd);
	rig_pair_close(&pair);
}

/* A port may send less than its link carries: by an option of the adapter's. */
static void speeds(struct rig *rig)
{
	const char *expected = getenv("PORT_SPEED");
	uint64_t speed = 0;
	int ret = ibv_query_port_speed(rig->ctx, 1, &speed);

	say_check(!ret && (!expected || speed == strtoul(expected, NULL, 10)), "speed %llu",
		  (unsigned long long)speed);
	ret = ibv_query_port_speed(rig->ctx, 2, &speed);
	say_check(ret == EINVAL, "a port that is not there");
}

/* Memory of the library: the library checks where a region lies, and the provider allocates. */
static void buffers(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx), *other = ibv_alloc_pd(rig->ctx);
	struct ibv_buf *buf = NULL;
	char *addr = ibv_alloc_buf(pd, 3 * PAGE, &buf);
	struct ibv_mr *mr;

	MUST(pd && other && addr && buf);
	memset(addr, 0x5a, 3 * PAGE);
	mr = SAY_PTR(ibv_reg_buf_mr(pd, buf, addr + 10, PAGE, LWRITE), "a part of a buffer");
	say_check(mr && mr->addr == addr + 10 && mr->length == PAGE && mr->pd == pd, "it is that");
	say_check(mr && !ibv_dereg_mr(mr), "deregistered");
	SAY_PTR(ibv_reg_buf_mr(pd, buf, addr + PAGE, 2 * PAGE + 1, 0), "more than there is");
	SAY_PTR(ibv_reg_buf_mr(pd, buf, addr - 1, PAGE, 0), "in front of it");
	SAY_PTR(ibv_reg_buf_mr(other, buf, addr, PAGE, 0), "in another PD");
	SAY_PTR(ibv_reg_buf_mr(pd, buf, addr, PAGE, IBV_ACCESS_REMOTE_WRITE), "rights of no use");
	SAY_RET(ibv_export_buf_dmabuf_fd(buf), "as a dma-buf");
	ibv_free_buf(buf);
	MUST(!ibv_dealloc_pd(pd) && !ibv_dealloc_pd(other));
}

/* No ConnectX has any, so the calls fail. */
static void counters_of_completions(struct rig *rig)
{
	struct ibv_comp_cntr counter = { .context = rig->ctx, .handle = 77 };
	struct ibv_qp qp = { .context = rig->ctx, .handle = 78 };
	struct ibv_qp_attach_comp_cntr_attr how = { 0 };
	struct ibv_comp_cntr_init_attr attr = { 0 };
	struct ibv_comp_cntr_caps caps;
	uint64_t value;

	say_check(ibv_query_comp_cntr_caps(rig->ctx, &caps) == EOPNOTSUPP, "no limits of them");
	say_check(!ibv_create_comp_cntr(rig->ctx, &attr) && errno == EOPNOTSUPP, "none created");
	SAY_RET(ibv_set_comp_cntr(&counter, 1), "set");
	SAY_RET(ibv_inc_comp_cntr(&counter, 1), "raised");
	SAY_RET(ibv_read_comp_cntr(&counter, &value), "read");
	SAY_RET(ibv_set_err_comp_cntr(&counter, 1), "errors set");
	SAY_RET(ibv_inc_err_comp_cntr(&counter, 1), "errors raised");
	SAY_RET(ibv_read_err_comp_cntr(&counter, &value), "errors read");
	SAY_RET(ibv_qp_attach_comp_cntr(&qp, &counter, &how), "attached");
}

static const struct rig_topic topics[] = {
	{ "attributes-ports", ports },
	{ "attributes-regions", regions },
	{ "attributes-older-regions", older_regions },
	{ "attributes-dmah", dma_handles },
	{ "attributes-dm", device_memory },
	{ "attributes-cq", completion_queues },
	{ "attributes-cq-changes", changes_of_cqs },
	{ "attributes-srq", shared_receives },
	{ "attributes-qp", queue_pairs },
	{ "attributes-wq", receive_queues },
	{ "attributes-counters", counters },
	{ "attributes-flows", flows },
	{ "attributes-umems", umems },
	{ "attributes-pages", devx_pages },
	{ "attributes-devx", devx_commands },
	{ "attributes-events", devx_events },
	{ "attributes-others", other_calls },
	{ "exported-memory", exported_memory },
	{ "speeds", speeds },
	{ "buffers", buffers },
	{ "counters-of-completions", counters_of_completions },
};

int main(int argc, char **argv)
{
	on_linux = getenv("LINUX_ANSWERS");
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
