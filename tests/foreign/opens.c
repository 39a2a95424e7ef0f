/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * opens.c - foreign-opens DRIVER ABI [accept|slots]: opens the adapter as if its kernel driver were
 * number DRIVER with version ABI, and prints the result. With "accept", commands that the kernel
 * refuses seem to succeed, so that a provider goes on and installs its operations. "slots" also
 * lists each slot of the context that leads to the provider.
 *
 * Covers: foreign/driver.c, foreign/context.c, foreign/ops.c
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define IN_FRONT __attribute__((visibility("default")))

static uint32_t driver;
static uint64_t abi;
static bool is_accepting, is_listing;

/* libibverbs calls these functions of libnl. */
IN_FRONT uint32_t nla_get_u32(const struct nlattr *attr)
{
	uint32_t value;

	memcpy(&value, attr + 1, sizeof(value));
	return attr->nla_type == RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID ? driver : value;
}

IN_FRONT uint64_t nla_get_u64(const struct nlattr *attr)
{
	uint64_t value;

	memcpy(&value, attr + 1, sizeof(value));
	return attr->nla_type == RDMA_NLDEV_ATTR_CHARDEV_ABI ? abi : value;
}

/* Fills an answer with zeros. Without that, a provider would take what its stack has for the length
 * of memory, and would clear gigabytes. */
static void answer_zeros(const struct ib_uverbs_attr *attr)
{
	memset((void *)(uintptr_t)attr->data, 0, attr->len);
}

static bool is_answer(const struct ib_uverbs_ioctl_hdr *cmd, const struct ib_uverbs_attr *attr)
{
	return attr->attr_id == UVERBS_ATTR_UHW_OUT ||
	       (cmd->object_id == UVERBS_OBJECT_DEVICE &&
		cmd->method_id == UVERBS_METHOD_INVOKE_WRITE &&
		attr->attr_id == UVERBS_ATTR_CORE_OUT);
}

/* Answers a command that was refused: a channel of events gets a descriptor. */
static int accept_command(struct ib_uverbs_ioctl_hdr *cmd)
{
	if (cmd->object_id == UVERBS_OBJECT_ASYNC_EVENT)
		cmd->attrs[0].data = (uint64_t)open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < cmd->num_attrs; i++)
		if (is_answer(cmd, &cmd->attrs[i]))
			answer_zeros(&cmd->attrs[i]);
	return 0;
}

IN_FRONT int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, void *) =
		(int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	ret = real(fd, request, arg);
	return ret && is_accepting && request == RDMA_VERBS_IOCTL ? accept_command(arg) : ret;
}

/* Maps memory of the adapter. Where the adapter has none of that kind, it seems to have zeros. */
IN_FRONT void *mmap(void *at, size_t length, int access, int flags, int fd, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t) =
		(void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
	void *memory = real(at, length, access, flags, fd, offset);

	if (memory != MAP_FAILED || !is_accepting || fd < 0)
		return memory;
	return real(NULL, length ? length : 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static const char *file_of(const void *code)
{
	Dl_info info;
	const char *slash;

	if (!dladdr(code, &info))
		return "nobody";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

/* Says where a slot leads to, if that is a function of a plugin. */
static void say_slot(const char *table, size_t number, const void *code)
{
	Dl_info info;

	if (code && dladdr(code, &info) && strstr(info.dli_fname, "-rdmav"))
		printf("%s %zu: %s+0x%zx\n", table, number, file_of(code),
		       (size_t)((const char *)code - (const char *)info.dli_fbase));
}

/* Lists the slots of both public tables. Those of struct verbs_context are counted from its end, as
 * new ones are in front. */
static void say_slots(struct ibv_context *context)
{
	struct verbs_context *vctx = verbs_get_ctx(context);
	const size_t in_front = offsetof(struct verbs_context, context) / sizeof(void *);
	const void *slots[sizeof(struct verbs_context) / sizeof(void *)];
	const size_t ops = sizeof(context->ops) / sizeof(void *);

	memcpy(slots, &context->ops, sizeof(context->ops));
	for (size_t i = 0; i < ops; i++)
		say_slot("ops", i, slots[i]);
	if (!vctx)
		return;
	for (size_t i = 2; i <= in_front && i * sizeof(void *) <= vctx->sz - sizeof(*context);
	     i++) {
		memcpy(slots, (const char *)context - i * sizeof(void *), sizeof(void *));
		say_slot("verbs_context", i, slots[0]);
	}
}

static void say_context(struct ibv_context *context)
{
	const void *poll, *post;

	memcpy(&poll, &context->ops.poll_cq, sizeof(poll));
	memcpy(&post, &context->ops.post_send, sizeof(post));
	printf("opened: poll_cq of %s, post_send of %s\n", file_of(poll), file_of(post));
	if (is_listing)
		say_slots(context);
	ibv_close_device(context);
}

int main(int argc, char **argv)
{
	struct ibv_device **list;
	int num = 0;

	if (argc < 3)
		return 2;
	driver = (uint32_t)strtoul(argv[1], NULL, 0);
	abi = strtoull(argv[2], NULL, 0);
	is_accepting = argc > 3;
	is_listing = is_accepting && !strcmp(argv[3], "slots");
	list = ibv_get_device_list(&num);
	if (!list || !num) {
		printf("no device\n");
		return 0;
	}
	for (int i = 0; i < 3; i++) {
		struct ibv_context *context;

		errno = 0;
		context = ibv_open_device(list[0]);
		if (context)
			say_context(context);
		else
			printf("refused: %s\n", strerror(errno));
	}
	ibv_free_device_list(list);
	return 0;
}
