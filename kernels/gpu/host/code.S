// A GPU's code as bytes: FILE under the name SYMBOL, both given by build.mk.
  .section .rodata
  .balign 4096
  .globl SYMBOL
  .hidden SYMBOL
SYMBOL:
  .incbin FILE
  .section .note.GNU-stack, "", @progbits
