# The tests' own cuBLASLt and hipBLASLt, in host memory; and a version of each that lacks a
# function.
FAKE_BLASLT := $(patsubst %,$(BUILD)/tests/lib/%.so,fake_cublaslt fake_cublaslt_missing fake_hipblaslt fake_hipblaslt_missing)

$(BUILD)/tests/lib/fake_cublaslt.so: FAKE_BLASLT_FLAGS := -DCUDA
$(BUILD)/tests/lib/fake_cublaslt_missing.so: FAKE_BLASLT_FLAGS := -DCUDA -DMISSING
$(BUILD)/tests/lib/fake_hipblaslt_missing.so: FAKE_BLASLT_FLAGS := -DMISSING

$(FAKE_BLASLT): tests/stand_ins/blaslt/fake_blaslt.c tests/stand_ins/blaslt/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< ($(@F))"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(WARNINGS) $(SANITIZE) -I. -shared -fPIC $(FAKE_BLASLT_FLAGS) -o $@ $< -lm

$(patsubst %,$(BUILD)/tests/test_%,vendor_products gpu_prefill_library prompt_ranks hip): | $(FAKE_BLASLT)
