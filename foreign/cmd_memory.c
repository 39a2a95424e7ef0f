/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_memory.c - the guest's commands on memory regions and windows, and on memory of the device.
 */
#include "guest.h"

GUEST_CALL(int, ibv_cmd_reg_mr,
	   (struct ibv_pd * pd, void *addr, size_t length, uint64_t iova, int access,
	    struct host_mr *mr, const void *cmd, size_t cmd_size,
	    struct ib_uverbs_reg_mr_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata = guest_udata(
		cmd, cmd_size, WRITE_CORE(struct ib_uverbs_reg_mr), resp, resp_size, sizeof(*resp));
	struct verbs_mr *vmr = (struct verbs_mr *)mr;
	int err = verbs_cmd_reg_mr(pd, addr, length, iova, (unsigned int)access, vmr, &udata);

	if (!err && resp) {
		resp->mr_handle = vmr->mr.handle;
		resp->lkey = vmr->mr.lkey;
		resp->rkey = vmr->mr.rkey;
	}
	return guest_result(err);
}

/* Registers a dma-buf. Release 44 passes no BUFFER, and no sign tells it from later releases of
 * private interface 34. So BUFFER is ignored in that interface, even if it has attributes. */
GUEST_CALL(int, ibv_cmd_reg_dmabuf_mr,
	   (struct ibv_pd * pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access,
	    struct host_mr *mr, const struct guest_buffer *buffer))
{
	struct guest_attrs more;
	int err = guest_attrs_of(HOST_NUMBER >= 65 ? buffer : NULL, &more);
	const struct verbs_udata udata = { .attrs = more.attrs, .nattrs = more.count };

	if (!err)
		err = verbs_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, (unsigned int)access,
					      (struct verbs_mr *)mr, &udata);
	return guest_result(err);
}

#if HOST_NUMBER >= 65
GUEST_CALL(int, ibv_cmd_reg_mr_ex,
	   (struct ibv_pd * pd, struct host_mr *mr, struct ibv_mr_init_attr *attr))
{
	return guest_result(verbs_cmd_reg_mr_ex(pd, attr, (struct verbs_mr *)mr, NULL));
}

/* Refused: DMA handles are objects of our library alone. */
GUEST_CALL(int, ibv_cmd_alloc_dmah,
	   (struct ibv_context * context, struct verbs_dmah *dmah, struct ibv_dmah_init_attr *attr))
{
	(void)context;
	(void)dmah;
	(void)attr;
	return guest_result(guest_refuse("ibv_cmd_alloc_dmah"));
}

GUEST_CALL(int, ibv_cmd_free_dmah, (struct verbs_dmah * dmah))
{
	(void)dmah;
	return guest_result(guest_refuse("ibv_cmd_free_dmah"));
}

GUEST_CALL(int, ibv_cmd_export_dmabuf_fd, (struct ibv_context * context, off_t offset))
{
	int fd, err = verbs_cmd_alloc_dmabuf(context, (uint64_t)offset, &fd);

	return err ? fail_fd(err) : fd;
}
#endif

GUEST_CALL(int, ibv_cmd_rereg_mr,
	   (struct host_mr * mr, uint32_t flags, void *addr, size_t length, uint64_t iova,
	    int access, struct ibv_pd *pd, const void *cmd, size_t cmd_size,
	    struct ib_uverbs_rereg_mr_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_rereg_mr), resp, resp_size,
			    sizeof(*resp));
	struct verbs_mr *vmr = (struct verbs_mr *)mr;
	int err = verbs_cmd_rereg_mr(vmr, (int)flags, pd, addr, length, iova, (unsigned int)access,
				     &udata);

	if (!err && resp) {
		resp->lkey = vmr->mr.lkey;
		resp->rkey = vmr->mr.rkey;
	}
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_query_mr, (struct ibv_pd * pd, struct host_mr *mr, uint32_t handle))
{
	return guest_result(verbs_cmd_query_mr(pd, handle, (struct verbs_mr *)mr));
}

GUEST_CALL(int, ibv_cmd_dereg_mr, (struct host_mr * mr))
{
	return guest_result(verbs_cmd_dereg_mr((struct verbs_mr *)mr));
}

GUEST_CALL(int, ibv_cmd_advise_mr,
	   (struct ibv_pd * pd, enum ibv_advise_mr_advice advice, uint32_t flags,
	    struct ibv_sge *sg_list, uint32_t num_sge))
{
	return guest_result(verbs_cmd_advise_mr(pd, advice, flags, sg_list, num_sge));
}

GUEST_CALL(int, ibv_cmd_alloc_mw,
	   (struct ibv_pd * pd, enum ibv_mw_type type, struct ibv_mw *mw, const void *cmd,
	    size_t cmd_size, struct ib_uverbs_alloc_mw_resp *resp, size_t resp_size))
{
	const struct verbs_udata udata =
		guest_udata(cmd, cmd_size, WRITE_CORE(struct ib_uverbs_alloc_mw), resp, resp_size,
			    sizeof(*resp));
	int err = verbs_cmd_alloc_mw(pd, type, mw, &udata);

	if (!err && resp) {
		resp->mw_handle = mw->handle;
		resp->rkey = mw->rkey;
	}
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_dealloc_mw, (struct ibv_mw * mw))
{
	return guest_result(verbs_cmd_dealloc_mw(mw));
}

/* Allocates device memory. Guests read the handle from struct guest_dm, behind the public
 * object. */
GUEST_CALL(int, ibv_cmd_alloc_dm,
	   (struct ibv_context * context, const struct ibv_alloc_dm_attr *attr, struct guest_dm *dm,
	    const struct guest_buffer *buffer))
{
	struct guest_attrs more;
	int err = guest_attrs_of(buffer, &more);

	/* Clear enum verbs_attr_kind, which a short command's attributes do not have. */
	for (unsigned int i = 0; !err && i < more.count; i++)
		more.attrs[i].how &= VERBS_ATTR_MUST;
	if (!err)
		err = verbs_cmd_alloc_dm(context, attr, &dm->dm, more.attrs, more.count);
	if (!err)
		dm->handle = dm->dm.handle;
	return guest_result(err);
}

GUEST_CALL(int, ibv_cmd_free_dm, (struct guest_dm * dm))
{
	struct ibv_dm copy = dm->dm;

	copy.handle = dm->handle;
	return guest_result(verbs_cmd_free_dm(&copy));
}

GUEST_CALL(int, ibv_cmd_reg_dm_mr,
	   (struct ibv_pd * pd, struct guest_dm *dm, uint64_t dm_offset, size_t length,
	    unsigned int access, struct host_mr *mr, const struct guest_buffer *buffer))
{
	struct ibv_dm copy = dm->dm;
	struct guest_attrs more;
	int err = guest_attrs_of(buffer, &more);
	const struct verbs_udata udata = { .attrs = more.attrs, .nattrs = more.count };

	copy.handle = dm->handle;
	if (!err)
		err = verbs_cmd_reg_dm_mr(pd, &copy, dm_offset, length, access,
					  (struct verbs_mr *)mr, &udata);
	return guest_result(err);
}
