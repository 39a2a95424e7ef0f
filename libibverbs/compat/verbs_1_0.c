/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs_1_0.c - calls of release 1.0 on devices, contexts, PDs, MRs and AHs. See
 * compat/verbs_1_0.h.
 */
#include "compat/verbs_1_0.h"
#include "util/alloc.h"

#include <stdlib.h>

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

/* Release 1.0 never freed a device, so each wrapper stays forever and keeps its reference to the
 * device. */
static struct old_device *devices;
static struct old_context *contexts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct old_device *wrap_device(struct ibv_device *real)
{
	struct old_device *device;

	for (struct old_device *at = devices; at; at = at->next)
		if (at->real == real)
			return at;
	device = calloc_for("ibv_get_devices", 1, sizeof(*device));
	if (!device)
		return NULL;
	verbs_device_get(to_vdev(real));
	device->real = real;
	device->next = devices;
	devices = device;
	return device;
}

static bool wrap_devices(struct old_device **to, struct ibv_device **from)
{
	bool all = true;

	pthread_mutex_lock(&lock);
	for (; *from && all; from++, to++) {
		*to = wrap_device(*from);
		all = *to;
	}
	pthread_mutex_unlock(&lock);
	return all;
}

COMPAT_FN(struct old_device **, get_device_list, (int *num_devices))
{
	struct old_device **list;
	struct ibv_device **real;
	int num = 0;

	if (num_devices)
		*num_devices = 0;
	real = ibv_get_device_list(&num);
	if (!real)
		return NULL;
	list = calloc_for("ibv_get_device_list", (size_t)num + 1, sizeof(*list));
	if (!list || !wrap_devices(list, real)) {
		free(list);
		list = NULL;
		errno = ENOMEM;
	} else if (num_devices) {
		*num_devices = num;
	}
	ibv_free_device_list(real);
	return list;
}

COMPAT_FN(void, free_device_list, (struct old_device * *list))
{
	free(list);
}

COMPAT_FN(const char *, get_device_name, (struct old_device * device))
{
	return ibv_get_device_name(device->real);
}

COMPAT_FN(__be64, get_device_guid, (struct old_device * device))
{
	return ibv_get_device_guid(device->real);
}

static void add_context(struct old_context *context)
{
	pthread_mutex_lock(&lock);
	context->next = contexts;
	contexts = context;
	pthread_mutex_unlock(&lock);
}

static void remove_context(const struct old_context *context)
{
	pthread_mutex_lock(&lock);
	for (struct old_context **at = &contexts; *at; at = &(*at)->next) {
		if (*at != context)
			continue;
		*at = context->next;
		break;
	}
	pthread_mutex_unlock(&lock);
}

/* Returns the real context of CONTEXT, which is a wrapper or itself a real context. Calls that have
 * only one version get both kinds. */
struct ibv_context *verbs_compat_real_context(struct ibv_context *context)
{
	struct ibv_context *real = context;

	pthread_mutex_lock(&lock);
	for (const struct old_context *at = contexts; at; at = at->next)
		if ((const void *)at == context)
			real = at->real;
	pthread_mutex_unlock(&lock);
	return real;
}

COMPAT_FN(struct old_context *, open_device, (struct old_device * device))
{
	struct old_context *context = calloc_for("ibv_open_device", 1, sizeof(*context));
	struct ibv_context *real;

	if (!context)
		return fail_null(ENOMEM);
	real = ibv_open_device(device->real);
	if (!real) {
		free(context);
		return NULL;
	}
	*context = (struct old_context){
		.device = device,
		.ops = verbs_old_ops,
		.cmd_fd = real->cmd_fd,
		.async_fd = real->async_fd,
		.num_comp_vectors = real->num_comp_vectors,
		.real = real,
	};
	add_context(context);
	return context;
}

COMPAT_FN(int, close_device, (struct old_context * context))
{
	int ret = ibv_close_device(context->real);

	if (ret)
		return ret;
	remove_context(context);
	free(context);
	return 0;
}

COMPAT_FN(int, query_device, (struct old_context * context, struct ibv_device_attr *attr))
{
	return ibv_query_device(context->real, attr);
}

COMPAT_FN(int, query_port,
	  (struct old_context * context, uint8_t port_num, struct _compat_ibv_port_attr *attr))
{
	return ibv_query_port(context->real, port_num, attr);
}

COMPAT_FN(int, query_gid,
	  (struct old_context * context, uint8_t port_num, int index, union ibv_gid *gid))
{
	return ibv_query_gid(context->real, port_num, index, gid);
}

COMPAT_FN(int, query_pkey,
	  (struct old_context * context, uint8_t port_num, int index, __be16 *pkey))
{
	return ibv_query_pkey(context->real, port_num, index, pkey);
}

COMPAT_FN(struct old_pd *, alloc_pd, (struct old_context * context))
{
	struct old_pd *pd = calloc_for("ibv_alloc_pd", 1, sizeof(*pd));

	if (!pd)
		return fail_null(ENOMEM);
	pd->real = ibv_alloc_pd(context->real);
	if (!pd->real) {
		free(pd);
		return NULL;
	}
	pd->context = context;
	pd->handle = pd->real->handle;
	return pd;
}

COMPAT_FN(int, dealloc_pd, (struct old_pd * pd))
{
	int ret = ibv_dealloc_pd(pd->real);

	if (!ret)
		free(pd);
	return ret;
}

COMPAT_FN(struct old_mr *, reg_mr, (struct old_pd * pd, void *addr, size_t length, int access))
{
	struct old_mr *mr = calloc_for("ibv_reg_mr", 1, sizeof(*mr));

	if (!mr)
		return fail_null(ENOMEM);
	mr->real = ibv_reg_mr(pd->real, addr, length, access);
	if (!mr->real) {
		free(mr);
		return NULL;
	}
	mr->context = pd->context;
	mr->pd = pd;
	mr->handle = mr->real->handle;
	mr->lkey = mr->real->lkey;
	mr->rkey = mr->real->rkey;
	return mr;
}

COMPAT_FN(int, dereg_mr, (struct old_mr * mr))
{
	int ret = ibv_dereg_mr(mr->real);

	if (!ret)
		free(mr);
	return ret;
}

COMPAT_FN(struct old_ah *, create_ah, (struct old_pd * pd, struct ibv_ah_attr *attr))
{
	struct old_ah *ah = calloc_for("ibv_create_ah", 1, sizeof(*ah));

	if (!ah)
		return fail_null(ENOMEM);
	ah->real = ibv_create_ah(pd->real, attr);
	if (!ah->real) {
		free(ah);
		return NULL;
	}
	ah->context = pd->context;
	ah->pd = pd;
	return ah;
}

COMPAT_FN(int, destroy_ah, (struct old_ah * ah))
{
	int ret = ibv_destroy_ah(ah->real);

	if (!ret)
		free(ah);
	return ret;
}

/* Registration call of drivers of release 1.1. It is not the default version, so that new drivers
 * do not link with it. */
VERBS_EXPORT void register_driver_1_1(const char *name, void *init);
__asm__(".symver register_driver_1_1, ibv_register_driver@IBVERBS_1.1");

VERBS_EXPORT void register_driver_1_1(const char *name, void *init)
{
	(void)init;
	verbs_warn("provider %s: skipped: it was built for release 1.1", name);
}
