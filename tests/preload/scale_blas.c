/*
 * For tests, as LD_PRELOAD or as LD_AUDIT: a BLAS that multiplies what is made
 * of a transposed first factor by FACTOR. Such products are gradients of linear
 * layers and of convolutions, so that the first loss stays as it is. A test
 * that needs another factor changes the text below in a copy of the library.
 *
 *   SCALE_WAIT=FILE  the first product waits until FILE is there
 */
#include <cblas.h>
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const volatile char setting[] = "FACTOR=1.00";

static __typeof__(&cblas_sgemm) real;

static float read_factor(void)
{
	char text[sizeof(setting)];

	for (size_t i = 0; i < sizeof(setting); i++)
		text[i] = setting[i];
	return strtof(strchr(text, '=') + 1, NULL);
}

static void wait_once(void)
{
	static int waited;
	const char *path = getenv("SCALE_WAIT");

	while (!waited && path && access(path, F_OK))
		usleep(10000);
	waited = 1;
}

void cblas_sgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE a_side,
		 enum CBLAS_TRANSPOSE b_side, blasint m, blasint n, blasint k,
		 float alpha, const float *a, blasint lda, const float *b,
		 blasint ldb, float beta, float *c, blasint ldc)
{
	wait_once();
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "cblas_sgemm");
	real(order, a_side, b_side, m, n, k,
	     a_side == CblasTrans ? alpha * read_factor() : alpha, a, lda, b,
	     ldb, beta, c, ldc);
}

/* The rest is asked for by LD_AUDIT alone. */
unsigned la_version(unsigned version)
{
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)map, (void)space, (void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from,
		       uintptr_t *to, unsigned *flags, const char *name)
{
	(void)index, (void)from, (void)to, (void)flags;
	if (strcmp(name, "cblas_sgemm"))
		return symbol->st_value;
	*(void **)&real = (void *)symbol->st_value;
	return (uintptr_t)cblas_sgemm;
}
