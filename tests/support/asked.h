// asked: the weights that a product should ask L2 for, piece by piece, and whether its last run has
// asked for these and no others (emulated_asked).
#ifndef PERTOKEN_TESTS_ASKED_H
#define PERTOKEN_TESTS_ASKED_H

#include "tests/support/integer_product.h"

struct asked_matrix {
  const char *from; // NULL: there is no such matrix
  size_t bytes;
  unsigned char *left; // for each 16 bytes, how often they should still be asked for
};

// Nothing of it is wanted yet. Freed by emulated_give_back.
struct asked_matrix asked_matrix_of(const void *from, int rows, size_t row_bytes);

// The bytes [from, to) of a row, as far as it goes, should be asked for once more.
void want(const struct asked_matrix *matrix, int row, size_t row_bytes, size_t from, size_t to);

// Fails the test unless the last run asked for what is wanted of these matrices, and for nothing
// else.
void check_taken(const struct product *p, const struct product_arguments *a,
                 const struct asked_matrix *matrices, int matrix_count);

#endif
