/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.c - valid and invalid arguments of calls on address handles, multicast groups, shared
 * receive queues, XRC, domains, windows, re-registration, import and connection options.
 *
 * Covers: libibverbs/verbs_ah.c, libibverbs/verbs_srq.c, libibverbs/verbs_pd.c,
 * libibverbs/verbs_qp.c, libibverbs/verbs_mr.c, libibverbs/cmd/cmd_xrcd.c, providers/mlx5/qp/xrc.c,
 * providers/common/xrcd.c, softhca/front/process/uverbs/mcast.c,
 * softhca/front/process/uverbs/xrcd.c, softhca/front/process/uverbs/ah.c
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "diff.h"

static bool is_ethernet(struct rig *rig)
{
	struct ibv_port_attr port;

	MUST(!ibv_query_port(rig->ctx, 1, &port));
	return port.link_layer == IBV_LINK_LAYER_ETHERNET;
}

static void try_ah(struct ibv_pd *pd, struct ibv_ah_attr attr, const char *what)
{
	struct ibv_ah *ah = SAY_PTR(ibv_create_ah(pd, &attr), "create %s", what);

	if (ah)
		SAY_RET(ibv_destroy_ah(ah), "destroy %s", what);
}

void diff_ah(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };

	MUST(pd);
	try_ah(pd, attr, "by lid");
	attr.sl = 15;
	attr.src_path_bits = 1;
	attr.static_rate = IBV_RATE_10_GBPS;
	try_ah(pd, attr, "by lid, with all fields");
	attr.port_num = 0;
	try_ah(pd, attr, "of port 0");
	attr.port_num = 9;
	try_ah(pd, attr, "of port 9");
	attr = (struct ibv_ah_attr){ .is_global = 1, .dlid = 1, .port_num = 1 };
	MUST(!ibv_query_gid(rig->ctx, 1, 0, &attr.grh.dgid));
	try_ah(pd, attr, "by gid");
	attr.grh.sgid_index = 200;
	try_ah(pd, attr, "by gid from an index that is not there");
	attr.grh.sgid_index = 0;
	attr.grh.flow_label = 0xfffff;
	attr.grh.hop_limit = 64;
	attr.grh.traffic_class = 0xab;
	try_ah(pd, attr, "by gid, with all fields");
	MUST(!ibv_dealloc_pd(pd));
}

static void put_ipv4_header(unsigned char *ip, const union ibv_gid *to)
{
	unsigned int sum = 0;

	memset(ip, 0, 20);
	ip[0] = 0x45;
	ip[1] = 0x28;
	ip[8] = 33;
	ip[9] = 17;
	memcpy(ip + 12, "\xc0\x00\x02\x07", 4);
	memcpy(ip + 16, to->raw + 12, 4);
	for (int i = 0; i < 20; i += 2)
		sum += (unsigned int)ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	ip[10] = (unsigned char)(~sum >> 8);
	ip[11] = (unsigned char)~sum;
}

static void try_from_wc(struct rig *rig, unsigned int flags, const void *header, const char *what)
{
	struct ibv_wc wc = { .slid = 5, .sl = 3, .dlid_path_bits = 2, .wc_flags = flags };
	struct ibv_ah_attr attr;
	struct ibv_grh grh;

	memcpy(&grh, header, sizeof(grh));
	if (SAY_RET(ibv_init_ah_from_wc(rig->ctx, 1, &wc, &grh, &attr), "%s", what))
		return;
	say("%s: lid %u sl %u bits %u rate %u port %u global %u", what, attr.dlid, attr.sl,
	    attr.src_path_bits, attr.static_rate, attr.port_num, attr.is_global);
	if (attr.is_global)
		say("%s: gid ..%02x index %u flow 0x%x hops %u class 0x%x", what,
		    attr.grh.dgid.raw[15], attr.grh.sgid_index, attr.grh.flow_label,
		    attr.grh.hop_limit, attr.grh.traffic_class);
}

void diff_ah_from_wc(struct rig *rig)
{
	unsigned char header[40] = {
		0x6a, 0xb1, 0x23, 0x45, 0, 10, 0x1b, 9, 0xfe, 0x80, [23] = 0x42
	};
	union ibv_gid own, ipv4;

	MUST(!ibv_query_gid(rig->ctx, 1, 0, &own));
	memcpy(header + 24, &own, 16);
	try_from_wc(rig, 0, header, "without a GRH");
	try_from_wc(rig, IBV_WC_GRH, header, "with a GRH");
	header[6] = 17;
	try_from_wc(rig, IBV_WC_GRH, header, "with an IPv6 header and UDP");
	header[6] = 6;
	try_from_wc(rig, IBV_WC_GRH, header, "with an IPv6 header and TCP");
	header[6] = 0x1b;
	header[39] ^= 1;
	try_from_wc(rig, IBV_WC_GRH, header, "to another's GID");
	header[0] = 0x10;
	try_from_wc(rig, IBV_WC_GRH, header, "of no known version");
	if (!is_ethernet(rig) || ibv_query_gid(rig->ctx, 1, 2, &ipv4) || ipv4.raw[10] != 0xff)
		return;
	memset(header, 0, sizeof(header));
	put_ipv4_header(header + 20, &ipv4);
	try_from_wc(rig, IBV_WC_GRH, header, "with an IPv4 header");
	header[0] = 0x60;
	try_from_wc(rig, IBV_WC_GRH, header, "with an IPv4 header behind leftovers of version 6");
	header[31] ^= 1;
	try_from_wc(rig, IBV_WC_GRH, header, "with a wrong checksum behind such leftovers");
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = type
	};

	return ibv_create_qp(pd, &attr);
}

void diff_mcast(struct rig *rig)
{
	const union ibv_gid group = { .raw = { 0xff, 0x12, [15] = 9 } };
	const union ibv_gid unicast = { .raw = { 0xfe, 0x80, [15] = 9 } };
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);
	struct ibv_qp *ud, *rc;

	MUST(pd && cq && (ud = make_qp(pd, cq, IBV_QPT_UD)) && (rc = make_qp(pd, cq, IBV_QPT_RC)));
	SAY_RET(ibv_attach_mcast(ud, &group, 0xc000), "attach");
	SAY_RET(ibv_attach_mcast(ud, &group, 0xc000), "attach again");
	SAY_RET(ibv_attach_mcast(ud, &unicast, 0xc001), "attach to a unicast address");
	SAY_RET(ibv_attach_mcast(rc, &group, 0xc000), "attach an RC QP");
	SAY_RET(ibv_destroy_qp(ud), "destroy while attached");
	SAY_RET(ibv_detach_mcast(ud, &group, 0xc000), "detach");
	SAY_RET(ibv_detach_mcast(ud, &group, 0xc000), "detach again");
	SAY_RET(ibv_destroy_qp(ud), "destroy");
	MUST(!ibv_destroy_qp(rc) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

static void try_srq(struct ibv_pd *pd, uint32_t max_wr, uint32_t max_sge, const char *what)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };
	struct ibv_srq *srq = SAY_PTR(ibv_create_srq(pd, &attr), "create %s", what);

	if (!srq)
		return;
	say_check(attr.attr.max_wr >= max_wr && attr.attr.max_sge >= max_sge,
		  "%s: all that was asked for", what);
	SAY_RET(ibv_destroy_srq(srq), "destroy %s", what);
}

static void change_srq(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr = { .max_wr = 20, .srq_limit = 5 };

	SAY_RET(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), "limit 5");
	SAY_RET(ibv_query_srq(srq, &attr), "query");
	say("limit is %u", attr.srq_limit);
	attr.srq_limit = 1000;
	SAY_RET(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), "limit past the end");
	SAY_RET(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR), "resize");
	SAY_RET(ibv_modify_srq(srq, &attr, 8), "mask 8");
}

void diff_srq(struct rig *rig)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 10, .max_sge = 1 } };
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_srq *srq;
	uint32_t num;

	MUST(pd);
	try_srq(pd, 0, 1, "of 0");
	try_srq(pd, 1, 0, "without SGEs");
	try_srq(pd, 1u << 30, 1, "too long");
	try_srq(pd, 10, 1000, "with too many SGEs");
	try_srq(pd, 100, 8, "of 100 x 8");
	MUST(srq = ibv_create_srq(pd, &attr));
	change_srq(srq);
	SAY_RET(ibv_get_srq_num(srq, &num), "number of a basic SRQ");
	SAY_RET(ibv_dealloc_pd(pd), "dealloc its PD");
	MUST(!ibv_destroy_srq(srq) && !ibv_dealloc_pd(pd));
}

static void try_xrcd(struct rig *rig, uint32_t mask, int fd, int oflags, const char *what)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = mask, .fd = fd, .oflags = oflags };
	struct ibv_xrcd *xrcd =
		SAY_PTR(ibv_open_xrcd(rig->ctx, &attr), "open_xrcd mask 0x%x %s", mask, what);

	if (xrcd)
		SAY_RET(ibv_close_xrcd(xrcd), "close_xrcd");
}

static void named_domains(struct rig *rig)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = 3, .oflags = O_CREAT };
	char name[] = "/tmp/verbs-diff.XXXXXX";
	struct ibv_xrcd *first;
	int fd = mkstemp(name);

	MUST(fd >= 0);
	attr.fd = fd;
	try_xrcd(rig, 3, fd, 0, "of a file without O_CREAT");
	MUST(first = SAY_PTR(ibv_open_xrcd(rig->ctx, &attr), "of a file"));
	try_xrcd(rig, 3, fd, 0, "of the same file");
	try_xrcd(rig, 3, fd, O_CREAT | O_EXCL, "of the same file, O_EXCL");
	SAY_RET(ibv_close_xrcd(first), "close the first");
	unlink(name);
	close(fd);
}

static void try_xrc_srqs(struct rig *rig, struct ibv_pd *pd, struct ibv_xrcd *xrcd,
			 struct ibv_cq *cq)
{
	struct ibv_srq *srq;
	uint32_t num;

	for (uint32_t mask = 0; mask < 0x40; mask++) {
		struct ibv_srq_init_attr_ex attr = {
			.attr = { .max_wr = 10, .max_sge = 1 },
			.comp_mask = mask,
			.srq_type = IBV_SRQT_XRC,
			.pd = pd,
			.xrcd = xrcd,
			.cq = cq,
		};

		srq = SAY_PTR(ibv_create_srq_ex(rig->ctx, &attr), "create_srq_ex mask 0x%x", mask);
		if (!srq)
			continue;
		SAY_RET(ibv_get_srq_num(srq, &num), "number");
		if (mask == 0xf)
			SAY_RET(ibv_close_xrcd(xrcd), "close the domain of an SRQ");
		MUST(!ibv_destroy_srq(srq));
	}
}

static void try_open_qp(struct rig *rig, struct ibv_xrcd *xrcd, uint32_t mask, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = mask,
		.qp_num = qpn,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	SAY_PTR(ibv_open_qp(rig->ctx, &attr), "open_qp mask 0x%x %s", mask,
		qpn ? "of a QP" : "of none");
}

/* A QP that is opened a second time is not compared, as the distribution's provider crashes when it
 * is closed. */
#define OPENS(mask) ((mask) < 0x10 && ((mask)&0xb) == 0xb)

static void receive_qps(struct rig *rig, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV,
					    .comp_mask = IBV_QP_INIT_ATTR_XRCD,
					    .xrcd = xrcd };
	struct ibv_qp *qp = SAY_PTR(ibv_create_qp_ex(rig->ctx, &attr), "create a receive QP");

	MUST(qp);
	for (uint32_t mask = 0; mask < 0x20; mask++)
		if (!OPENS(mask))
			try_open_qp(rig, xrcd, mask, qp->qp_num);
	try_open_qp(rig, xrcd, 0xb, 0);
	MUST(!ibv_destroy_qp(qp));
}

void diff_xrc(struct rig *rig)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = 3, .fd = -1, .oflags = O_CREAT };
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);
	struct ibv_xrcd *xrcd;

	MUST(pd && cq);
	for (uint32_t mask = 0; mask < 8; mask++)
		try_xrcd(rig, mask, -1, O_CREAT, "");
	try_xrcd(rig, 3, 999, O_CREAT, "of a closed descriptor");
	named_domains(rig);
	MUST(xrcd = ibv_open_xrcd(rig->ctx, &attr));
	try_xrc_srqs(rig, pd, xrcd, cq);
	receive_qps(rig, xrcd);
	SAY_RET(ibv_close_xrcd(xrcd), "close");
	MUST(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

static void try_rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		      int access, const char *what)
{
	errno = 0;
	say("%s: %d, errno %s", what, ibv_rereg_mr(mr, flags, pd, addr, length, access),
	    say_errno(errno));
	say("%s: length %zu, the PD is %s", what, mr->length,
	    mr->pd == pd ? "the given one" : "another");
}

void diff_rereg(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx), *other = ibv_alloc_pd(rig->ctx);
	char *buf = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	MUST(pd && other && buf != MAP_FAILED);
	MUST(mr = ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE));
	try_rereg(mr, 0, NULL, NULL, 0, 0, "no flag");
	try_rereg(mr, 8, NULL, NULL, 0, 0, "an unknown flag");
	try_rereg(mr, 1, NULL, NULL, 0, 0, "translation, nothing given");
	try_rereg(mr, 1, NULL, buf, 0, 0, "translation, no length");
	try_rereg(mr, 1, NULL, buf, 8192, 0, "translation");
	try_rereg(mr, 1, NULL, buf, 4096, 1, "translation, with access");
	try_rereg(mr, 4, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, "access");
	try_rereg(mr, 2, other, NULL, 0, 0, "PD");
	try_rereg(mr, 7, pd, buf + 4096, 4096, IBV_ACCESS_LOCAL_WRITE, "all of it");
	try_rereg(mr, 2, NULL, NULL, 0, 1, "PD, none given, with access");
	SAY_RET(ibv_dealloc_pd(other), "dealloc the PD that it has left");
	SAY_RET(ibv_dereg_mr(mr), "dereg");
	munmap(buf, 1 << 16);
	MUST(!ibv_dealloc_pd(pd));
}

void diff_import(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx), *twin;
	char *buf = aligned_alloc(4096, 4096);
	struct ibv_mr *mr, *seen;
	struct ibv_context *ctx;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	MUST(pd && buf && fd >= 0);
	MUST(mr = ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE));
	SAY_PTR(ibv_import_device(fd), "import another device");
	SAY_PTR(ibv_import_device(999), "import a closed descriptor");
	close(fd);
	MUST((fd = dup(rig->ctx->cmd_fd)) >= 0);
	MUST(ctx = SAY_PTR(ibv_import_device(fd), "import the device"));
	MUST(twin = SAY_PTR(ibv_import_pd(ctx, pd->handle), "import its PD"));
	seen = SAY_PTR(ibv_import_mr(twin, mr->handle), "import its MR");
	if (seen) {
		say_check(seen->lkey == mr->lkey && seen->rkey == mr->rkey &&
				  seen->length == mr->length,
			  "keys and length are the same");
		say("address %s", seen->addr ? "known" : "not known");
		ibv_unimport_mr(seen);
	}
	SAY_PTR(ibv_import_mr(twin, 9999), "import no MR");
	ibv_unimport_pd(twin);
	SAY_RET(ibv_close_device(ctx), "close the import");
	SAY_RET(ibv_dereg_mr(mr), "dereg the first");
	MUST(!ibv_dealloc_pd(pd));
	free(buf);
}

void diff_mw(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_mw *mw;

	MUST(pd);
	for (int type = 0; type < 4; type++) {
		mw = SAY_PTR(ibv_alloc_mw(pd, (enum ibv_mw_type)type), "alloc type %d", type);
		if (!mw)
			continue;
		say_check(mw->type == (enum ibv_mw_type)type && mw->pd == pd, "type and PD");
		SAY_RET(ibv_dealloc_pd(pd), "dealloc its PD");
		SAY_RET(ibv_dealloc_mw(mw), "dealloc");
	}
	MUST(!ibv_dealloc_pd(pd));
}

/* A QP and a CQ use their parent domain until they are destroyed. */
static void domain_with_queues(struct rig *rig, struct ibv_pd *pd)
{
	struct ibv_parent_domain_init_attr parent = { .pd = pd };
	struct ibv_pd *child = ibv_alloc_parent_domain(rig->ctx, &parent);
	struct ibv_cq_init_attr_ex attr = { .cqe = 4,
					    .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
					    .parent_domain = child };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig->ctx, &attr);
	struct ibv_cq *plain = ibv_create_cq(rig->ctx, 4, NULL, NULL, 0);
	struct ibv_qp_init_attr sends = {
		.send_cq = plain, .recv_cq = plain, .cap = { 1, 0, 1, 0, 0 }, .qp_type = IBV_QPT_RC
	};
	struct ibv_qp *qp;

	MUST(child && plain && (qp = ibv_create_qp(child, &sends)));
	SAY_RET(ibv_dealloc_pd(child), "dealloc the parent domain of a QP that receives nothing");
	MUST(!ibv_destroy_qp(qp));
	MUST(qp = make_qp(child, plain, IBV_QPT_RC));
	SAY_RET(ibv_dealloc_pd(child), "dealloc the parent domain of a CQ and a QP");
	if (cq) /* CQs of mlx4 belong to no domain, so there may be none */
		MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	SAY_RET(ibv_dealloc_pd(child), "dealloc the parent domain of a QP");
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_cq(plain));
	SAY_RET(ibv_dealloc_pd(child), "dealloc the parent domain of none");
}

/* A parent domain without allocator functions uses the library's own memory. */
static void domain_without_allocators(struct rig *rig, struct ibv_pd *pd)
{
	struct ibv_parent_domain_init_attr parent = {
		.pd = pd, .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS
	};
	struct ibv_pd *child = SAY_PTR(ibv_alloc_parent_domain(rig->ctx, &parent),
				       "a parent domain with NULL allocators");

	if (child)
		SAY_RET(ibv_dealloc_pd(child), "dealloc it");
}

void diff_domains(struct rig *rig)
{
	struct ibv_td_init_attr attr = { .comp_mask = 1 };
	struct ibv_parent_domain_init_attr parent = {};
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx), *child;
	struct ibv_td *td;

	MUST(pd);
	SAY_PTR(ibv_alloc_td(rig->ctx, &attr), "a TD with a mask");
	attr.comp_mask = 0;
	MUST(td = SAY_PTR(ibv_alloc_td(rig->ctx, &attr), "a TD"));
	SAY_PTR(ibv_alloc_parent_domain(rig->ctx, &parent), "a parent domain without a PD");
	parent.pd = pd;
	parent.comp_mask = 0x80;
	SAY_PTR(ibv_alloc_parent_domain(rig->ctx, &parent), "a parent domain with an unknown bit");
	parent.comp_mask = 0;
	parent.td = td;
	MUST(child = SAY_PTR(ibv_alloc_parent_domain(rig->ctx, &parent), "a parent domain"));
	SAY_RET(ibv_dealloc_td(td), "dealloc the TD in use");
	SAY_RET(ibv_dealloc_pd(pd), "dealloc the PD in use");
	SAY_RET(ibv_dealloc_pd(child), "dealloc the parent domain");
	domain_with_queues(rig, pd);
	domain_without_allocators(rig, pd);
	SAY_RET(ibv_dealloc_td(td), "dealloc the TD");
	SAY_RET(ibv_dealloc_pd(pd), "dealloc the PD");
}

static void say_order(struct rig *rig)
{
	static const enum ibv_wr_opcode ops[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
						  IBV_WR_RDMA_WRITE_WITH_IMM };
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	rig_pair_open(rig, &conf, &pair);
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++)
		say("data of opcode %d in order: %d", (int)ops[i],
		    ibv_query_qp_data_in_order(pair.end[0].qp, ops[i], 0));
	rig_pair_close(&pair);
}

static void say_ece(struct ibv_qp *qp, const char *when)
{
	struct ibv_ece ece = { .comp_mask = 1 };
	int ret = ibv_query_ece(qp, &ece);

	say("ece %s: query %d: vendor 0x%x options 0x%x mask 0x%x", when, ret, ece.vendor_id,
	    ece.options, ece.comp_mask);
}

/* Asks for OPTIONS and takes the QP to INIT and back. */
static void ask_ece(struct ibv_qp *qp, uint32_t options)
{
	struct ibv_ece ece = { .vendor_id = 0x15b3, .options = options };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	mask |= qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	SAY_RET(ibv_set_ece(qp, &ece), "ece 0x%x: set", options);
	say_ece(qp, "as asked");
	SAY_RET(ibv_modify_qp(qp, &attr, mask), "ece 0x%x: to INIT", options);
	say_ece(qp, "as answered");
	attr.qp_state = IBV_QPS_RESET;
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	say_ece(qp, "in RESET");
}

static void each_type_has_ece(struct ibv_pd *pd, struct ibv_cq *cq)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	static const uint32_t asked[] = { 0x10000001, 0x1ffffff6, 0x10000000, 0x20000007, 0, 7 };

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		struct ibv_qp *qp = make_qp(pd, cq, types[i]);

		MUST(qp);
		say("ece of type %d", (int)types[i]);
		say_ece(qp, "of a new QP");
		for (unsigned int k = 0; k < ARRAY_SIZE(asked); k++)
			ask_ece(qp, asked[k]);
		MUST(!ibv_destroy_qp(qp));
	}
}

void diff_ece(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);
	struct ibv_ece ece = {};
	struct ibv_qp *qp;

	MUST(pd && cq && (qp = make_qp(pd, cq, IBV_QPT_RC)));
	SAY_RET(ibv_set_ece(qp, &ece), "set nothing");
	ece.vendor_id = 1;
	SAY_RET(ibv_set_ece(qp, &ece), "set another vendor's");
	ece = (struct ibv_ece){ .vendor_id = 0x15b3, .comp_mask = 1 };
	SAY_RET(ibv_set_ece(qp, &ece), "set with a mask");
	each_type_has_ece(pd, cq);
	say_order(rig);
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

void diff_cq_change(struct rig *rig)
{
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);

	MUST(cq);
	for (uint32_t mask = 0; mask < 4; mask++) {
		struct ibv_modify_cq_attr attr = { mask, { 4, 10 } };

		SAY_RET(ibv_modify_cq(cq, &attr), "modify mask %u", mask);
	}
	SAY_RET(ibv_resize_cq(cq, 0), "resize to 0");
	SAY_RET(ibv_resize_cq(cq, -1), "resize to -1");
	SAY_RET(ibv_resize_cq(cq, 1 << 30), "resize past the limit");
	SAY_RET(ibv_resize_cq(cq, 100), "resize to 100");
	say_check(cq->cqe >= 100, "it has as many");
	SAY_RET(ibv_resize_cq(cq, 5), "resize to 5");
	say_check(cq->cqe >= 5, "it has as many");
	MUST(!ibv_destroy_cq(cq));
}
