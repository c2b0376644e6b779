# The same kernels for several instruction sets; the best is chosen at run time.
CPU_KERNELS := $(wildcard backends/cpu/kernels/*.c backends/cpu/kernels/*/*.c)
MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
ISAS := $(if $(findstring x86_64,$(MACHINE)),amx avx512 avx2) portable
FLAGS_avx512 := -march=x86-64-v4 -mprefer-vector-width=512
FLAGS_amx := $(FLAGS_avx512) -mavx512vbmi -mavx512vbmi2 -mavx512bf16 \
	-mamx-tile -mamx-bf16
FLAGS_avx2 := -march=x86-64-v3
# Kernels of AVX-512 that AMX takes by VEC_NAME() of simd.h: they do not use
# tiles, and would be compiled to the same code again. Kernels of tiles alone
# are compiled for AMX only.
KERNELS_VECTORS := $(addprefix backends/cpu/kernels/,$(addsuffix .c,\
	elementwise/dropout elementwise/elementwise elementwise/norm \
	elementwise/pooling igemm/igemm_fp32 igemm/igemm_bf16 \
	igemm/igemm_bf16_weights igemm/igemm_weights linear/linear_backward \
	linear/linear_dense linear/linear_forward linear/linear_forward_bf16 \
	linear/linear_parts linear/linear_rows linear/linear_weights \
	stem/stem_first stem/stem_input stem/stem_multiply stem/stem_planes \
	stem/stem_products stem/stem_weights))
KERNELS_TILES := $(filter %_amx.c,$(CPU_KERNELS))
kernels_of = $(filter-out $(if $(filter amx,$(1)),$(KERNELS_VECTORS),\
	$(KERNELS_TILES)),$(CPU_KERNELS))
OBJECTS += $(foreach isa,$(ISAS),$(patsubst %.c,$O/%.$(isa).o,\
	$(call kernels_of,$(isa))))

define isa_rule
$O/backends/cpu/kernels/%.$(1).o: backends/cpu/kernels/%.c
	@echo "CC $$< ($(1))"
	@mkdir -p $$(@D)
	$$Q$$(CC) $$(ALL_CFLAGS) $$(FLAGS_$(1)) -ffp-contract=fast -Wno-psabi \
		-DISA=$(1) -MMD -MP -c -o $$@ $$<
endef
$(foreach isa,$(ISAS),$(eval $(call isa_rule,$(isa))))
