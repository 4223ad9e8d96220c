# The GPU of this machine under a budget of time; resumable. See tests/gpu/check, which builds
# gpu-programs with GPU=here.
BUDGET ?= 1800

.PHONY: gpu-check gpu-programs
gpu-check: ## measure this machine's GPU: BUDGET=seconds; call again to go on
	@tests/gpu/check --budget $(BUDGET) $(GPU_CHECK)

gpu-programs: $(PLUGINS) $(BUILD)/pertoken-probe $(LADDER)
	@:
