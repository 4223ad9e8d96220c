// instruction: one step of a program: a vector of VECTOR_BLOCK numbers from up to nine others.
//
// The vectors lie in a workspace, one after another, aligned to VECTOR_ALIGNMENT.
#ifndef PERTOKEN_MODEL_WHATIF_INSTRUCTION_H
#define PERTOKEN_MODEL_WHATIF_INSTRUCTION_H

#include "model/chance/vector.h"
#include "model/whatif/expression.h"

// A sum in one step has up to 3 products of two vectors and 3 vectors, each with a factor.
enum { SUM_PRODUCTS = 3, SUM_VECTORS = 3, INSTRUCTION_OPERANDS = 2 * SUM_PRODUCTS + SUM_VECTORS };

struct instruction {
  void (*run)(double *workspace, const struct instruction *instruction);
  int out, operands[INSTRUCTION_OPERANDS]; // numbers of vectors; out may be one of the operands
  double constants[1 + SUM_PRODUCTS + SUM_VECTORS];
};

// constants[0] + sum of constants[1 + p] * operands[2 p] * operands[2 p + 1]
//              + sum of constants[1 + products + v] * operands[2 products + v]
void (*instruction_sum(int products, int vectors))(double *, const struct instruction *);

// Of any other kind but VALUE_VARIABLE; constants[0] is the value's constant.
void (*instruction_of(enum value_kind kind))(double *, const struct instruction *);

#endif
