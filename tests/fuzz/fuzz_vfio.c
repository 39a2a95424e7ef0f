/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fuzz_vfio.c - a program opens a hostile adapter by VFIO, uses it and closes it: initialisation
 * segment, answers of commands, events, and memory that changes at any time.
 *
 * Covers: providers/mlx5/vfio/
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "providers/common/pd.h"
#include "providers/mlx5/vfio/device.h"
#include "providers/mlx5/vfio/vfio.h"
#include "tests/fuzz/vfio_device.h"
#include "tests/fuzz/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Stands for device.c, which looks for devices in sysfs. */
const struct verbs_driver mlx5_vfio_driver = { .magic = VERBS_DRIVER_MAGIC, .name = "mlx5_vfio" };

enum { PAGE = 4096, MEM = 4 * PAGE, MOST_STEPS = 24, MOST_LEN = 3000 };

static struct {
	struct source source;
	struct vfio_device device;
	struct ibv_context *context;
	uint8_t *memory;
	struct mlx5dv_devx_obj *obj;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_uar *uar;
	struct mlx5dv_devx_eq *eq;
	uint32_t eq_bytes;
	struct mlx5dv_devx_msi_vector *msi;
	struct ibv_pd *pd;
	struct verbs_mr *mr;
	bool has_leaked; /* an event queue that the adapter did not destroy */
} program;

static uint64_t lives, opened;

static uint32_t below(uint32_t n)
{
	return pick(&program.source, n);
}

/* Each command and answer is an allocation of its size, where the sanitizer sees the end. */
static uint8_t *some_bytes(size_t len, uint16_t opcode)
{
	uint8_t *bytes = calloc(1, len);

	if (!bytes)
		abort();
	if (len >= PRM_CMD_IN_SIZE)
		fld_set(bytes, CMD_IN_OPCODE, opcode);
	return bytes;
}

static void run_command(void)
{
	const size_t inlen = below(8) ? 16 + below(MOST_LEN) : below(20);
	const size_t outlen = below(8) ? 16 + below(MOST_LEN) : below(20);
	uint8_t *in = some_bytes(inlen, (uint16_t)take32(&program.source));
	uint8_t *out = some_bytes(outlen, 0);

	mlx5_vfio_command("fuzz", program.context, in, inlen, out, outlen);
	free(in);
	free(out);
}

static void toggle_obj(void)
{
	static const uint16_t opcodes[] = { PRM_OP_CREATE_MKEY, PRM_OP_ALLOC_PD, PRM_OP_CREATE_QP,
					    PRM_OP_CREATE_GENERAL_OBJECT };
	uint8_t *in, *out;

	if (program.obj) {
		if (mlx5_vfio_obj_destroy(program.obj))
			free(program.obj);
		program.obj = NULL;
		return;
	}
	in = some_bytes(300, opcodes[below(4)]);
	out = some_bytes(PRM_CMD_OUT_SIZE, 0);
	program.obj = mlx5_vfio_obj_create(program.context, in, 300, out, PRM_CMD_OUT_SIZE);
	free(in);
	free(out);
}

static void toggle_umem(void)
{
	const struct mlx5dv_devx_umem_in req = { .addr = program.memory + below(64),
						 .size = 1 + below(MEM - 64),
						 .access = IBV_ACCESS_LOCAL_WRITE,
						 .pgsz_bitmap = UINT64_MAX };

	if (!program.umem)
		program.umem = mlx5_vfio_umem_reg("fuzz", program.context, &req);
	else {
		if (mlx5_vfio_umem_dereg((struct devx_umem *)program.umem))
			free(program.umem);
		program.umem = NULL;
	}
}

static void toggle_uar(void)
{
	if (program.uar) {
		mlx5_vfio_uar_free(program.uar);
		program.uar = NULL;
		return;
	}
	program.uar = mlx5_vfio_uar_alloc(program.context, MLX5DV_UAR_ALLOC_TYPE_NC);
	if (program.uar) /* a doorbell of the program */
		memset(program.uar->base_addr, 0, PAGE);
}

static void toggle_eq(void)
{
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	const uint32_t log_size = below(10);

	if (program.eq) {
		if (mlx5dv_devx_destroy_eq(program.eq)) {
			program.has_leaked = true;
			free(program.eq);
		}
		program.eq = NULL;
		return;
	}
	fld_set(in, FLD_IN(CREATE_EQ_IN_EQC, EQC_LOG_EQ_SIZE), log_size);
	program.eq = mlx5dv_devx_create_eq(program.context, in, sizeof(in), out, sizeof(out));
	if (program.eq)
		memset(program.eq->vaddr, 0, (size_t)PRM_EQE_SIZE << log_size);
}

static void toggle_msi(void)
{
	if (!program.msi)
		program.msi = mlx5dv_devx_alloc_msi_vector(program.context);
	else if (!mlx5dv_devx_free_msi_vector(program.msi))
		program.msi = NULL;
}

static void pd_drop(void)
{
	if (program.pd && mlx5_vfio_ops.dealloc_pd(program.pd))
		free(to_ppd(program.pd));
	program.pd = NULL;
}

static void mr_drop(void)
{
	if (program.mr && mlx5_vfio_ops.dereg_mr(program.mr))
		free(program.mr);
	program.mr = NULL;
}

static void toggle_region(void)
{
	if (program.mr) {
		mr_drop();
		pd_drop();
		return;
	}
	if (!program.pd && mlx5_vfio_ops.alloc_pd(program.context, &program.pd))
		program.pd = NULL;
	if (program.pd &&
	    mlx5_vfio_ops.reg_mr(program.pd, program.memory, 1 + below(MEM),
				 (uintptr_t)program.memory, IBV_ACCESS_LOCAL_WRITE, &program.mr))
		program.mr = NULL;
}

static void step(void)
{
	switch (below(8)) {
	case 0:
		run_command();
		break;
	case 1:
		toggle_obj();
		break;
	case 2:
		toggle_umem();
		break;
	case 3:
		toggle_uar();
		break;
	case 4:
		toggle_eq();
		break;
	case 5:
		toggle_msi();
		break;
	case 6:
		toggle_region();
		break;
	default:
		mlx5dv_vfio_process_events(program.context);
	}
}

static void drop_all(void)
{
	if (program.obj)
		toggle_obj();
	if (program.umem)
		toggle_umem();
	if (program.uar)
		toggle_uar();
	if (program.eq)
		toggle_eq();
	if (program.msi)
		toggle_msi();
	mr_drop();
	pd_drop();
}

static void use_adapter(void)
{
	const uint32_t steps = below(MOST_STEPS);
	struct verbs_context *vctx;

	if (mlx5_vfio_context_alloc(&program.device.vdev, -1, &vctx))
		return;
	opened++;
	program.context = &vctx->context;
	for (uint32_t i = 0; i < steps && program.source.left; i++)
		step();
	drop_all();
	mlx5_vfio_context_free(vctx);
}

static void tell_shown(void)
{
	printf("%llu lives, %llu opened; %llu segments, %llu answers, %llu events, %llu writes\n",
	       (unsigned long long)lives, (unsigned long long)opened,
	       (unsigned long long)vfio_shown.segments, (unsigned long long)vfio_shown.answers,
	       (unsigned long long)vfio_shown.events, (unsigned long long)vfio_shown.writes);
}

static void program_begin(void)
{
	program.memory = aligned_alloc(PAGE, MEM);
	if (!program.memory)
		abort();
	program.device.vdev.driver = &mlx5_vfio_driver;
	strcpy(program.device.vdev.device.name, "0000:08:00.0");
	atexit(tell_shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!program.memory)
		program_begin();
	lives++;
	program.source = (struct source){ data, len };
	program.has_leaked = false;
	watch_begin("a life with a hostile adapter");
	vfio_device_begin(&program.source);
	use_adapter();
	watch_end();
	if (vfio_device_end() && !program.has_leaked)
		abort(); /* memory stays behind */
	return 0;
}
