/*
 * Loaded before a program: the tiles of AMX, on a CPU that lacks them.
 *
 * Each instruction of AMX raises SIGILL there; the handler computes the
 * instruction and steps over it. The result has the bits of the processor's
 * (Intel's manual of the architecture, volume 2, TDPBF16PS): subnormal numbers
 * are zeros, sums are rounded to nearest. AVX-512 for bf16 is not emulated.
 */
#include <dlfcn.h>
#include <immintrin.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/platform/x86.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define TILES 8
#define ROWS 16
#define ROW 64 /* bytes */
#define FLUSH 0x8040 /* of MXCSR: subnormal operands and results are 0 */

#define AMX_BITS (1u << 22 | 1u << 24) /* bf16 and tiles, in edx */
#define REQUEST_PERMISSION 0x1023

struct config {
	uint8_t palette, start, reserved[14];
	uint16_t row_bytes[ROWS];
	uint8_t rows[ROWS];
};

static _Thread_local struct config config;
static _Thread_local uint8_t tiles[TILES][ROWS][ROW];

/* An instruction: three bytes of VEX, an opcode, ModRM, SIB, displacement. */
struct instruction {
	int prefix; /* 0, 0x66, 0xf3 or 0xf2, as 0 to 3 */
	int opcode;
	int reg, other, third; /* ModRM.reg, ModRM.rm, VEX.vvvv */
	int in_memory;
	uintptr_t address, stride; /* of an operand in memory; bytes */
	int length;
};

static uintptr_t value(const ucontext_t *context, int number)
{
	static const int order[16] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
		REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
		REG_R12, REG_R13, REG_R14, REG_R15,
	};

	return (uintptr_t)context->uc_mcontext.gregs[order[number]];
}

/* Reads the operand in memory that begins with ModRM at code[4]. */
static void read_address(const ucontext_t *context, const uint8_t *code,
			 struct instruction *in)
{
	const int mode = code[4] >> 6, high_base = !(code[1] & 0x20) * 8,
		  high_index = !(code[1] & 0x40) * 8;
	int base = (code[4] & 7) | high_base, at = 5;
	int32_t far = 0;

	if ((code[4] & 7) == 4) {
		const int index = (code[5] >> 3 & 7) | high_index;

		base = (code[5] & 7) | high_base;
		if (index != 4)
			in->stride = value(context, index) << (code[5] >> 6);
		at = 6;
	}
	if (!mode && (base & 7) == 5) {
		memcpy(&far, code + at, sizeof(far));
		in->length = at + 4;
		in->address = (uintptr_t)far;
		if (at == 5)
			in->address += (uintptr_t)code + in->length;
		return;
	}
	in->address = value(context, base);
	if (mode == 1)
		far = (int8_t)code[at];
	if (mode == 2)
		memcpy(&far, code + at, sizeof(far));
	in->address += (uintptr_t)(intptr_t)far;
	in->length = at + (mode == 2 ? 4 : mode);
}

/* Returns 0 if the code is no instruction of AMX's size and map. */
static int decode(const ucontext_t *context, const uint8_t *code,
		  struct instruction *in)
{
	if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || code[2] & 0x84)
		return 0;
	*in = (struct instruction){
		.prefix = code[2] & 3, .opcode = code[3],
		.reg = code[4] >> 3 & 7, .other = code[4] & 7,
		.third = ~code[2] >> 3 & 7,
		.in_memory = code[4] >> 6 != 3, .length = 5,
	};
	if (in->in_memory)
		read_address(context, code, in);
	return 1;
}

/* The lower and the upper bf16 of each four bytes, as floats. */
#define EVEN(row) (__m512)_mm512_slli_epi32(_mm512_loadu_si512(row), 16)
#define ODD(row) (__m512)_mm512_and_si512(_mm512_loadu_si512(row), \
					  _mm512_set1_epi32((int)0xffff0000))

/* sum[m][n] += a[m][2 k] b[k][2 n] + a[m][2 k + 1] b[k][2 n + 1], over k. */
__attribute__((target("avx512f"))) static void multiply(int sum, int a, int b)
{
	const __mmask16 columns =
		(__mmask16)((1u << config.row_bytes[sum] / 4) - 1);
	const int depth = config.row_bytes[a] / 4;

	for (int m = 0; m < config.rows[sum]; m++) {
		float first[ROW / 4], second[ROW / 4];
		__m512 even = _mm512_setzero_ps(), odd = even, total;

		_mm512_storeu_ps(first, EVEN(tiles[a][m]));
		_mm512_storeu_ps(second, ODD(tiles[a][m]));
		for (int k = 0; k < depth; k++) {
			even = _mm512_fmadd_ps(_mm512_set1_ps(first[k]),
					       EVEN(tiles[b][k]), even);
			odd = _mm512_fmadd_ps(_mm512_set1_ps(second[k]),
					      ODD(tiles[b][k]), odd);
		}
		total = _mm512_add_ps(_mm512_loadu_ps(tiles[sum][m]),
				      _mm512_add_ps(even, odd));
		_mm512_mask_storeu_ps(tiles[sum][m], columns, total);
	}
}

static void load(const struct instruction *in)
{
	memset(tiles[in->reg], 0, sizeof(tiles[0]));
	for (uintptr_t r = 0; r < config.rows[in->reg]; r++)
		memcpy(tiles[in->reg][r],
		       (const void *)(in->address + r * in->stride),
		       config.row_bytes[in->reg]);
}

static void store(const struct instruction *in)
{
	for (uintptr_t r = 0; r < config.rows[in->reg]; r++)
		memcpy((void *)(in->address + r * in->stride),
		       tiles[in->reg][r], config.row_bytes[in->reg]);
}

static void configure(const struct instruction *in)
{
	memset(tiles, 0, sizeof(tiles));
	memset(&config, 0, sizeof(config));
	if (in->in_memory)
		memcpy(&config, (const void *)in->address, sizeof(config));
}

/* Returns 0 if the instruction does not work on tiles. */
static int compute(const struct instruction *in)
{
	enum { NONE, P66, PF3, PF2 };

	if (in->opcode == 0x49 && in->prefix == NONE)
		configure(in);
	else if (in->opcode == 0x49 && in->prefix == PF2 && !in->in_memory)
		memset(tiles[in->reg], 0, sizeof(tiles[0]));
	else if (in->opcode == 0x4b && in->in_memory && in->prefix == PF3)
		store(in);
	else if (in->opcode == 0x4b && in->in_memory && in->prefix)
		load(in);
	else if (in->opcode == 0x5c && in->prefix == PF3 && !in->in_memory)
		multiply(in->reg, in->other, in->third);
	else
		return 0;
	return 1;
}

/* Returns the library's function of this name. */
static void *library(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

static void step_over(int number, siginfo_t *info, void *state);

/* Handles SIGILL by SIG_DFL, or by step_over(). */
static void handle(sighandler_t how)
{
	struct sigaction action = { .sa_handler = how };
	int (*next)(int, const struct sigaction *, struct sigaction *);

	if (how != SIG_DFL) {
		action.sa_flags = SA_SIGINFO;
		action.sa_sigaction = step_over;
	}
	*(void **)&next = library("sigaction");
	if (next(SIGILL, &action, NULL))
		abort();
}

static void step_over(int number, siginfo_t *info, void *state)
{
	ucontext_t *context = state;
	greg_t *const at = &context->uc_mcontext.gregs[REG_RIP];
	const greg_t first = *at;
	const unsigned rounding = _mm_getcsr();
	struct instruction in;

	(void)number;
	(void)info;
	_mm_setcsr(rounding | FLUSH);
	/* Each signal costs a microsecond: compute all that follow, too. */
	while (decode(context, (const uint8_t *)*at, &in) && compute(&in))
		*at += in.length;
	_mm_setcsr(rounding);
	if (*at == first)
		handle(SIG_DFL); /* the instruction raises SIGILL again */
}

__attribute__((constructor)) static void begin(void)
{
	handle(SIG_IGN);
}

/* A program's own handlers of SIGILL, as of cmocka, are not installed. */
int sigaction(int number, const struct sigaction *action,
	      struct sigaction *before)
{
	int (*next)(int, const struct sigaction *, struct sigaction *);

	*(void **)&next = library(__func__);
	return next(number, number == SIGILL ? NULL : action, before);
}

sighandler_t signal(int number, sighandler_t handler)
{
	sighandler_t (*next)(int, sighandler_t);

	*(void **)&next = library(__func__);
	return number == SIGILL ? SIG_DFL : next(number, handler);
}

/* Answers for leaf 7 that CPU and system support AMX. */
const struct cpuid_feature *__x86_get_cpuid_feature_leaf(unsigned leaf)
{
	static _Thread_local struct cpuid_feature found;
	const struct cpuid_feature *(*next)(unsigned);

	*(void **)&next = library(__func__);
	found = *next(leaf);
	if (leaf == CPUID_INDEX_7) {
		found.cpuid_array[cpuid_register_index_edx] |= AMX_BITS;
		found.active_array[cpuid_register_index_edx] |= AMX_BITS;
	}
	return &found;
}

/* Grants permission for tiles; any other call reaches the system. */
long syscall(long number, ...)
{
	long (*next)(long, ...);
	long given[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		given[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_arch_prctl && given[0] == REQUEST_PERMISSION)
		return 0;
	*(void **)&next = library(__func__);
	return next(number, given[0], given[1], given[2], given[3], given[4],
		    given[5]);
}
