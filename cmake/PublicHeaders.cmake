# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Public headers: programs, and our own tree, say <infiniband/verbs.h>, but each header lives beside the library that
# implements it. rdmakit_public_headers() links them into one include directory of the build tree, so that a change is
# seen at once, and installs them. That directory and kernel-headers/ go before everything else, the system's included.
set(RDMAKIT_INCLUDE_DIR "${CMAKE_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${RDMAKIT_INCLUDE_DIR}")
include_directories(BEFORE "${RDMAKIT_INCLUDE_DIR}" "${PROJECT_SOURCE_DIR}/kernel-headers")

# rdmakit_public_headers(DIR infiniband FILES verbs.h ...)
# FILES are relative to the current source directory; only the last component is kept under include/DIR.
function(rdmakit_public_headers)
	cmake_parse_arguments(arg "" "DIR" "FILES" ${ARGN})
	if(NOT arg_DIR OR NOT arg_FILES)
		message(FATAL_ERROR "rdmakit_public_headers needs DIR and FILES")
	endif()
	file(MAKE_DIRECTORY "${RDMAKIT_INCLUDE_DIR}/${arg_DIR}")
	foreach(header IN LISTS arg_FILES)
		get_filename_component(path "${header}" ABSOLUTE)
		get_filename_component(name "${header}" NAME)
		if(NOT EXISTS "${path}")
			message(FATAL_ERROR "public header ${path} does not exist")
		endif()
		get_property(known GLOBAL PROPERTY RDMAKIT_PUBLIC_HEADERS)
		if("${arg_DIR}/${name}" IN_LIST known)
			continue()
		endif()
		file(CREATE_LINK "${path}" "${RDMAKIT_INCLUDE_DIR}/${arg_DIR}/${name}" SYMBOLIC)
		install(FILES "${path}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${arg_DIR}")
		set_property(GLOBAL APPEND PROPERTY RDMAKIT_PUBLIC_HEADERS "${arg_DIR}/${name}")
	endforeach()
endfunction()

# All of them, here rather than in the directory that owns each: a build of some components still sees every header.
rdmakit_public_headers(DIR infiniband FILES
	libibverbs/arch.h
	libibverbs/opcode.h
	libibverbs/sa-kern-abi.h
	libibverbs/sa.h
	libibverbs/tm_types.h
	libibverbs/verbs.h
	libibverbs/verbs_api.h
	kernel-headers/rdma/ib_user_ioctl_verbs.h
	providers/mlx5/mlx5_api.h
	providers/mlx5/mlx5dv.h
	kernel-headers/rdma/mlx5_user_ioctl_verbs.h)
rdmakit_public_headers(DIR infiniband FILES librdmacm/ib.h)
rdmakit_public_headers(DIR rdma FILES
	librdmacm/rdma_cma.h
	librdmacm/rdma_verbs.h
	librdmacm/rsocket.h)
