/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr_dmabuf.c - memory regions of dma-bufs: files whose memory a device of another driver has given
 * out.
 *
 * The file is mapped here, and the device moves data there. Few machines that run tests have a
 * driver that makes dma-bufs, so a memfd is taken for one; every other file is refused as Linux
 * does it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "softhca/front/process/uverbs/objects.h"

enum {
	PAGE = 4096,
	ALLOWED_ACCESS = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
			 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |
			 IB_UVERBS_ACCESS_RELAXED_ORDERING,
};

/* The client that is this process, as owner of memory. */
static int self(uint64_t *bus)
{
	static struct client *client;
	int ret = client ? 0 : client_get(getpid(), &client);

	if (!ret)
		*bus = client_bus_addr(client, 0);
	return ret;
}

/* The function returns the bytes of the dma-buf, or 0 if it is none. A dma-buf says its size by
 * lseek() only, which has no other effect on it. */
static uint64_t size_of(int fd)
{
	char path[32], target[32] = "";
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return 0;
	if (!strncmp(target, "/dmabuf:", strlen("/dmabuf:")))
		return lseek(fd, 0, SEEK_END);
	if (!strncmp(target, "/memfd:", strlen("/memfd:")) && !fstat(fd, &st))
		return st.st_size;
	return 0;
}

static int map_range(int fd, const struct mr_request *req, struct uverbs_mr *mr)
{
	uint64_t size = size_of(fd), skip = req->start % PAGE;
	int rights = PROT_READ;

	if (!size || !req->length || req->start > size || req->length > size - req->start)
		return EINVAL;
	if (req->access & IB_UVERBS_ACCESS_LOCAL_WRITE)
		rights |= PROT_WRITE;
	mr->map_len = skip + req->length;
	mr->map = mmap(NULL, mr->map_len, rights, MAP_SHARED, fd, (off_t)(req->start - skip));
	if (mr->map == MAP_FAILED) {
		mr->map = NULL;
		return errno;
	}
	return 0;
}

static int map_file(struct uverbs_call *uc, const struct mr_request *req, struct uverbs_mr *mr)
{
	int fd = client_fd_copy(uc->tid, req->fd), ret;

	if (fd < 0)
		return EBADF;
	ret = map_range(fd, req, mr);
	close(fd);
	if (!ret)
		ret = self(&mr->region.bus);
	mr->kind = MR_DMABUF;
	mr->iova = mr->region.iova = req->iova;
	mr->length = mr->region.length = req->length;
	mr->region.start = (uintptr_t)mr->map + req->start % PAGE;
	mr->region.access = req->access;
	return ret;
}

int mr_of_file(struct uverbs_call *uc, struct uverbs_pd *pd, const struct mr_request *req,
	       struct uverbs_mr **mr)
{
	int ret;

	if ((req->start ^ req->iova) % PAGE || req->access & ~(uint64_t)ALLOWED_ACCESS)
		return EINVAL;
	ret = mr_check_access(uc, req->access);
	if (!ret)
		ret = mr_new(uc, mr);
	if (ret)
		return ret;
	ret = map_file(uc, req, *mr);
	if (ret) {
		mr_free(*mr);
		return ret;
	}
	return mr_finish(uc, *mr, pd);
}

static int read_request(struct uverbs_call *uc, struct mr_request *req)
{
	if (uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, &req->start, sizeof(req->start)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, &req->length, sizeof(req->length)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_IOVA, &req->iova, sizeof(req->iova)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_FD, &req->fd, sizeof(req->fd)) ||
	    uc_in(uc, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, &req->access, sizeof(req->access)))
		return EFAULT;
	return 0;
}

/* Memory may be reached by another function of the bus (data direct), of which the adapter has
 * none. */
static int check_driver_flags(struct uverbs_call *uc)
{
	uint64_t flags;

	if (uc_in(uc, MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, &flags, sizeof(flags)))
		return EFAULT;
	return flags ? EINVAL : 0;
}

static int mr_reg_dmabuf(struct uverbs_call *uc)
{
	struct uverbs_pd *pd = uc_object(uc, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE);
	struct mr_request req;
	struct uverbs_mr *mr;
	int ret = read_request(uc, &req);

	if (!ret)
		ret = check_driver_flags(uc);
	if (!ret)
		ret = mr_of_file(uc, pd, &req, &mr);
	return ret ? ret
		   : mr_return(uc, mr, UVERBS_ATTR_REG_DMABUF_MR_HANDLE,
			       UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY,
			       UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY);
}

static const struct uverbs_attr reg_attrs[] = {
	{ UVERBS_ATTR_REG_DMABUF_MR_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_MR },
	{ UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_PD },
	{ UVERBS_ATTR_REG_DMABUF_MR_OFFSET, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_LENGTH, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_IOVA, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_FD, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("REG_DMABUF_MR", UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, mr_reg_dmabuf,
	       reg_attrs),
};

const struct uverbs_methods mr_dmabuf_methods = METHODS(method_table);
