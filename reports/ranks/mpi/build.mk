# The plugin for runs under mpirun, built if Open MPI's compiler wrapper is found; nothing else
# needs it. MPI=no leaves it out. Not built with sanitizers.
ifeq ($(VARIANT)$(MPI),)
MPI_CFLAGS := $(shell mpicc --showme:compile 2>/dev/null)
MPI_LIBS   := $(shell mpicc --showme:link 2>/dev/null)
endif
MPI_PLUGIN := $(if $(MPI_LIBS),$(BUILD)/lib/pertoken/mpi/ranks.so)

# System headers, so that their warnings are not reported.
$(BUILD)/lib/pertoken/mpi/ranks.so: reports/ranks/mpi/ranks.c reports/ranks/plugin.h reports/ranks/mpi/build.mk
	@mkdir -p $(@D)
	@echo "  compile $< (plugin)"
	$(Q)$(CC) $(STANDARD) $(CFLAGS) $(HARDEN) $(WARNINGS) -I. $(MPI_CFLAGS:-I%=-isystem %) -fPIC \
	  -shared $(HARDEN_LINK) $(LDFLAGS) -o $@ $< $(MPI_LIBS)
