/* Whether this process may use AMX's tiles. */
#include "backends/cpu/kernels.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of leaf 7, register edx (Intel's manual of the architecture, 3.3 CPUID). */
#define AMX_BF16 (1u << 22)
#define AMX_TILE (1u << 24)

/* Of arch_prctl(2): asks for a part of the state that a thread may have. */
#define REQUEST_PERMISSION 0x1023
#define TILE_DATA 18

int cpu_request_tiles(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) &&
	       edx & AMX_BF16 && edx & AMX_TILE &&
	       !syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA);
}
#else
int cpu_request_tiles(void)
{
	return 0;
}
#endif
