# The timing model of the GPU kernels (tests/support/timing/timing.h), also for the tests.
$(BUILD)/bench/gpu_model: $(BUILD)/obj/tests/bench/gpu_model.o \
  $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/support/timing/*.c)) $(LIBRARY) $(MODEL)
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# What fences take behind copies, on the GPU at hand: sm_90 or later. With nvcc's own static runtime.
$(BUILD)/bench/gpu_fences: tests/bench/gpu_fences.cu
	$(if $(NVCC),,$(error no nvcc))
	@mkdir -p $(@D)
	@echo "  compile $<"
	$(Q)$(NVCC) -std=c++17 -O3 -arch=sm_90 -o $@ $<

tests: $(BUILD)/bench/gpu_model
$(BUILD)/tests/test_gpu_model: | $(BUILD)/bench/gpu_model
