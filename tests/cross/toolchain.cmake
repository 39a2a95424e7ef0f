# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# For CMAKE_TOOLCHAIN_FILE: a compiler, a sysroot and an emulator that fetch has put into a cache. run says which, by the
# CROSS_ variables; they are passed on to the projects by which CMake tries the compiler.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CROSS_CACHE CROSS_ARCHITECTURE CROSS_TRIPLET CROSS_MACHINE CROSS_QEMU)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR "${CROSS_MACHINE}")
set(CMAKE_SYSROOT "${CROSS_CACHE}/sysroot-${CROSS_ARCHITECTURE}")
set(CMAKE_C_COMPILER "${CROSS_CACHE}/tools-${CROSS_ARCHITECTURE}/usr/bin/${CROSS_TRIPLET}-gcc-14")
set(CMAKE_LIBRARY_ARCHITECTURE "${CROSS_TRIPLET}")
if(CROSS_QEMU)
	set(CMAKE_CROSSCOMPILING_EMULATOR "${CROSS_CACHE}/qemu/usr/bin/${CROSS_QEMU};-L;${CMAKE_SYSROOT}")
else()
	file(GLOB loader "${CMAKE_SYSROOT}/lib/ld-linux*.so.?")
	set(CMAKE_CROSSCOMPILING_EMULATOR "${loader};--library-path;${CMAKE_SYSROOT}/usr/lib/${CROSS_ARCHITECTURE}-linux-gnu")
endif()

# Programs are the host's, all else is the sysroot's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${CMAKE_SYSROOT}/usr/lib/${CROSS_TRIPLET}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")
