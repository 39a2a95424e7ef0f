/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dm.c - device memory: memory on the adapter that programs allocate, map and register.
 *
 * Its bytes are pages of the memfd behind the program's uverbs file. So the program maps them as on
 * Linux, and its accesses need no help.
 *
 * Memory for table entries is in the device, and programs reach it by RDMA only.
 */
#include <errno.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "softhca/front/process/driver/device_memory.h"
#include "softhca/front/process/uverbs/objects.h"

enum {
	ALLOWED_ACCESS = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
			 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |
			 IB_UVERBS_ACCESS_ZERO_BASED,
	PAGE = UAR_PAGE_SIZE,
	MEMIC_OPERATIONS = 32, /* bits of an operation mask */
};

static bool find_pages(const struct uverbs_file *file, uint32_t pages, uint32_t *first)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < UVERBS_FILE_MEMORY_PAGES; i++) {
		run = file->memory_page_used[i] ? 0 : run + 1;
		if (run == pages) {
			*first = i + 1 - pages;
			return true;
		}
	}
	return false;
}

/* Tells the device where the pages are: in the file's memfd if HERE, else nowhere. */
static void place_pages(struct uverbs_dm *dm, bool here)
{
	struct uverbs_file *file = dm->base.file;
	uint64_t addr = dm->addr & ~(uint64_t)(PAGE - 1);

	for (uint32_t i = 0; i < dm->pages; i++) {
		void *page = uverbs_file_memory(file, dm->first_page + i);

		if (here)
			memset(page, 0, PAGE);
		file->memory_page_used[dm->first_page + i] = here;
		hca_place_memic(file->adapter->hca, addr + (uint64_t)i * PAGE, here ? page : NULL);
	}
}

static int dm_destroy(struct object *object, pid_t tid)
{
	struct uverbs_dm *dm = (struct uverbs_dm *)object;
	int ret;

	(void)tid;
	if (dm->is_icm) { /* gone for the program, whatever the device says, as on Linux */
		sw_icm_release(object->file->adapter, dm->icm);
		return 0;
	}
	ret = device_memory_free(object->file->adapter, dm->addr, dm->size);
	if (ret)
		return ret;
	dmabuf_revoke(object->file, uverbs_file_memory_page(dm->first_page));
	place_pages(dm, false);
	return 0;
}

static int dm_make(struct uverbs_call *uc, struct uverbs_dm *dm)
{
	uint32_t log_align;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_ALLOC_DM_LENGTH, &dm->length, sizeof(dm->length)) ||
	    uc_in(uc, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, &log_align, sizeof(log_align)))
		return EFAULT;
	ret = device_memory_alloc(uc->adapter, dm->length, log_align, &dm->addr, &dm->size);
	if (ret)
		return ret;
	dm->pages = (dm->addr % PAGE + dm->size + PAGE - 1) / PAGE;
	if (!find_pages(uc->file, dm->pages, &dm->first_page)) {
		device_memory_free(uc->adapter, dm->addr, dm->size);
		return ENOMEM;
	}
	place_pages(dm, true);
	return 0;
}

static int return_place(struct uverbs_call *uc, const struct uverbs_dm *dm, uint16_t offset_id,
			uint16_t page_id)
{
	uint64_t offset = dm->addr % PAGE;
	uint16_t page = dm->first_page;

	return uc_out(uc, page_id, &page, sizeof(page)) ||
			       uc_out(uc, offset_id, &offset, sizeof(offset))
		       ? EFAULT
		       : 0;
}

/* Makes memory for table entries. A program that writes entries decides about frames of others, so
 * it needs the capabilities that Linux asks for. */
static int dm_make_icm(struct uverbs_call *uc, enum sw_icm_area area, struct uverbs_dm *dm)
{
	uint32_t log_align;
	int ret;

	if (!client_may(uc->tid, CLIENT_CAP_SYS_RAWIO) || !client_may(uc->tid, CLIENT_CAP_NET_RAW))
		return EPERM;
	if (uc_in(uc, UVERBS_ATTR_ALLOC_DM_LENGTH, &dm->length, sizeof(dm->length)) ||
	    uc_in(uc, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, &log_align, sizeof(log_align)))
		return EFAULT;
	ret = sw_icm_alloc(uc->adapter, area, dm->length, log_align, &dm->icm);
	if (ret)
		return ret;
	dm->addr = dm->icm->addr;
	dm->size = dm->icm->size;
	return 0;
}

/* Returns the place of the memory: an offset in a page, or an address of the adapter. */
static int return_made(struct uverbs_call *uc, const struct uverbs_dm *dm)
{
	if (dm->is_icm)
		return uc_out(uc, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &dm->addr,
			      sizeof(dm->addr));
	return return_place(uc, dm, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET,
			    MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX);
}

static int dm_make_of(struct uverbs_call *uc, uint64_t type, struct uverbs_dm *dm)
{
	dm->is_icm = type != MLX5_IB_UAPI_DM_TYPE_MEMIC;
	/* keys that the program has made by commands go before a block, or it would be lost */
	dm->base.scarce = !dm->is_icm;
	switch (type) {
	case MLX5_IB_UAPI_DM_TYPE_MEMIC:
		return dm_make(uc, dm);
	case MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM:
		return dm_make_icm(uc, SW_ICM_ENTRIES, dm);
	case MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM:
		return dm_make_icm(uc, SW_ICM_CHANGES, dm);
	case MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM:
		return dm_make_icm(uc, SW_ICM_PATTERNS, dm);
	default:
		return EOPNOTSUPP;
	}
}

/* Allocates memory for data, for entries of flow tables, or for lists of header changes. */
static int dm_alloc(struct uverbs_call *uc)
{
	struct uverbs_dm *dm;
	uint64_t type;
	int ret = uc_in(uc, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, &type, sizeof(type));

	if (!ret)
		ret = object_new(sizeof(*dm), uc->file, UVERBS_OBJECT_DM, dm_destroy, &dm);
	if (ret)
		return ret;
	ret = dm_make_of(uc, type, dm);
	if (ret) {
		object_free(&dm->base);
		return ret;
	}
	ret = uc_return_object(uc, UVERBS_ATTR_ALLOC_DM_HANDLE, &dm->base);
	if (ret)
		return ret;
	ret = return_made(uc, dm);
	if (ret)
		object_destroy(&dm->base, uc->tid);
	return ret;
}

static int dm_free(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_FREE_DM_HANDLE), uc->tid);
}

static int dm_query(struct uverbs_call *uc)
{
	const struct uverbs_dm *dm = uc_object(uc, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE);
	int ret;

	if (dm->is_icm)
		return EOPNOTSUPP;
	ret = return_place(uc, dm, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET,
			   MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX);

	return ret ? ret
		   : uc_out(uc, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, &dm->length, sizeof(dm->length));
}

/* Refuses operations: they are pages whose accesses the device executes, so pages of a file cannot
 * do that. */
static int dm_map_operation(struct uverbs_call *uc)
{
	uint32_t known = fld_get(uc->adapter->memory_caps, MEM_CAP_MEMIC_OPERATIONS);
	const struct uverbs_dm *dm = uc_object(uc, MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE);
	uint8_t operation;

	if (dm->is_icm)
		return EOPNOTSUPP;
	if (uc_in(uc, MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP, &operation, sizeof(operation)))
		return EFAULT;
	if (operation < MEMIC_OPERATIONS && known >> operation & 1)
		return EINVAL; /* reported by the device, but not implemented here */
	return EOPNOTSUPP;
}

static int create_key(struct uverbs_call *uc, const struct uverbs_mr *mr, uint32_t access,
		      uint32_t pdn, uint32_t *key)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	const unsigned int mode = mr->dm->is_icm ? PRM_MKEY_MODE_SW_ICM : PRM_MKEY_MODE_MEMIC;
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	region_put_access(mkc, access);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, mode & 3);
	fld_set(mkc, MKC_ACCESS_MODE_4_2, mode >> 2);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_PD, pdn);
	fld_set(mkc, MKC_START_ADDR, mr->iova);
	fld_set(mkc, MKC_LEN, mr->length);
	ret = adapter_command(uc->adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		*key = fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8;
	return ret;
}

static int check_region(struct uverbs_call *uc, const struct uverbs_dm *dm, uint64_t access,
			uint64_t offset, uint64_t length)
{
	int ret;

	if (!(access & IB_UVERBS_ACCESS_ZERO_BASED))
		return EINVAL;
	ret = mr_check_access(uc, access);
	if (ret)
		return ret;
	if (offset > dm->length || length > dm->length - offset)
		return EINVAL;
	if (dm->is_icm && access & IB_UVERBS_ACCESS_REMOTE_ATOMIC)
		return EINVAL;
	return access & ~(uint64_t)ALLOWED_ACCESS ? EINVAL : 0;
}

static int make_region(struct uverbs_call *uc, struct uverbs_dm *dm, uint64_t offset,
		       uint64_t length, uint32_t access)
{
	struct uverbs_pd *pd = uc_object(uc, UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
	struct uverbs_mr *mr;
	int ret = mr_new(uc, &mr);

	if (ret)
		return ret;
	mr->kind = MR_DEVICE;
	mr->dm = dm;
	mr->iova = dm->addr + offset;
	mr->length = length;
	ret = create_key(uc, mr, access, pd->pdn, &mr->key);
	if (ret) {
		mr_free(mr);
		return ret;
	}
	ret = mr_publish(uc, mr, pd);
	return ret ? ret
		   : mr_return(uc, mr, UVERBS_ATTR_REG_DM_MR_HANDLE,
			       UVERBS_ATTR_REG_DM_MR_RESP_LKEY, UVERBS_ATTR_REG_DM_MR_RESP_RKEY);
}

static int dm_reg(struct uverbs_call *uc)
{
	struct uverbs_dm *dm = uc_object(uc, UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
	uint64_t offset, length, access;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_REG_DM_MR_OFFSET, &offset, sizeof(offset)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DM_MR_LENGTH, &length, sizeof(length)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, &access, sizeof(access)))
		return EFAULT;
	ret = check_region(uc, dm, access, offset, length);
	return ret ? ret : make_region(uc, dm, offset, length, access);
}

static const struct uverbs_attr alloc_attrs[] = {
	{ UVERBS_ATTR_ALLOC_DM_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_DM },
	{ UVERBS_ATTR_ALLOC_DM_LENGTH, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_ALLOC_DM_ALIGNMENT, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, ATTR_OUT, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, ATTR_OUT, OPTIONAL, 2, 2, 0 },
	{ MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, ATTR_CONST, OPTIONAL, 8, 8, 0 },
};

static const struct uverbs_attr free_attrs[] = {
	{ UVERBS_ATTR_FREE_DM_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_DM },
};

static const struct uverbs_attr query_attrs[] = {
	{ MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_DM },
	{ MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, ATTR_OUT, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, ATTR_OUT, MANDATORY, 2, 2, 0 },
	{ MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, ATTR_OUT, MANDATORY, 8, 8, 0 },
};

static const struct uverbs_attr map_attrs[] = {
	{ MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_DM },
	{ MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP, ATTR_IN, MANDATORY, 1, 1, 0 },
	{ MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, ATTR_OUT, MANDATORY, 8, 8, 0 },
	{ MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, ATTR_OUT, OPTIONAL, 2, 2, 0 },
};

static const struct uverbs_attr reg_attrs[] = {
	{ UVERBS_ATTR_REG_DM_MR_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_MR },
	{ UVERBS_ATTR_REG_DM_MR_OFFSET, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_DM_MR_LENGTH, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_DM_MR_PD_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_PD },
	{ UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
	{ UVERBS_ATTR_REG_DM_MR_DM_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_DM },
	{ UVERBS_ATTR_REG_DM_MR_RESP_LKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_REG_DM_MR_RESP_RKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD_IF(adapter_is_mlx5, "DM_ALLOC", UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, dm_alloc,
		  alloc_attrs),
	METHOD_IF(adapter_is_mlx5, "DM_FREE", UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, dm_free,
		  free_attrs),
	METHOD("DM_QUERY", UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY, dm_query, query_attrs),
	METHOD("DM_MAP_OP_ADDR", UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_MAP_OP_ADDR, dm_map_operation,
	       map_attrs),
	METHOD_IF(adapter_is_mlx5, "DM_MR_REG", UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG, dm_reg,
		  reg_attrs),
};

const struct uverbs_methods dm_methods = METHODS(method_table);
