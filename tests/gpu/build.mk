# The GPU of this machine under a budget of time; resumable. See tests/gpu/check.
BUDGET ?= 1800

.PHONY: gpu-check
gpu-check: ## measure this machine's GPU: BUDGET=seconds; call again to go on
	@tests/gpu/check --budget $(BUDGET) $(GPU_CHECK)
