/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - the family "memory": protection domains, regions, windows, device memory, buffers and
 * DMA handles.
 *
 * Covers: libibverbs/verbs_pd.c, libibverbs/verbs_mr.c, libibverbs/verbs_dm.c,
 * libibverbs/verbs_buf.c, libibverbs/verbs_dmah.c
 */
#include "odd.h"

static void *td_attr(void)
{
	static struct ibv_td_init_attr attr;

	return &attr;
}

static void *parent_attr(void)
{
	static struct ibv_parent_domain_init_attr attr;

	attr.pd = odd_pd();
	return &attr;
}

static void *xrcd_attr(void)
{
	static struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							       IBV_XRCD_INIT_ATTR_OFLAGS,
						  .fd = -1,
						  .oflags = 0100 };

	return &attr;
}

static void *mr_attr(void)
{
	static struct ibv_mr_init_attr attr = { .length = 4096,
						.access = IBV_ACCESS_LOCAL_WRITE,
						.comp_mask = IBV_REG_MR_MASK_ADDR |
							     IBV_REG_MR_MASK_IOVA };

	attr.addr = odd_buffer();
	attr.iova = (uintptr_t)attr.addr;
	return &attr;
}

static void *dm_attr(void)
{
	static struct ibv_alloc_dm_attr attr = { .length = 4096 };

	return &attr;
}

static void *dmah_attr(void)
{
	static struct ibv_dmah_init_attr attr;

	return &attr;
}

static void *sges(void)
{
	static struct ibv_sge sge = { .length = 4096 };

	sge.addr = (uintptr_t)odd_buffer();
	sge.lkey = ((struct ibv_mr *)odd_mr())->lkey;
	return &sge;
}

static void *window(void)
{
	static struct ibv_mw_bind bind = {
		.bind_info = { .length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_READ }
	};

	bind.bind_info.mr = odd_mr();
	bind.bind_info.addr = (uintptr_t)odd_buffer();
	return &bind;
}

static const struct odd_field td_fields[] = { ODD_FIELD(struct ibv_td_init_attr, comp_mask),
					      { 0 } };
static const struct odd_field parent_fields[] = {
	ODD_POINTER(struct ibv_parent_domain_init_attr, pd),
	ODD_FIELD(struct ibv_parent_domain_init_attr, comp_mask),
	{ 0 }
};
static const struct odd_field xrcd_fields[] = { ODD_FIELD(struct ibv_xrcd_init_attr, comp_mask),
						ODD_FIELD(struct ibv_xrcd_init_attr, fd),
						ODD_FIELD(struct ibv_xrcd_init_attr, oflags),
						{ 0 } };
static const struct odd_field mr_fields[] = {
	ODD_FIELD(struct ibv_mr_init_attr, length),    ODD_FIELD(struct ibv_mr_init_attr, access),
	ODD_FIELD(struct ibv_mr_init_attr, comp_mask), ODD_FIELD(struct ibv_mr_init_attr, iova),
	ODD_POINTER(struct ibv_mr_init_attr, addr),    { 0 }
};
static const struct odd_field dm_fields[] = { ODD_FIELD(struct ibv_alloc_dm_attr, length),
					      ODD_FIELD(struct ibv_alloc_dm_attr, log_align_req),
					      ODD_FIELD(struct ibv_alloc_dm_attr, comp_mask),
					      { 0 } };
static const struct odd_field dmah_fields[] = { ODD_FIELD(struct ibv_dmah_init_attr, comp_mask),
						ODD_FIELD(struct ibv_dmah_init_attr, cpu_id),
						{ 0 } };
static const struct odd_field sge_fields[] = { ODD_FIELD(struct ibv_sge, addr),
					       ODD_FIELD(struct ibv_sge, length),
					       ODD_FIELD(struct ibv_sge, lkey),
					       { 0 } };
static const struct odd_field window_fields[] = { ODD_POINTER(struct ibv_mw_bind, bind_info.mr),
						  ODD_FIELD(struct ibv_mw_bind, bind_info.addr),
						  ODD_FIELD(struct ibv_mw_bind, bind_info.length),
						  ODD_FIELD(struct ibv_mw_bind,
							    bind_info.mw_access_flags),
						  ODD_FIELD(struct ibv_mw_bind, send_flags),
						  { 0 } };

#define IOVA_ARG NUMBER_ARG("iova", 4096, V("0", 0), V("1", 1), V("-1", -1))
#define OFFSET_ARG \
	NUMBER_ARG("offset", 0, V("1", 1), V("4096", 4096), V("2^40", 1l << 40), V("-1", -1))
#define SMALL_ARG                                                                            \
	NUMBER_ARG("length", 64, V("0", 0), V("1", 1), V("4096", 4096), V("2^40", 1l << 40), \
		   V("-1", -1))
#define COUNT_ARG NUMBER_ARG("count", 1, V("0", 0), V("2^16", 65536), V("all ones", 0xffffffff))

static const struct odd_call calls[] = {
	{ "ibv_alloc_pd", OBJECT, NULL, { &arg_context } },
	{ "ibv_dealloc_pd", ERRNO, NULL, { &arg_pd } },
	{ "ibv_import_pd", OBJECT, NULL, { &arg_context, &arg_handle } },
	{ "ibv_unimport_pd", NOTHING, NULL, { NUMBER_ARG("pd", 0) } },
	{ "ibv_alloc_td",
	  OBJECT,
	  INLINE(ibv_alloc_td),
	  { &arg_context, ATTR_ARG("attr", td_attr, td_fields) } },
	{ "ibv_dealloc_td", ERRNO, INLINE(ibv_dealloc_td), { GOOD_ARG(odd_td) } },
	{ "ibv_alloc_parent_domain",
	  OBJECT,
	  INLINE(ibv_alloc_parent_domain),
	  { &arg_context, ATTR_ARG("attr", parent_attr, parent_fields) } },
	{ "ibv_open_xrcd",
	  OBJECT,
	  INLINE(ibv_open_xrcd),
	  { &arg_context, ATTR_ARG("attr", xrcd_attr, xrcd_fields) } },
	{ "ibv_close_xrcd", ERRNO, INLINE(ibv_close_xrcd), { GOOD_ARG(odd_xrcd) } },
	{ "ibv_reg_mr", OBJECT, NULL, { &arg_pd, &arg_addr, &arg_length, &arg_access } },
	{ "ibv_reg_mr_iova",
	  OBJECT,
	  NULL,
	  { &arg_pd, &arg_addr, &arg_length, IOVA_ARG, &arg_access } },
	{ "ibv_reg_mr_iova2",
	  OBJECT,
	  NULL,
	  { &arg_pd, &arg_addr, &arg_length, IOVA_ARG, &arg_access } },
	{ "ibv_reg_dmabuf_mr",
	  OBJECT,
	  NULL,
	  { &arg_pd, OFFSET_ARG, &arg_length, IOVA_ARG, &arg_fd, &arg_access } },
	{ "ibv_reg_mr_ex", OBJECT, NULL, { &arg_pd, ATTR_ARG("attr", mr_attr, mr_fields) } },
	{ "ibv_rereg_mr",
	  NUMBER,
	  NULL,
	  { &arg_mr,
	    NUMBER_ARG("flags", 1, V("0", 0), V("2", 2), V("4", 4), V("8", 8), V("all ones", -1)),
	    &arg_pd, &arg_addr, &arg_length,
	    NUMBER_ARG("access", 0, V("1", 1), V("all ones", -1)) } },
	{ "ibv_dereg_mr", ERRNO, NULL, { &arg_mr } },
	{ "ibv_import_mr",
	  OBJECT,
	  NULL,
	  { &arg_pd, NUMBER_ARG("handle", 4095, V("all ones", 0xffffffff)) } },
	{ "ibv_unimport_mr", NOTHING, NULL, { NUMBER_ARG("mr", 0) } },
	{ "ibv_alloc_null_mr", OBJECT, INLINE(ibv_alloc_null_mr), { &arg_pd } },
	{ "ibv_advise_mr",
	  ERRNO,
	  INLINE(ibv_advise_mr),
	  { &arg_pd, NUMBER_ARG("advice", 0, V("1", 1), V("3", 3), V("-1", -1)), &arg_flags,
	    ATTR_ARG("sge", sges, sge_fields), COUNT_ARG } },
	{ "ibv_alloc_mw",
	  OBJECT,
	  INLINE(ibv_alloc_mw),
	  { &arg_pd, NUMBER_ARG("type", 1, V("0", 0), V("2", 2), V("3", 3), V("-1", -1)) } },
	{ "ibv_bind_mw",
	  ERRNO,
	  INLINE(ibv_bind_mw),
	  { &arg_qp_rts, &arg_mw, ATTR_ARG("bind", window, window_fields) } },
	{ "ibv_dealloc_mw", ERRNO, INLINE(ibv_dealloc_mw), { &arg_mw } },
	{ "ibv_alloc_dm",
	  OBJECT,
	  INLINE(ibv_alloc_dm),
	  { &arg_context, ATTR_ARG("attr", dm_attr, dm_fields) } },
	{ "ibv_free_dm", ERRNO, INLINE(ibv_free_dm), { &arg_dm } },
	{ "ibv_import_dm",
	  OBJECT,
	  NULL,
	  { &arg_context, NUMBER_ARG("handle", 4095, V("all ones", 0xffffffff)) } },
	{ "ibv_unimport_dm", NOTHING, NULL, { NUMBER_ARG("dm", 0) } },
	{ "ibv_memcpy_to_dm",
	  ERRNO,
	  INLINE(ibv_memcpy_to_dm),
	  { GOOD_ARG(odd_dm), OFFSET_ARG, GOOD_ARG(odd_buffer), SMALL_ARG } },
	{ "ibv_memcpy_from_dm",
	  ERRNO,
	  INLINE(ibv_memcpy_from_dm),
	  { GOOD_ARG(odd_buffer), GOOD_ARG(odd_dm), OFFSET_ARG, SMALL_ARG } },
	{ "ibv_reg_dm_mr",
	  OBJECT,
	  INLINE(ibv_reg_dm_mr),
	  { &arg_pd, &arg_dm, OFFSET_ARG, SMALL_ARG,
	    NUMBER_ARG("access", IBV_ACCESS_ZERO_BASED, V("0", 0), V("33", 33),
		       V("all ones", 0xffffffff)) } },
	{ "ibv_dm_export_dmabuf_fd", DESCRIPTOR, NULL, { &arg_dm } },
	{ "ibv_alloc_buf", OBJECT, NULL, { &arg_pd, SMALL_ARG, OUT_ARG("buf") } },
	{ "ibv_free_buf", NOTHING, NULL, { NUMBER_ARG("buf", 0) } },
	{ "ibv_export_buf_dmabuf_fd", DESCRIPTOR, NULL, { NUMBER_ARG("buf", 0) } },
	{ "ibv_reg_buf_mr",
	  OBJECT,
	  NULL,
	  { &arg_pd, NUMBER_ARG("buf", 0), &arg_addr, &arg_length, &arg_access } },
	{ "ibv_alloc_dmah",
	  OBJECT,
	  NULL,
	  { &arg_context, ATTR_ARG("attr", dmah_attr, dmah_fields) } },
	{ "ibv_dealloc_dmah", ERRNO, NULL, { NUMBER_ARG("dmah", 0) } },
};

ODD_FAMILY(memory, calls);
