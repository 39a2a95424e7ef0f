/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs_strict.c - what RDMA_VERBS_IOCTL says to requests that are wrong in one thing.
 *
 * For each method below there is a request that is right. It is sent as it is, and then with one
 * change at a time: an attribute left out, shorter, longer (by zeroes, and by what is not zero),
 * of another kind, twice, with reserved bits; a header that does not fit. Then come objects that
 * are destroyed while others use them. What each comes to is a line; a guest's lines and those of
 * softhca's process front are compared (compare-ioctls). The program uses no library, so that it
 * is the kernel that is compared, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "tests/lib/kernel/uverbs_request.h"
#include "util/bits.h"

enum {
	MAX_ATTRS = 24,
	PAGE = 4096,
	BUFFER = 16 * PAGE,
	NO_HANDLE = 0x7ffffff0,
	NO_OBJECT = 0x3f,
	NO_METHOD = 0x3f,
	NO_ATTR = 0x7f,
	MLX5_DRIVER = 1,
	LONGER = 8,
};

struct request {
	struct uverbs_request_header hdr;
	struct ib_uverbs_attr attr[MAX_ATTRS];
};

static uint8_t *buffer; /* of rings and doorbell records */
static uint8_t *room;   /* of attributes: a page each, the next one is not mapped */
static int async_fd = -1;
static int device;

static void print_result(const char *name, const char *what, int err)
{
	printf("%s: %s: %s\n", name, what, err ? strerrorname_np(err) : "0");
}

static void request_begin(struct request *request, unsigned int object, unsigned int method)
{
	*request = (struct request){
		.hdr = { .object_id = object, .method_id = method, .driver_id = MLX5_DRIVER },
	};
}

static struct ib_uverbs_attr *attr_add(struct request *request, unsigned int id, unsigned int len,
				       uint64_t data)
{
	struct ib_uverbs_attr *attr = &request->attr[request->hdr.num_attrs++];

	*attr = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data
	};
	return attr;
}

/* The bytes of attribute I stand at the end of its page: what is behind them is not there. */
static uint8_t *attr_room(unsigned int i, size_t len)
{
	return room + (2 * i + 1) * (size_t)PAGE - len;
}

static void attr_add_in(struct request *request, unsigned int id, const void *data, size_t len)
{
	struct ib_uverbs_attr *attr = attr_add(request, id, len, 0);

	if (len <= sizeof(attr->data)) {
		memcpy(&attr->data, data, len);
		return;
	}
	attr->data = (uintptr_t)attr_room(attr - request->attr, len);
	memcpy((void *)(uintptr_t)attr->data, data, len);
}

static void attr_add_u32(struct request *request, unsigned int id, uint32_t value)
{
	attr_add_in(request, id, &value, sizeof(value));
}

static void attr_add_out(struct request *request, unsigned int id, size_t len)
{
	uint8_t *at = attr_room(request->hdr.num_attrs, len);

	memset(at, 0, len);
	attr_add(request, id, len, (uintptr_t)at);
}

static int request_send(int fd, struct request *request)
{
	return ioctl(fd, RDMA_VERBS_IOCTL, request) ? errno : 0;
}

static int request_run(int fd, struct request *request)
{
	request->hdr.length =
		sizeof(request->hdr) + request->hdr.num_attrs * sizeof(request->attr[0]);
	return request_send(fd, request);
}

static struct ib_uverbs_attr *attr_find(struct request *request, unsigned int id)
{
	for (unsigned int i = 0; i < request->hdr.num_attrs; i++)
		if (request->attr[i].attr_id == id)
			return &request->attr[i];
	return NULL;
}

static uint32_t pd_handle, mr_handle, cq_handle, srq_handle, uar_handle;
static uint32_t uar_page;

static void write_begin(struct request *request, uint64_t command, const void *in, size_t in_len,
			size_t out_len)
{
	request_begin(request, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	attr_add_in(request, UVERBS_ATTR_WRITE_CMD, &command, sizeof(command));
	attr_add_in(request, UVERBS_ATTR_CORE_IN, in, in_len);
	attr_add_out(request, UVERBS_ATTR_CORE_OUT, out_len);
}

/* The handle is what an answer of a written command begins with. */
static uint32_t written_handle(struct request *request)
{
	const struct ib_uverbs_attr *attr = attr_find(request, UVERBS_ATTR_CORE_OUT);
	uint32_t handle = 0;

	if (attr && attr->len >= sizeof(handle))
		memcpy(&handle, (const void *)(uintptr_t)attr->data, sizeof(handle));
	return handle;
}

/* The handle of a method's new object is in the attribute of its handle. */
static uint32_t native_handle(struct request *request, unsigned int id)
{
	const struct ib_uverbs_attr *attr = attr_find(request, id);

	return attr ? (uint32_t)attr->data : 0;
}

static int object_destroy(unsigned int object, unsigned int method, uint32_t handle,
			  size_t answer_len)
{
	struct request request;

	request_begin(&request, object, method);
	attr_add(&request, 0, 0, handle);
	if (answer_len)
		attr_add_out(&request, 1, answer_len);
	return request_run(device, &request);
}

static int pd_destroy(uint32_t handle)
{
	return object_destroy(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, handle, 0);
}

static int mr_destroy(uint32_t handle)
{
	return object_destroy(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, handle, 0);
}

static int cq_destroy(uint32_t handle)
{
	return object_destroy(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, handle,
			      sizeof(struct ib_uverbs_destroy_cq_resp));
}

static int srq_destroy(uint32_t handle)
{
	return object_destroy(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, handle,
			      sizeof(uint32_t));
}

static int uar_destroy(uint32_t handle)
{
	struct request request;

	request_begin(&request, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY);
	attr_add(&request, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, 0, handle);
	return request_run(device, &request);
}

/* ---- requests that are right ---- */

static void context_fill(struct request *request)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = 2,
		.num_low_latency_bfregs = 1,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};

	request_begin(request, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	attr_add_out(request, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, sizeof(uint32_t));
	attr_add_out(request, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, sizeof(uint64_t));
	attr_add_in(request, UVERBS_ATTR_UHW_IN, &req, sizeof(req));
	attr_add_out(request, UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_alloc_ucontext_resp));
}

static void pd_fill(struct request *request)
{
	const struct ib_uverbs_alloc_pd cmd = { 0 };

	write_begin(request, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd),
		    sizeof(struct ib_uverbs_alloc_pd_resp));
	attr_add_out(request, UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_alloc_pd_resp));
}

static void mr_fill(struct request *request)
{
	const struct ib_uverbs_reg_mr cmd = {
		.start = (uintptr_t)buffer,
		.length = PAGE,
		.hca_va = (uintptr_t)buffer,
		.pd_handle = pd_handle,
		.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE,
	};

	write_begin(request, IB_USER_VERBS_CMD_REG_MR, &cmd,
		    offsetof(struct ib_uverbs_reg_mr, driver_data),
		    offsetof(struct ib_uverbs_reg_mr_resp, driver_data));
}

static void uar_fill(struct request *request)
{
	const uint64_t type = MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC;

	request_begin(request, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	attr_add(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0);
	attr_add_in(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, &type, sizeof(type));
	attr_add_out(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, sizeof(uint64_t));
	attr_add_out(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, sizeof(uint32_t));
	attr_add_out(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, sizeof(uint32_t));
}

static void cq_fill(struct request *request)
{
	const struct mlx5_ib_create_cq cmd = {
		.buf_addr = (uintptr_t)buffer,
		.db_addr = (uintptr_t)buffer + PAGE,
		.cqe_size = 64,
		.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
		.uar_page_index = uar_page,
	};
	const uint64_t user_handle = 1;

	request_begin(request, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	attr_add(request, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	attr_add_u32(request, UVERBS_ATTR_CREATE_CQ_CQE, 15);
	attr_add_in(request, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &user_handle, sizeof(user_handle));
	attr_add_u32(request, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0);
	attr_add_u32(request, UVERBS_ATTR_CREATE_CQ_FLAGS, 0);
	attr_add_out(request, UVERBS_ATTR_CREATE_CQ_RESP_CQE, sizeof(uint32_t));
	attr_add(request, UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0, async_fd);
	attr_add_in(request, UVERBS_ATTR_UHW_IN, &cmd, sizeof(cmd));
	attr_add_out(request, UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_create_cq_resp));
}

static void srq_fill(struct request *request)
{
	const struct mlx5_ib_create_srq cmd = {
		.buf_addr = (uintptr_t)buffer + 4 * PAGE,
		.db_addr = (uintptr_t)buffer + PAGE + 64,
	};
	const uint64_t user_handle = 2, type = IB_UVERBS_SRQT_BASIC;

	request_begin(request, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
	attr_add(request, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0, 0);
	attr_add(request, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 0, pd_handle);
	attr_add_in(request, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, &user_handle, sizeof(user_handle));
	attr_add_u32(request, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 15);
	attr_add_u32(request, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 1);
	attr_add_u32(request, UVERBS_ATTR_CREATE_SRQ_LIMIT, 0);
	attr_add_in(request, UVERBS_ATTR_CREATE_SRQ_TYPE, &type, sizeof(type));
	attr_add(request, UVERBS_ATTR_CREATE_SRQ_EVENT_FD, 0, async_fd);
	attr_add_out(request, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, sizeof(uint32_t));
	attr_add_out(request, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, sizeof(uint32_t));
	attr_add_out(request, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, sizeof(uint32_t));
	attr_add_in(request, UVERBS_ATTR_UHW_IN, &cmd, sizeof(cmd));
	attr_add_out(request, UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_create_srq_resp));
}

static void port_fill(struct request *request)
{
	const uint64_t port = 1; /* constants have 8 bytes, whatever their type */

	request_begin(request, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	attr_add_in(request, UVERBS_ATTR_QUERY_PORT_PORT_NUM, &port, sizeof(port));
	attr_add_out(request, UVERBS_ATTR_QUERY_PORT_RESP,
		     sizeof(struct ib_uverbs_query_port_resp_ex));
}

static void gid_fill(struct request *request)
{
	const uint64_t port = 1, index = 0;

	request_begin(request, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
	attr_add_in(request, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, &port, sizeof(port));
	attr_add_in(request, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, &index, sizeof(index));
	attr_add_u32(request, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0);
	attr_add_out(request, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
		     sizeof(struct ib_uverbs_gid_entry));
}

static void gids_fill(struct request *request)
{
	const uint64_t size = sizeof(struct ib_uverbs_gid_entry);

	request_begin(request, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE);
	attr_add_in(request, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, &size, sizeof(size));
	attr_add_u32(request, UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0);
	attr_add_out(request, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 16 * size);
	attr_add_out(request, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, sizeof(uint64_t));
}

static void mr_query_fill(struct request *request)
{
	request_begin(request, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	attr_add(request, UVERBS_ATTR_QUERY_MR_HANDLE, 0, mr_handle);
	attr_add_out(request, UVERBS_ATTR_QUERY_MR_RESP_LKEY, sizeof(uint32_t));
	attr_add_out(request, UVERBS_ATTR_QUERY_MR_RESP_RKEY, sizeof(uint32_t));
	attr_add_out(request, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, sizeof(uint64_t));
	attr_add_out(request, UVERBS_ATTR_QUERY_MR_RESP_IOVA, sizeof(uint64_t));
}

static void handles_fill(struct request *request)
{
	const uint64_t type = UVERBS_OBJECT_PD;

	request_begin(request, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	attr_add_in(request, UVERBS_ATTR_INFO_OBJECT_ID, &type, sizeof(type));
	attr_add_out(request, UVERBS_ATTR_INFO_TOTAL_HANDLES, sizeof(uint32_t));
	attr_add_out(request, UVERBS_ATTR_INFO_HANDLES_LIST, 16 * sizeof(uint32_t));
}

/* ---- one change at a time ---- */

static uint32_t handle_of_write(struct request *request)
{
	return written_handle(request);
}

static uint32_t handle_of_attr_0(struct request *request)
{
	return native_handle(request, 0);
}

static uint32_t handle_of_uar(struct request *request)
{
	return native_handle(request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
}

/* Who makes an object has a way to be rid of it. */
static const struct method {
	const char *name;
	void (*fill)(struct request *request);
	uint32_t (*handle)(struct request *request);
	int (*destroy)(uint32_t handle);
} methods[] = {
	{ "alloc_pd", pd_fill, handle_of_write, pd_destroy },
	{ "reg_mr", mr_fill, handle_of_write, mr_destroy },
	{ "uar", uar_fill, handle_of_uar, uar_destroy },
	{ "create_cq", cq_fill, handle_of_attr_0, cq_destroy },
	{ "create_srq", srq_fill, handle_of_attr_0, srq_destroy },
	{ "query_port", port_fill, NULL, NULL },
	{ "query_gid", gid_fill, NULL, NULL },
	{ "query_gids", gids_fill, NULL, NULL },
	{ "query_mr", mr_query_fill, NULL, NULL },
	{ "handles", handles_fill, NULL, NULL },
};

static void method_clean(const struct method *method, struct request *request, int err)
{
	if (!err && method->destroy)
		method->destroy(method->handle(request));
}

static void change_absent(struct request *request, unsigned int i)
{
	request->hdr.num_attrs--;
	memmove(&request->attr[i], &request->attr[i + 1],
		(request->hdr.num_attrs - i) * sizeof(request->attr[0]));
}

static void change_twice(struct request *request, unsigned int i)
{
	request->attr[request->hdr.num_attrs++] = request->attr[i];
}

static void change_shorter(struct request *request, unsigned int i)
{
	if (request->attr[i].len)
		request->attr[i].len--;
}

static void change_empty(struct request *request, unsigned int i)
{
	request->attr[i].len = 0;
}

/* The bytes move to another place, where there are more of them. */
static void change_length(struct request *request, unsigned int i, uint8_t tail)
{
	struct ib_uverbs_attr *attr = &request->attr[i];
	uint8_t *to = attr_room(MAX_ATTRS, attr->len + LONGER);

	if (attr->len > sizeof(attr->data))
		memcpy(to, (const void *)(uintptr_t)attr->data, attr->len);
	else
		memcpy(to, &attr->data, attr->len);
	memset(to + attr->len, tail, LONGER);
	attr->len += LONGER;
	attr->data = (uintptr_t)to;
}

static void change_longer_by_zeroes(struct request *request, unsigned int i)
{
	change_length(request, i, 0);
}

static void change_longer(struct request *request, unsigned int i)
{
	change_length(request, i, 0xff);
}

static void change_optional(struct request *request, unsigned int i)
{
	request->attr[i].flags = 0;
}

static void change_flags(struct request *request, unsigned int i)
{
	request->attr[i].flags |= 1 << 8;
}

static void change_reserved(struct request *request, unsigned int i)
{
	request->attr[i].attr_data.reserved = 1;
}

static void change_data(struct request *request, unsigned int i)
{
	request->attr[i].data = NO_HANDLE;
}

static void change_data_high(struct request *request, unsigned int i)
{
	request->attr[i].data |= 1ull << 47; /* no program has memory there */
}

static const struct {
	const char *name;
	void (*apply)(struct request *request, unsigned int i);
} changes[] = {
	{ "absent", change_absent },
	{ "twice", change_twice },
	{ "shorter", change_shorter },
	{ "empty", change_empty },
	{ "longer by zeroes", change_longer_by_zeroes },
	{ "longer", change_longer },
	{ "optional", change_optional },
	{ "with unknown flags", change_flags },
	{ "with reserved bits", change_reserved },
	{ "elsewhere", change_data },
	{ "with high bits", change_data_high },
};

static void method_try_attrs(const struct method *method)
{
	struct request right, request;
	char what[96];
	int err;

	method->fill(&right);
	for (unsigned int i = 0; i < right.hdr.num_attrs; i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(changes); j++) {
			method->fill(&request);
			changes[j].apply(&request, i);
			err = request_run(device, &request);
			snprintf(what, sizeof(what), "attribute %#x %s", right.attr[i].attr_id,
				 changes[j].name);
			print_result(method->name, what, err);
			method_clean(method, &request, err);
		}
	}
}

static void method_try_more(const struct method *method)
{
	struct request request;
	int err;

	method->fill(&request);
	attr_add(&request, NO_ATTR, 0, 0);
	err = request_run(device, &request);
	print_result(method->name, "an unknown attribute", err);
	method_clean(method, &request, err);
	method->fill(&request);
	attr_add(&request, NO_ATTR, 0, 0)->flags = 0;
	err = request_run(device, &request);
	print_result(method->name, "an unknown attribute that is optional", err);
	method_clean(method, &request, err);
}

static void header_short(struct uverbs_request_header *hdr)
{
	hdr->length -= sizeof(struct ib_uverbs_attr);
}

static void header_long(struct uverbs_request_header *hdr)
{
	hdr->length += sizeof(struct ib_uverbs_attr);
}

static void header_odd(struct uverbs_request_header *hdr)
{
	hdr->length++;
}

static void header_none(struct uverbs_request_header *hdr)
{
	hdr->length = 0;
}

static void header_huge(struct uverbs_request_header *hdr)
{
	hdr->num_attrs = 4000;
	hdr->length = (uint16_t)(sizeof(*hdr) + 4000 * sizeof(struct ib_uverbs_attr));
}

static void header_reserved1(struct uverbs_request_header *hdr)
{
	hdr->reserved1 = 1;
}

static void header_reserved2(struct uverbs_request_header *hdr)
{
	hdr->reserved2 = 1;
}

static void header_driver(struct uverbs_request_header *hdr)
{
	hdr->driver_id = 2;
}

static void header_object(struct uverbs_request_header *hdr)
{
	hdr->object_id = NO_OBJECT;
}

static void header_method(struct uverbs_request_header *hdr)
{
	hdr->method_id = NO_METHOD;
}

static const struct {
	const char *name;
	void (*apply)(struct uverbs_request_header *hdr);
} headers[] = {
	{ "too short", header_short },           { "too long", header_long },
	{ "of odd length", header_odd },         { "of no length", header_none },
	{ "with 4000 attributes", header_huge }, { "with reserved1", header_reserved1 },
	{ "with reserved2", header_reserved2 },  { "for another driver", header_driver },
	{ "for no object", header_object },      { "for no method", header_method },
};

static void method_try_headers(const struct method *method)
{
	struct request request;
	int err;

	for (unsigned int i = 0; i < ARRAY_SIZE(headers); i++) {
		method->fill(&request);
		request.hdr.length =
			sizeof(request.hdr) + request.hdr.num_attrs * sizeof(request.attr[0]);
		headers[i].apply(&request.hdr);
		err = request_send(device, &request);
		print_result(method->name, headers[i].name, err);
		method_clean(method, &request, err);
	}
}

static void method_try(const struct method *method)
{
	struct request request;
	int err;

	method->fill(&request);
	err = request_run(device, &request);
	print_result(method->name, "as it should be", err);
	method_clean(method, &request, err);
	method_try_attrs(method);
	method_try_more(method);
	method_try_headers(method);
}

static int device_open(void)
{
	return open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
}

/* A file has one context, so each try has a file of its own. */
static void context_try(void)
{
	struct request right, request;
	char what[96];

	context_fill(&right);
	for (unsigned int i = 0; i < right.hdr.num_attrs; i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(changes); j++) {
			int fd = device_open();

			context_fill(&request);
			changes[j].apply(&request, i);
			snprintf(what, sizeof(what), "attribute %#x %s", right.attr[i].attr_id,
				 changes[j].name);
			print_result("context", what, request_run(fd, &request));
			close(fd);
		}
	}
}

static void context_none(void)
{
	struct request request;
	int fd = device_open();

	for (unsigned int i = 0; i < ARRAY_SIZE(methods); i++) {
		methods[i].fill(&request);
		print_result(methods[i].name, "without a context", request_run(fd, &request));
	}
	close(fd);
}

static int context_open(void)
{
	struct request request;
	int err;

	device = device_open();
	if (device < 0)
		return errno;
	context_fill(&request);
	err = request_run(device, &request);
	print_result("context", "as it should be", err);
	context_fill(&request);
	print_result("context", "a second one", request_run(device, &request));
	return err;
}

/* The file for events, which queues name */
static int async_open(void)
{
	struct request request;
	int err;

	request_begin(&request, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	attr_add(&request, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0);
	err = request_run(device, &request);
	print_result("async", "as it should be", err);
	async_fd = (int)native_handle(&request, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
	return err;
}

static int method_make(void (*fill)(struct request *request), unsigned int id, uint32_t *handle)
{
	struct request request;
	int err;

	fill(&request);
	err = request_run(device, &request);
	if (!err)
		*handle = id == UVERBS_ATTR_CORE_OUT ? written_handle(&request)
						     : native_handle(&request, id);
	return err;
}

static int uar_make(void)
{
	struct request request;
	int err;

	uar_fill(&request);
	err = request_run(device, &request);
	if (err)
		return err;
	uar_handle = handle_of_uar(&request);
	memcpy(&uar_page,
	       (const void *)(uintptr_t)attr_find(&request, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID)
		       ->data,
	       sizeof(uar_page));
	return 0;
}

static void objects_make(void)
{
	print_result("objects", "PD", method_make(pd_fill, UVERBS_ATTR_CORE_OUT, &pd_handle));
	print_result("objects", "MR", method_make(mr_fill, UVERBS_ATTR_CORE_OUT, &mr_handle));
	print_result("objects", "UAR", uar_make());
	print_result("objects", "CQ",
		     method_make(cq_fill, UVERBS_ATTR_CREATE_CQ_HANDLE, &cq_handle));
	print_result("objects", "SRQ",
		     method_make(srq_fill, UVERBS_ATTR_CREATE_SRQ_HANDLE, &srq_handle));
}

static void objects_in_use(void)
{
	print_result("in use", "PD of MR and SRQ", pd_destroy(pd_handle));
	print_result("in use", "UAR of CQ", uar_destroy(uar_handle));
	print_result("in use", "a CQ as PD", pd_destroy(cq_handle));
	print_result("in use", "an MR as CQ", cq_destroy(mr_handle));
	print_result("in use", "no PD", pd_destroy(NO_HANDLE));
	print_result("in use", "MR", mr_destroy(mr_handle));
	print_result("in use", "MR again", mr_destroy(mr_handle));
	print_result("in use", "PD of SRQ", pd_destroy(pd_handle));
	print_result("in use", "SRQ", srq_destroy(srq_handle));
	print_result("in use", "PD", pd_destroy(pd_handle));
	print_result("in use", "PD again", pd_destroy(pd_handle));
	print_result("in use", "CQ", cq_destroy(cq_handle));
	print_result("in use", "UAR", uar_destroy(uar_handle));
	print_result("in use", "UAR again", uar_destroy(uar_handle));
}

static void writes_unknown(void)
{
	static const uint64_t unknown[] = { IB_USER_VERBS_CMD_QUERY_MR, 99, 1u << 30,
					    IB_USER_VERBS_CMD_FLAG_EXTENDED | 99,
					    IB_USER_VERBS_CMD_FLAG_EXTENDED |
						    IB_USER_VERBS_CMD_ALLOC_PD };
	const struct ib_uverbs_alloc_pd cmd = { 0 };
	struct request request;
	char what[64];

	for (unsigned int i = 0; i < ARRAY_SIZE(unknown); i++) {
		write_begin(&request, unknown[i], &cmd, sizeof(cmd), 64);
		snprintf(what, sizeof(what), "command %#llx", (unsigned long long)unknown[i]);
		print_result("write", what, request_run(device, &request));
	}
}

/* Whatever the command, its fields are zero and far too few or many. */
static void writes_of_any_length(void)
{
	static const unsigned int lengths[] = { 4, 8, 16, 24, 32, 40, 48, 64, 128, 256 };
	static const struct {
		const char *name;
		uint32_t command;
	} commands[] = {
		{ "query_device", IB_USER_VERBS_CMD_QUERY_DEVICE },
		{ "query_port", IB_USER_VERBS_CMD_QUERY_PORT },
		{ "dealloc_pd", IB_USER_VERBS_CMD_DEALLOC_PD },
		{ "dereg_mr", IB_USER_VERBS_CMD_DEREG_MR },
		{ "destroy_cq", IB_USER_VERBS_CMD_DESTROY_CQ },
		{ "resize_cq", IB_USER_VERBS_CMD_RESIZE_CQ },
		{ "modify_qp", IB_USER_VERBS_CMD_MODIFY_QP },
		{ "query_qp", IB_USER_VERBS_CMD_QUERY_QP },
		{ "destroy_qp", IB_USER_VERBS_CMD_DESTROY_QP },
		{ "attach_mcast", IB_USER_VERBS_CMD_ATTACH_MCAST },
		{ "create_ah", IB_USER_VERBS_CMD_CREATE_AH },
		{ "destroy_ah", IB_USER_VERBS_CMD_DESTROY_AH },
		{ "query_srq", IB_USER_VERBS_CMD_QUERY_SRQ },
		{ "modify_srq", IB_USER_VERBS_CMD_MODIFY_SRQ },
		{ "destroy_srq", IB_USER_VERBS_CMD_DESTROY_SRQ },
		{ "alloc_mw", IB_USER_VERBS_CMD_ALLOC_MW },
		{ "dealloc_mw", IB_USER_VERBS_CMD_DEALLOC_MW },
		{ "rereg_mr", IB_USER_VERBS_CMD_REREG_MR },
		{ "open_xrcd", IB_USER_VERBS_CMD_OPEN_XRCD },
		{ "close_xrcd", IB_USER_VERBS_CMD_CLOSE_XRCD },
		{ "query_device_ex",
		  IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE },
		{ "modify_qp_ex",
		  IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP },
		{ "modify_cq_ex",
		  IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ },
		{ "destroy_flow",
		  IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_FLOW },
	};
	static const uint8_t zeroes[256], ones[256] = { [0 ... 255] = 0xff };
	const uint8_t *bytes[] = { zeroes, ones };
	struct request request;
	char what[64];

	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		for (unsigned int j = 0; j < ARRAY_SIZE(lengths); j++)
			for (unsigned int k = 0; k < ARRAY_SIZE(bytes); k++) {
				write_begin(&request, commands[i].command, bytes[k], lengths[j],
					    256);
				snprintf(what, sizeof(what), "%u bytes of %#x", lengths[j],
					 bytes[k][0]);
				print_result(commands[i].name, what, request_run(device, &request));
			}
}

/* Pages of which every second one is not there */
static uint8_t *room_make(void)
{
	const size_t pages = 2 * (MAX_ATTRS + 1);
	uint8_t *map = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	for (size_t i = 1; i < pages; i += 2)
		munmap(map + i * PAGE, PAGE);
	return map;
}

int main(void)
{
	buffer = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	room = room_make();
	if (buffer == MAP_FAILED || !room) {
		perror("memory");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	context_none();
	if (context_open() || async_open())
		return 1;
	context_try();
	objects_make();
	for (unsigned int i = 0; i < ARRAY_SIZE(methods); i++)
		method_try(&methods[i]);
	writes_unknown();
	writes_of_any_length();
	objects_in_use();
	return 0;
}
