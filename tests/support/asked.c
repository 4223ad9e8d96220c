#include "tests/support/asked.h"

#include <string.h>

struct asked_matrix asked_matrix_of(const void *from, int rows, size_t row_bytes) {
  const size_t bytes = from ? size(rows) * row_bytes : 0;
  const struct asked_matrix matrix = {from, bytes, emulated_take(bytes / 16 + 1)};
  memset(matrix.left, 0, bytes / 16);
  return matrix;
}

void want(const struct asked_matrix *matrix, int row, size_t row_bytes, size_t from, size_t to) {
  for (size_t at = from; matrix->from && at < to && at < row_bytes; at += 16) {
    matrix->left[(size(row) * row_bytes + at) / 16]++;
  }
}

static bool take_ask(const struct asked_matrix *matrix, const struct emulated_ask *ask) {
  const size_t at = (size_t)(ask->from - matrix->from);
  if (!matrix->from || at >= matrix->bytes || matrix->bytes - at < size(ask->bytes)) {
    return false;
  }
  for (size_t i = at; i < at + size(ask->bytes); i += 16) {
    if (matrix->left[i / 16]-- == 0) {
      return false;
    }
  }
  return true;
}

void check_taken(const struct product *p, const struct product_arguments *a,
                 const struct asked_matrix *matrices, int matrix_count) {
  size_t count;
  const struct emulated_ask *asks = emulated_asked(&count);
  for (size_t i = 0; i < count; i++) {
    int m = 0;
    while (m < matrix_count && !take_ask(&matrices[m], &asks[i])) {
      m++;
    }
    if (m == matrix_count) {
      fail_msg("%s, %d x %d, ahead %d: %d bytes are asked for that are not wanted, or twice",
               p->plugin->name, p->rows, p->columns, a->ahead, asks[i].bytes);
    }
  }
  for (int m = 0; m < matrix_count; m++) {
    for (size_t i = 0; i < matrices[m].bytes / 16; i++) {
      if (matrices[m].left[i] != 0) {
        fail_msg("%s, %d x %d, ahead %d: byte %zu of matrix %d is not asked for", p->plugin->name,
                 p->rows, p->columns, a->ahead, 16 * i, m);
      }
    }
  }
}
