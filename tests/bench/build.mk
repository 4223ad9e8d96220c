# The timing model of the GPU kernels (tests/support/gpu_timing.h), also for the tests.
$(BUILD)/bench/gpu_model: $(BUILD)/obj/tests/bench/gpu_model.o \
  $(patsubst %,$(BUILD)/obj/tests/support/gpu_timing%.o,_stage _flow _attention) \
  $(BUILD)/obj/tests/support/gpu_timing.o $(LIBRARY) $(MODEL)
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(LINK) -o $@ $^ $(LIBS)

tests: $(BUILD)/bench/gpu_model
$(BUILD)/tests/test_gpu_timing: | $(BUILD)/bench/gpu_model
