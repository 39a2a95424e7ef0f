/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * agent.c - agents of programs: registration, and the choice of the agent that gets a request.
 */
#include <errno.h>
#include <string.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/umad/umad.h"
#include "softhca/log.h"

enum { MAX_CLASS = 80, MAX_VERSION = 0x83, METHODS = 128 };

/* What a program registers for, read from either version of the ioctl. */
struct wish {
	uint32_t qpn;
	uint8_t class, class_version, rmpp_version;
	bool user_rmpp;
	uint8_t oui[3];
	uint64_t methods[2];
};

static bool is_subnet_class(unsigned int class)
{
	return class == MAD_CLASS_SUBNET || class == MAD_CLASS_DIRECTED;
}

static bool is_vendor_class(unsigned int class)
{
	return class >= MAD_CLASS_VENDOR_OUI && class <= MAD_CLASS_VENDOR_OUI_LAST;
}

static int wish_check_class(const struct wish *wish)
{
	static const uint8_t no_oui[3];

	if (wish->class_version >= MAX_VERSION)
		return EINVAL;
	if (wish->class >= MAX_CLASS && wish->class != MAD_CLASS_DIRECTED)
		return EINVAL;
	if (is_vendor_class(wish->class) && !memcmp(wish->oui, no_oui, sizeof(no_oui)))
		return EINVAL;
	if (wish->rmpp_version && !umad_class_has_rmpp(wish->class))
		return EINVAL;
	return is_subnet_class(wish->class) == (wish->qpn == SMI_QPN) ? 0 : EINVAL;
}

static bool takes_same(const struct wish *wish, const struct umad_agent *agent)
{
	if (!agent->registered || agent->class != wish->class ||
	    agent->class_version != wish->class_version)
		return false;
	if (is_vendor_class(wish->class) && memcmp(agent->oui, wish->oui, sizeof(wish->oui)))
		return false;
	return agent->methods[0] & wish->methods[0] || agent->methods[1] & wish->methods[1];
}

/* Returns whether the registration is for CM messages, which softhca's rdma_cm handles, as the
 * kernel's does in Linux. */
static bool is_of_kernel(const struct wish *wish)
{
	return wish->class == MAD_CLASS_CM && wish->methods[0] >> MAD_SEND & 1;
}

/* Returns whether another agent of the port is already registered for one of the methods. */
static bool is_taken(const struct umad_file *own, const struct wish *wish)
{
	struct umad_file *file = NULL;

	while ((file = umad_file_next(file, own->adapter, own->port)))
		for (unsigned int i = 0; i < UMAD_MAX_AGENTS; i++)
			if (file->agent[i].used && takes_same(wish, &file->agent[i]))
				return true;
	return is_of_kernel(wish);
}

static int wish_check(const struct umad_file *file, const struct wish *wish)
{
	int ret;

	if (wish->qpn == SMI_QPN && adapter_is_roce(file->adapter))
		return EPROTONOSUPPORT;
	if (wish->rmpp_version && wish->rmpp_version != RMPP_VERSION_1)
		return EINVAL;
	ret = wish->class ? wish_check_class(wish) : 0;
	if (ret)
		return ret;
	return wish->class && is_taken(file, wish) ? EINVAL : 0;
}

static int agent_add(struct umad_file *file, const struct wish *wish, uint32_t *id)
{
	static uint32_t last_tid = 0x80000000u;
	unsigned int i = 0;
	int ret;

	while (i < UMAD_MAX_AGENTS && file->agent[i].used)
		i++;
	if (i == UMAD_MAX_AGENTS)
		return ENOMEM;
	ret = wish_check(file, wish);
	if (ret) {
		log_note("umad: agent for class %#x, version %u, of QP%u: %s", wish->class,
			 wish->class_version, wish->qpn, strerror(ret));
		return ret;
	}
	file->agent[i] = (struct umad_agent){
		.used = true,
		.registered = wish->class != 0,
		.hi_tid = ++last_tid,
		.qpn = (uint8_t)wish->qpn,
		.class = wish->class,
		.class_version = wish->class_version,
		.rmpp_version = wish->rmpp_version,
		.user_rmpp = wish->user_rmpp,
	};
	memcpy(file->agent[i].oui, wish->oui, sizeof(wish->oui));
	memcpy(file->agent[i].methods, wish->methods, sizeof(wish->methods));
	*id = i;
	return 0;
}

static int agent_tell(struct call *call, struct umad_file *file, uint64_t address, uint32_t id)
{
	if (caller_write(call, address, &id, sizeof(id))) {
		file->agent[id].used = false;
		return EFAULT;
	}
	file->used = true;
	return 0;
}

int umad_register(struct call *call, struct umad_file *file)
{
	uint64_t address = call_arg(call, 2);
	struct ib_user_mad_reg_req req;
	struct wish wish;
	uint32_t id;
	int ret;

	if (caller_read(call, address, &req, sizeof(req)))
		return EFAULT;
	if (req.qpn > GSI_QPN)
		return EINVAL;
	wish = (struct wish){ .qpn = req.qpn,
			      .class = req.mgmt_class,
			      .class_version = req.mgmt_class_version,
			      .rmpp_version = req.rmpp_version };
	memcpy(wish.oui, req.oui, sizeof(wish.oui));
	memcpy(wish.methods, req.method_mask, sizeof(wish.methods));
	ret = agent_add(file, &wish, &id);
	return ret ? ret
		   : agent_tell(call, file, address + offsetof(struct ib_user_mad_reg_req, id), id);
}

/* Refuses unknown flags: writes the supported flags to ADDRESS. */
static int tell_flags(struct call *call, uint64_t address)
{
	uint32_t known = IB_USER_MAD_REG_FLAGS_CAP;

	if (caller_write(call, address + offsetof(struct ib_user_mad_reg_req2, flags), &known,
			 sizeof(known)))
		return EFAULT;
	return EINVAL;
}

int umad_register2(struct call *call, struct umad_file *file)
{
	enum { OUI_BITS = 24 };
	uint64_t address = call_arg(call, 2);
	struct ib_user_mad_reg_req2 req;
	struct wish wish;
	uint32_t id;
	int ret;

	if (caller_read(call, address, &req, sizeof(req)))
		return EFAULT;
	if (req.qpn > GSI_QPN)
		return EINVAL;
	if (req.flags & ~IB_USER_MAD_REG_FLAGS_CAP)
		return tell_flags(call, address);
	if (req.mgmt_class && req.oui >> OUI_BITS)
		return EINVAL;
	wish = (struct wish){ .qpn = req.qpn,
			      .class = req.mgmt_class,
			      .class_version = req.mgmt_class_version,
			      .rmpp_version = req.rmpp_version,
			      .user_rmpp = req.flags & IB_USER_MAD_USER_RMPP,
			      .oui = { (uint8_t)(req.oui >> 16), (uint8_t)(req.oui >> 8),
				       (uint8_t)req.oui } };
	memcpy(wish.methods, req.method_mask, sizeof(wish.methods));
	ret = agent_add(file, &wish, &id);
	return ret ? ret
		   : agent_tell(call, file, address + offsetof(struct ib_user_mad_reg_req2, id),
				id);
}

int umad_unregister(struct call *call, struct umad_file *file)
{
	uint32_t id;

	if (caller_read(call, call_arg(call, 2), &id, sizeof(id)))
		return EFAULT;
	if (id >= UMAD_MAX_AGENTS || !file->agent[id].used)
		return EINVAL;
	umad_agent_end(file, id);
	return 0;
}

void umad_agent_end(struct umad_file *file, unsigned int agent)
{
	umad_send_end_agent(file, agent);
	umad_rmpp_forget(file, agent, 0);
	file->agent[agent].used = false;
}

static bool agent_takes(const struct umad_agent *agent, unsigned int qpn, const uint8_t *mad)
{
	enum { OUI_AT = 37 }; /* behind RMPP's header and a byte */
	unsigned int class = fld_get(mad, MAD_CLASS), method = fld_get(mad, MAD_METHOD);

	if (!agent->used || !agent->registered || agent->qpn != qpn || agent->class != class ||
	    agent->class_version != fld_get(mad, MAD_CLASS_VERSION))
		return false;
	if (is_vendor_class(class) && memcmp(agent->oui, mad + OUI_AT, sizeof(agent->oui)))
		return false;
	return method < METHODS && agent->methods[method / 64] >> method % 64 & 1;
}

struct umad_agent *umad_agent_find(const struct adapter *adapter, unsigned int port,
				   unsigned int qpn, const uint8_t *mad, struct umad_file **out)
{
	struct umad_file *file = NULL;

	while ((file = umad_file_next(file, adapter, port))) {
		for (unsigned int i = 0; i < UMAD_MAX_AGENTS; i++) {
			if (!agent_takes(&file->agent[i], qpn, mad))
				continue;
			*out = file;
			return &file->agent[i];
		}
	}
	return NULL;
}
