# The timing model of the GPU kernels (tests/support/timing/timing.h), also for the tests.
$(BUILD)/bench/gpu_model: $(BUILD)/obj/tests/bench/gpu_model.o \
  $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/support/timing/*.c)) $(LIBRARY) $(MODEL)
	@mkdir -p $(@D)
	@echo "  link $@"
	$(Q)$(LINK) -o $@ $^ $(LIBS)

tests: $(BUILD)/bench/gpu_model
$(BUILD)/tests/test_gpu_model: | $(BUILD)/bench/gpu_model
