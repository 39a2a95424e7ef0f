/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * regions.c - pages on domains, memory regions, windows, device memory and buffers.
 *
 * Covers: libibverbs/verbs_mr.c, libibverbs/verbs_pd.c, libibverbs/verbs_buf.c,
 * libibverbs/verbs_dmah.c, providers/mlx5/mr.c, providers/mlx5/dm.c
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "errors.h"

enum { MANY = 2000, PAGE = 4096 };

/* Calls that older releases do not have. */
NEWER(ibv_alloc_buf);
NEWER(ibv_reg_buf_mr);
NEWER(ibv_export_buf_dmabuf_fd);
NEWER(ibv_reg_mr_ex);
NEWER(ibv_alloc_dmah);
NEWER(ibv_dealloc_dmah);
NEWER(ibv_dm_export_dmabuf_fd);

static int reg_mr(struct bed *bed, void *addr, size_t length, unsigned int access)
{
	return OBJ(ibv_reg_mr(bed->pd, addr, length, access));
}

/* softhca takes it for a dma-buf. */
static int shared_memory(void)
{
	int fd = memfd_create("dma-buf", MFD_CLOEXEC);

	MUST(fd >= 0 && !ftruncate(fd, 2 * PAGE));
	return fd;
}

/* ---- ibv_reg_mr ---- */

CASE(ibv_reg_mr, EINVAL, "remote write or atomics without IBV_ACCESS_LOCAL_WRITE")
{
	return reg_mr(bed, bed->buf, 100, IBV_ACCESS_REMOTE_WRITE);
}

CASE(ibv_reg_mr, EINVAL, "has an unknown bit")
{
	return reg_mr(bed, bed->buf, 100, 1 << 19);
}

CASE(ibv_reg_mr, EINVAL, "length is SIZE_MAX and addr is not NULL")
{
	return reg_mr(bed, bed->buf, SIZE_MAX, IBV_ACCESS_ON_DEMAND);
}

CASE(ibv_reg_mr, EINVAL, "fd is not a dma-buf")
{
	return OBJ(ibv_reg_dmabuf_mr(bed->pd, 0, PAGE, 0, 0, IBV_ACCESS_LOCAL_WRITE));
}

CASE(ibv_reg_mr, EINVAL, "the range is not inside it")
{
	return OBJ(ibv_reg_dmabuf_mr(bed->pd, 0, 3 * PAGE, 0, shared_memory(),
				     IBV_ACCESS_LOCAL_WRITE));
}

CASE(ibv_reg_mr, EBADF, "fd is not an open descriptor")
{
	return OBJ(ibv_reg_dmabuf_mr(bed->pd, 0, PAGE, 0, 9999, IBV_ACCESS_LOCAL_WRITE));
}

CASE(ibv_reg_mr, EFAULT, "The range is not mapped")
{
	return reg_mr(bed, (void *)0x1000, 100, IBV_ACCESS_LOCAL_WRITE);
}

CASE(ibv_reg_mr, EFAULT, "The range is not mapped")
{
	return reg_mr(bed, "read-only", 3, IBV_ACCESS_LOCAL_WRITE);
}

CASE_ON(ON_MLX4, ibv_reg_mr, EINVAL,
	"has IBV_ACCESS_ON_DEMAND on a device that does not support it")
{
	return reg_mr(bed, bed->buf, 100, IBV_ACCESS_ON_DEMAND);
}

CASE_ON(ON_MLX4, ibv_reg_mr, EOPNOTSUPP,
	"ibv_reg_dmabuf_mr(): the provider does not support dma-bufs")
{
	return OBJ(ibv_reg_dmabuf_mr(bed->pd, 0, PAGE, 0, 0, IBV_ACCESS_LOCAL_WRITE));
}

static struct ibv_qp *bound_window(struct bed *bed, struct ibv_mr *mr)
{
	struct ibv_mw_bind bind = { .bind_info = { .mr = mr,
						   .addr = (uintptr_t)mr->addr,
						   .length = 64,
						   .mw_access_flags = IBV_ACCESS_REMOTE_READ } };
	struct ibv_mw *mw = ibv_alloc_mw(bed->pd, IBV_MW_TYPE_1);
	struct ibv_qp *qp = bed_rts(bed);

	MUST(mw && !ibv_bind_mw(qp, mw, &bind));
	rig_settle();
	return qp;
}

CASE_ON(ON_MLX4, ibv_reg_mr, EBUSY, "memory windows are bound to mr")
{
	struct ibv_mr *mr =
		ibv_reg_mr(bed->pd, bed->buf, 100, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);

	MUST(mr);
	bound_window(bed, mr);
	return RET(ibv_dereg_mr(mr));
}

CASE(ibv_reg_mr, ENOMEM, "the adapter has no key left")
{
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = reg_mr(bed, bed->buf, 100, IBV_ACCESS_LOCAL_WRITE);
	return ret;
}

CASE(ibv_reg_mr, ENOMEM, "The memory would exceed RLIMIT_MEMLOCK")
{
	struct rlimit limit = { PAGE, PAGE };

	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	/* a user without root's rights, as only that one's locked memory is limited */
	MUST(geteuid() || !seteuid(65534));
	return reg_mr(bed, bed->buf, BED_BUF, IBV_ACCESS_LOCAL_WRITE);
}

static struct ibv_mr_init_attr mr_attr(struct bed *bed)
{
	return (struct ibv_mr_init_attr){ .length = 100,
					  .access = IBV_ACCESS_LOCAL_WRITE,
					  .comp_mask = IBV_REG_MR_MASK_ADDR,
					  .addr = bed->buf };
}

static int reg_mr_ex(struct bed *bed, struct ibv_mr_init_attr attr)
{
	return ibv_reg_mr_ex ? OBJ(ibv_reg_mr_ex(bed->pd, &attr)) : NO_SUCH_CALL;
}

CASE(ibv_reg_mr_ex, EOPNOTSUPP, "comp_mask has a bit that the library does not support")
{
	struct ibv_mr_init_attr attr = mr_attr(bed);

	attr.comp_mask |= 1 << 20;
	return reg_mr_ex(bed, attr);
}

CASE(ibv_reg_mr_ex, EINVAL, "The bits of comp_mask do not go together")
{
	struct ibv_mr_init_attr attr = mr_attr(bed);

	attr.comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_FD;
	return reg_mr_ex(bed, attr);
}

CASE(ibv_reg_mr_ex, EINVAL, "the range is not within buf")
{
	struct ibv_mr_init_attr attr = mr_attr(bed);

	if (!ibv_alloc_buf)
		return NO_SUCH_CALL;
	MUST(ibv_alloc_buf(bed->pd, PAGE, &attr.buf));
	attr.comp_mask |= IBV_REG_MR_MASK_BUF;
	return reg_mr_ex(bed, attr);
}

CASE(ibv_reg_mr_ex, EINVAL, "or buf belongs to another protection domain")
{
	struct ibv_mr_init_attr attr = mr_attr(bed);

	if (!ibv_alloc_buf)
		return NO_SUCH_CALL;
	MUST(attr.addr = ibv_alloc_buf(ibv_alloc_pd(bed->ctx), PAGE, &attr.buf));
	attr.comp_mask |= IBV_REG_MR_MASK_BUF;
	return reg_mr_ex(bed, attr);
}

CASE(ibv_reg_mr_ex, ENOMEM, "As for ibv_reg_mr(3)")
{
	return NO_MEMORY(reg_mr_ex(bed, mr_attr(bed)));
}

static int mr_rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, int access)
{
	return RET(ibv_rereg_mr(mr, flags, pd, addr, 100, access));
}

CASE(ibv_rereg_mr, EINVAL, "flags is 0 or has an unknown bit")
{
	return mr_rereg(bed->mr, 1 << 20, NULL, NULL, 0);
}

CASE(ibv_rereg_mr, EINVAL, "flags is 0 or has an unknown bit")
{
	return mr_rereg(bed->mr, 0, NULL, NULL, 0);
}

CASE(ibv_rereg_mr, EINVAL, "an argument that flags needs is missing")
{
	return mr_rereg(bed->mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0);
}

CASE(ibv_rereg_mr, EINVAL, "an argument that flags needs is missing")
{
	return mr_rereg(bed->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL, 0);
}

CASE(ibv_rereg_mr, EINVAL, "mr is not a region of the process's own memory")
{
	struct ibv_mr *mr = ibv_alloc_null_mr(bed->pd);

	MUST(mr);
	return mr_rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, IBV_ACCESS_LOCAL_WRITE);
}

CASE_ON(ON_MLX4, ibv_rereg_mr, EBUSY, "Memory windows are bound to mr")
{
	struct ibv_mr *mr =
		ibv_reg_mr(bed->pd, bed->buf, 100, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);

	MUST(mr);
	bound_window(bed, mr);
	return mr_rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, IBV_ACCESS_LOCAL_WRITE);
}

CASE(ibv_rereg_mr, EOPNOTSUPP, "The kernel or device cannot make this change")
{
	struct ibv_mr *all =
		ibv_reg_mr(bed->pd, NULL, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);

	MUST(all);
	return mr_rereg(all, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, IBV_ACCESS_LOCAL_WRITE);
}

static struct ibv_mr *odp(struct bed *bed, struct ibv_pd *pd, unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, bed->buf, BED_BUF, access | IBV_ACCESS_ON_DEMAND);

	MUST(mr);
	return mr;
}

static int mr_advise(struct bed *bed, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge sge, uint32_t num_sge)
{
	return RET(ibv_advise_mr(bed->pd, advice, flags, &sge, num_sge));
}

static struct ibv_sge range_of(struct ibv_mr *mr)
{
	return (struct ibv_sge){ (uintptr_t)mr->addr, 100, mr->lkey };
}

CASE(ibv_advise_mr, EINVAL, "num_sge is 0 or too large")
{
	return mr_advise(bed, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
			 range_of(odp(bed, bed->pd, 0)), 0);
}

CASE(ibv_advise_mr, EINVAL, "advice or flags is invalid")
{
	return mr_advise(bed, IBV_ADVISE_MR_ADVICE_PREFETCH, 1 << 20,
			 range_of(odp(bed, bed->pd, 0)), 1);
}

CASE(ibv_advise_mr, ENOENT, "An lkey does not belong to an on-demand region")
{
	struct ibv_sge sge = range_of(bed->mr);

	sge.lkey ^= 0x7f00;
	return mr_advise(bed, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, sge, 1);
}

CASE(ibv_advise_mr, EPERM, "A region belongs to another protection domain")
{
	struct ibv_pd *pd = ibv_alloc_pd(bed->ctx);

	MUST(pd);
	return mr_advise(bed, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
			 range_of(odp(bed, pd, 0)), 1);
}

CASE(ibv_advise_mr, EPERM, "advice is to fetch for writing and the region is not writable")
{
	return mr_advise(bed, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH,
			 range_of(odp(bed, bed->pd, 0)), 1);
}

CASE(ibv_advise_mr, EFAULT, "A range is outside its region")
{
	struct ibv_sge sge = range_of(odp(bed, bed->pd, 0));

	sge.length = BED_BUF + 1;
	return mr_advise(bed, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, sge, 1);
}

CASE(ibv_advise_mr, EFAULT, "or not mapped")
{
	void *gone = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	MUST(gone != MAP_FAILED);
	MUST(mr = ibv_reg_mr(bed->pd, gone, PAGE, IBV_ACCESS_ON_DEMAND));
	MUST(!munmap(gone, PAGE));
	return mr_advise(bed, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, range_of(mr),
			 1);
}

CASE_ON(ON_MLX4, ibv_advise_mr, EOPNOTSUPP,
	"The kernel or the device does not support on-demand regions")
{
	return mr_advise(bed, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH,
			 range_of(bed->mr), 1);
}

CASE(ibv_alloc_pd, EBUSY, "pd still has memory regions")
{
	return RET(ibv_dealloc_pd(bed->pd));
}

CASE(ibv_alloc_pd, EBUSY, "a parent domain was made from it")
{
	struct ibv_parent_domain_init_attr attr = { .pd = ibv_alloc_pd(bed->ctx) };

	MUST(attr.pd && ibv_alloc_parent_domain(bed->ctx, &attr));
	return RET(ibv_dealloc_pd(attr.pd));
}

CASE(ibv_alloc_pd, ENOMEM, "the host has no memory")
{
	return NO_MEMORY_STORED(OBJ(ibv_alloc_pd(bed->ctx)), CELLS);
}

CASE(ibv_alloc_pd, ENOMEM, "The adapter has no protection domain left")
{
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = OBJ(ibv_alloc_pd(bed->ctx));
	return ret;
}

static int parent_domain(struct bed *bed, struct ibv_parent_domain_init_attr attr)
{
	return OBJ(ibv_alloc_parent_domain(bed->ctx, &attr));
}

static void *own_alloc(struct ibv_pd *pd __attribute__((unused)),
		       void *context __attribute__((unused)), size_t size __attribute__((unused)),
		       size_t alignment __attribute__((unused)),
		       uint64_t type __attribute__((unused)))
{
	return NULL;
}

CASE(ibv_alloc_parent_domain, EINVAL, "pd is NULL")
{
	return parent_domain(bed, (struct ibv_parent_domain_init_attr){ .pd = NULL });
}

CASE(ibv_alloc_parent_domain, EINVAL, "comp_mask has an unknown bit")
{
	return parent_domain(
		bed, (struct ibv_parent_domain_init_attr){ .pd = bed->pd, .comp_mask = 1 << 20 });
}

CASE(ibv_alloc_parent_domain, EINVAL, "only one of alloc and free is set")
{
	return parent_domain(bed, (struct ibv_parent_domain_init_attr){
					  .pd = bed->pd,
					  .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
					  .alloc = own_alloc });
}

CASE(ibv_alloc_parent_domain, ENOMEM, "There is no memory")
{
	return NO_MEMORY(parent_domain(bed, (struct ibv_parent_domain_init_attr){ .pd = bed->pd }));
}

CASE(ibv_alloc_td, EINVAL, "comp_mask is not 0")
{
	struct ibv_td_init_attr attr = { .comp_mask = 1 };

	return OBJ(ibv_alloc_td(bed->ctx, &attr));
}

CASE(ibv_alloc_td, EBUSY, "Parent domains with td still exist")
{
	struct ibv_td_init_attr attr = { 0 };
	struct ibv_parent_domain_init_attr parent = { .pd = bed->pd };

	parent.td = ibv_alloc_td(bed->ctx, &attr);
	MUST(parent.td && ibv_alloc_parent_domain(bed->ctx, &parent));
	return RET(ibv_dealloc_td(parent.td));
}

CASE(ibv_alloc_td, ENOMEM, "There is no memory")
{
	struct ibv_td_init_attr attr = { 0 };

	return NO_MEMORY_STORED(OBJ(ibv_alloc_td(bed->ctx, &attr)), CELLS);
}

CASE(ibv_alloc_null_mr, ENOMEM, "There is no memory")
{
	return NO_MEMORY(OBJ(ibv_alloc_null_mr(bed->pd)));
}

CASE_ON(ON_MLX4, ibv_alloc_null_mr, ENOTSUP, "The adapter has no null key")
{
	return OBJ(ibv_alloc_null_mr(bed->pd));
}

/* ---- windows ---- */

CASE(ibv_alloc_mw, EINVAL, "type is not a type")
{
	return OBJ(ibv_alloc_mw(bed->pd, 9));
}

CASE(ibv_alloc_mw, ENOMEM, "the host no memory")
{
	return NO_MEMORY_STORED(OBJ(ibv_alloc_mw(bed->pd, IBV_MW_TYPE_2)), CELLS);
}

CASE(ibv_alloc_mw, ENOMEM, "The adapter has no key left")
{
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = OBJ(ibv_alloc_mw(bed->pd, IBV_MW_TYPE_2));
	return ret;
}

static struct ibv_mw_bind_info bind_info(struct bed *bed)
{
	struct ibv_mr *mr =
		ibv_reg_mr(bed->pd, bed->buf, BED_BUF, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);

	MUST(mr);
	return (struct ibv_mw_bind_info){ .mr = mr,
					  .addr = (uintptr_t)bed->buf,
					  .length = 64,
					  .mw_access_flags = IBV_ACCESS_REMOTE_READ };
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
	struct ibv_mw_bind bind = { .bind_info = info };

	MUST(mw);
	return RET(ibv_bind_mw(qp, mw, &bind));
}

CASE(ibv_bind_mw, EINVAL, "mw is not of type 1")
{
	return bind_mw(bed_rts(bed), ibv_alloc_mw(bed->pd, IBV_MW_TYPE_2), bind_info(bed));
}

CASE(ibv_bind_mw, EINVAL, "length is not 0 and mr is missing")
{
	struct ibv_mw_bind_info info = bind_info(bed);

	info.mr = NULL;
	return bind_mw(bed_rts(bed), ibv_alloc_mw(bed->pd, IBV_MW_TYPE_1), info);
}

CASE(ibv_bind_mw, EINVAL, "mr is zero-based")
{
	struct ibv_mw_bind_info info = bind_info(bed);

	info.mr = ibv_reg_mr(bed->pd, bed->buf, BED_BUF,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED);
	MUST(info.mr);
	info.addr = 0;
	return bind_mw(bed_rts(bed), ibv_alloc_mw(bed->pd, IBV_MW_TYPE_1), info);
}

CASE(ibv_bind_mw, EINVAL, "or mw_access_flags has a right that the window cannot have")
{
	struct ibv_mw_bind_info info = bind_info(bed);

	info.mw_access_flags = 1 << 30;
	return bind_mw(bed_rts(bed), ibv_alloc_mw(bed->pd, IBV_MW_TYPE_1), info);
}

CASE(ibv_bind_mw, EOPNOTSUPP, "or length is above 2 GiB")
{
	struct ibv_mw_bind_info info = bind_info(bed);

	info.length = (2ull << 30) + 1;
	return bind_mw(bed_rts(bed), ibv_alloc_mw(bed->pd, IBV_MW_TYPE_1), info);
}

CASE(ibv_bind_mw, EPERM, "mr, mw and qp do not belong to one protection domain")
{
	struct ibv_pd *pd = ibv_alloc_pd(bed->ctx);

	MUST(pd);
	return bind_mw(bed_rts(bed), ibv_alloc_mw(pd, IBV_MW_TYPE_1), bind_info(bed));
}

CASE(ibv_bind_mw, EOPNOTSUPP, "The type of qp does not bind windows")
{
	struct ibv_qp *qp = bed_qp(bed, IBV_QPT_UD);

	bed_to_rts_ud(qp);
	return bind_mw(qp, ibv_alloc_mw(bed->pd, IBV_MW_TYPE_1), bind_info(bed));
}

CASE(ibv_bind_mw, ENOMEM, "The send queue is full")
{
	struct ibv_mw *mw = ibv_alloc_mw(bed->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind_info info = bind_info(bed);
	struct ibv_qp *qp = bed_rts(bed);
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = bind_mw(qp, mw, info);
	return ret;
}

static struct ibv_dm *bed_dm(struct bed *bed)
{
	struct ibv_alloc_dm_attr attr = { .length = 4096 };
	struct ibv_dm *dm = ibv_alloc_dm(bed->ctx, &attr);

	MUST(dm);
	return dm;
}

static int alloc_dm(struct bed *bed, struct ibv_alloc_dm_attr attr)
{
	return OBJ(ibv_alloc_dm(bed->ctx, &attr));
}

CASE(ibv_alloc_dm, EINVAL, "comp_mask is not 0")
{
	return alloc_dm(bed, (struct ibv_alloc_dm_attr){ .length = 64, .comp_mask = 1 });
}

CASE(ibv_alloc_dm, EINVAL, "a range extends beyond the memory")
{
	struct ibv_dm *dm = bed_dm(bed);

	return OBJ(ibv_reg_dm_mr(bed->pd, dm, 4000, 200,
				 IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE));
}

CASE(ibv_alloc_dm, EINVAL, "access has an unknown bit")
{
	struct ibv_dm *dm = bed_dm(bed);

	return OBJ(ibv_reg_dm_mr(bed->pd, dm, 0, 200, IBV_ACCESS_ZERO_BASED | 1 << 19));
}

CASE(ibv_alloc_dm, EFAULT, "A copy extends beyond the memory")
{
	return RET(ibv_memcpy_to_dm(bed_dm(bed), 4000, bed->buf, 200));
}

CASE(ibv_alloc_dm, EBUSY, "regions are left")
{
	struct ibv_dm *dm = bed_dm(bed);

	MUST(ibv_reg_dm_mr(bed->pd, dm, 0, 200, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE));
	return RET(ibv_free_dm(dm));
}

CASE(ibv_alloc_dm, EPROTONOSUPPORT, "the kernel cannot export memory of the adapter")
{
	struct ibv_dm *dm = bed_dm(bed);

	if (!ibv_dm_export_dmabuf_fd)
		return NO_SUCH_CALL;
	adapter_fault("cmd:1=EPROTONOSUPPORT");
	return SIZE(ibv_dm_export_dmabuf_fd(dm));
}

CASE(ibv_alloc_dm, ENOMEM, "The adapter does not have that much memory left")
{
	int ret = 0;

	for (int i = 0; i < MANY && !ret; i++)
		ret = alloc_dm(bed, (struct ibv_alloc_dm_attr){ .length = 16 << 10 });
	return ret;
}

CASE_ON(ON_MLX4, ibv_alloc_dm, EOPNOTSUPP, "The adapter has no device memory")
{
	return alloc_dm(bed, (struct ibv_alloc_dm_attr){ .length = 64 });
}

CASE(ibv_alloc_buf, EINVAL, "size is 0")
{
	struct ibv_buf *buf;

	return ibv_alloc_buf ? OBJ(ibv_alloc_buf(bed->pd, 0, &buf)) : NO_SUCH_CALL;
}

CASE(ibv_alloc_buf, EINVAL, "buf belongs to another protection domain")
{
	struct ibv_pd *pd = ibv_alloc_pd(bed->ctx);
	struct ibv_buf *buf;
	void *memory;

	if (!ibv_alloc_buf)
		return NO_SUCH_CALL;
	MUST(memory = ibv_alloc_buf(pd, PAGE, &buf));
	return OBJ(ibv_reg_buf_mr(bed->pd, buf, memory, 64, 0));
}

CASE(ibv_alloc_buf, EINVAL, "the range is not within buf")
{
	struct ibv_buf *buf;
	char *memory;

	if (!ibv_alloc_buf)
		return NO_SUCH_CALL;
	MUST(memory = ibv_alloc_buf(bed->pd, PAGE, &buf));
	return OBJ(ibv_reg_buf_mr(bed->pd, buf, memory + PAGE, 64, 0));
}

CASE(ibv_alloc_buf, ENOMEM, "There is no memory")
{
	struct ibv_buf *buf;

	if (!ibv_alloc_buf)
		return NO_SUCH_CALL;
	return NO_MEMORY(OBJ(ibv_alloc_buf(bed->pd, PAGE, &buf)));
}

CASE(ibv_alloc_buf, ENODATA, "the buffer is ordinary memory")
{
	struct ibv_buf *buf;

	if (!ibv_alloc_buf)
		return NO_SUCH_CALL;
	MUST(ibv_alloc_buf(bed->pd, PAGE, &buf));
	return SIZE(ibv_export_buf_dmabuf_fd(buf));
}

static int alloc_dmah(struct bed *bed, struct ibv_dmah_init_attr attr)
{
	return ibv_alloc_dmah ? OBJ(ibv_alloc_dmah(bed->ctx, &attr)) : NO_SUCH_CALL;
}

CASE(ibv_alloc_dmah, EINVAL, "comp_mask has an unknown bit")
{
	return alloc_dmah(bed, (struct ibv_dmah_init_attr){ .comp_mask = 1 << 10 });
}

CASE(ibv_alloc_dmah, EINVAL, "the members cannot be combined")
{
	return alloc_dmah(
		bed, (struct ibv_dmah_init_attr){ .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH |
							       IBV_DMAH_INIT_ATTR_MASK_CPU_ID });
}

CASE(ibv_alloc_dmah, EOPNOTSUPP, "The kernel, the adapter or the bus does not support the hints")
{
	return alloc_dmah(
		bed, (struct ibv_dmah_init_attr){ .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH |
							       IBV_DMAH_INIT_ATTR_MASK_CPU_ID |
							       IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE,
						  .ph = 1 });
}

CASE(ibv_alloc_dmah, ENOMEM, "There is no memory")
{
	return NO_MEMORY(alloc_dmah(
		bed,
		(struct ibv_dmah_init_attr){ .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH, .ph = 1 }));
}

CASE(ibv_alloc_dmah, EBUSY, "Regions with dmah are left")
{
	struct ibv_dmah_init_attr attr = { .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH, .ph = 1 };
	struct ibv_mr_init_attr region = mr_attr(bed);

	if (!ibv_alloc_dmah || !ibv_reg_mr_ex)
		return NO_SUCH_CALL;
	region.dmah = ibv_alloc_dmah(bed->ctx, &attr);
	region.comp_mask |= IBV_REG_MR_MASK_DMAH;
	MUST(region.dmah && ibv_reg_mr_ex(bed->pd, &region));
	return RET(ibv_dealloc_dmah(region.dmah));
}
