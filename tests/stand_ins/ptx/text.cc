// text: parses PTX (PTX ISA, "Syntax", "State Spaces, Types, and Variables", "Directives") into
// what machine.cc runs. Kernels are located by name when the file is read, and parsed when they
// run.
#include "tests/stand_ins/ptx/machine.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

enum { MAX_FAMILIES = 64, MAX_OPERANDS = 96, WIDTHS = 4 };
enum : unsigned { REGISTERS = 65536, MOST_REGISTERS = 256 }; // of a multiprocessor, of a thread

// Registers of one declaration: %r<100>, or a single one.
struct family {
  char prefix[24];
  bool numbered;
  int count, depth;
  enum width width;
  uint32_t at;
};

struct label {
  char name[128];
  int target;
};

struct jump {
  int from;
  char to[128];
};

struct reader {
  const struct module *module;
  struct kernel *kernel;
  const char *at;
  int line, depth;
  uint32_t next; // of the file
  struct family families[MAX_FAMILIES];
  int family_count;
  char parameter[128];
  bool in_function;
  int called[MAX_CALLED]; // kernels of the module
  int called_count;
  struct label *labels;
  struct jump *jumps;
  int label_count, jump_count, label_room, jump_room, code_room, constant_room;
  char *why;
  size_t why_size;
  bool failed;
};

__attribute__((format(printf, 2, 3))) void wrong(struct reader *r, const char *format, ...) {
  if (r->failed) {
    return;
  }
  r->failed = true;
  const int n = snprintf(r->why, r->why_size, "%s:%d: ", r->module->file, r->line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(r->why + n, r->why_size - (size_t)n, format, arguments);
  va_end(arguments);
}

template <class T> T *grow(T **array, int count, int *room) {
  if (count == *room) {
    *room = *room ? *room * 2 : 256;
    *array = static_cast<T *>(realloc(*array, (size_t)*room * sizeof **array));
    if (!*array) {
      abort();
    }
  }
  memset(*array + count, 0, sizeof **array);
  return *array + count;
}

// ---- words

void skip_space(struct reader *r) {
  for (;; r->at++) {
    if (r->at[0] == '/' && r->at[1] == '/') {
      r->at += strcspn(r->at, "\n");
    }
    if (*r->at == '\n') {
      r->line++;
    } else if (!isspace((unsigned char)*r->at)) {
      return;
    }
  }
}

bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.' || c == ':';
}

// The longest run of characters of a name; "::" belongs to it, a colon at its end does not.
void word(struct reader *r, char *out, size_t size) {
  skip_space(r);
  size_t n = 0;
  while (is_word(r->at[n])) {
    n++;
  }
  while (n && r->at[n - 1] == ':') {
    n--;
  }
  if (n >= size) {
    wrong(r, "a name is too long");
    n = size - 1;
  }
  memcpy(out, r->at, n);
  out[n] = '\0';
  r->at += n;
}

bool take(struct reader *r, char c) {
  skip_space(r);
  if (*r->at != c) {
    return false;
  }
  r->at++;
  return true;
}

void want(struct reader *r, char c) {
  if (!take(r, c)) {
    wrong(r, "'%c' is missing before '%.20s'", c, r->at);
  }
}

// ---- registers

uint32_t file_room(struct reader *r, enum width width, int count) {
  const uint32_t at = r->next;
  r->next += (uint32_t)count * (width == BITS64 ? 2 : 1);
  if (r->next > r->kernel->file_size) {
    r->kernel->file_size = r->next;
  }
  return at;
}

bool width_of_type(const char *type, enum width *out) {
  static const struct {
    const char *type;
    enum width width;
  } types[] = {
      {".pred", PREDICATE}, {".b16", BITS16}, {".b32", BITS32}, {".f32", BITS32}, {".b64", BITS64}};
  for (const auto &t : types) {
    if (strcmp(t.type, type) == 0) {
      *out = t.width;
      return true;
    }
  }
  return false;
}

// After ".reg".
void declare(struct reader *r) {
  char type[16], name[24];
  enum width width = BITS32;
  word(r, type, sizeof type);
  if (!width_of_type(type, &width)) {
    wrong(r, "registers of type '%s'", type);
  }
  do {
    word(r, name, sizeof name);
    int count = 1;
    const bool numbered = take(r, '<');
    if (numbered) {
      char number[16];
      word(r, number, sizeof number);
      count = atoi(number);
      want(r, '>');
    }
    if (r->family_count == MAX_FAMILIES) {
      wrong(r, "more declarations of registers than there is room for");
      return;
    }
    struct family *f = &r->families[r->family_count++];
    snprintf(f->prefix, sizeof f->prefix, "%s", name);
    f->numbered = numbered;
    f->count = count;
    f->depth = r->depth;
    f->width = width;
    f->at = file_room(r, width, count);
  } while (take(r, ','));
  want(r, ';');
}

bool find_register(const struct reader *r, const char *name, enum width *width, uint32_t *at) {
  size_t letters = strlen(name);
  while (letters && isdigit((unsigned char)name[letters - 1])) {
    letters--;
  }
  for (int i = r->family_count - 1; i >= 0; i--) {
    const struct family *f = &r->families[i];
    const int number = f->numbered ? atoi(name + letters) : 0;
    const bool named = f->numbered ? strlen(f->prefix) == letters && name[letters] &&
                                         strncmp(f->prefix, name, letters) == 0
                                   : strcmp(f->prefix, name) == 0;
    if (named && number < f->count) {
      *width = f->width;
      *at = f->at + (uint32_t)number * (f->width == BITS64 ? 2 : 1);
      return true;
    }
  }
  return false;
}

// Constants follow all registers, whose number is known only at the end: until then operands name
// them by their number and this bit.
enum : uint32_t { IS_CONSTANT = 0x80000000u };

uint32_t constant_operand(struct reader *r, enum constant_kind kind, enum width width,
                          uint64_t value) {
  struct kernel *k = r->kernel;
  for (int i = 0; i < k->constant_count; i++) {
    const struct constant *c = &k->constants[i];
    if (c->kind == kind && c->width == width && c->value == value) {
      return IS_CONSTANT | (uint32_t)i;
    }
  }
  *grow(&k->constants, k->constant_count, &r->constant_room) = {kind, width, value, 0};
  return IS_CONSTANT | (uint32_t)k->constant_count++;
}

// ---- operands

enum what { REGISTER, CONSTANT, SYMBOL, LABEL, NOTHING };

struct operand {
  enum what what;
  enum width width; // of a register
  uint32_t at;
  enum constant_kind kind; // of a symbol
  uint64_t value;
  bool is_float;
  char name[128];
};

// Special registers (PTX ISA, "Special Registers") and the two symbols known to a kernel.
bool find_symbol(const struct reader *r, const char *name, struct operand *out) {
  static const struct {
    const char *name;
    enum constant_kind kind;
    uint64_t axis;
  } known[] = {{"%tid.x", THREAD_X, 0},          {"%ntid.x", BLOCK_SIZE_X, 0},
               {"%ctaid.x", BLOCK_AXIS, 0},      {"%ctaid.y", BLOCK_AXIS, 1},
               {"%ctaid.z", BLOCK_AXIS, 2},      {"%nctaid.x", GRID_AXIS, 0},
               {"%nctaid.y", GRID_AXIS, 1},      {"%nctaid.z", GRID_AXIS, 2},
               {"cuda_shared", SHARED_BEGIN, 0}, {"%cluster_ctarank", CLUSTER_RANK, 0}};
  out->what = SYMBOL;
  out->value = 0;
  for (const auto &k : known) {
    if (strcmp(k.name, name) == 0) {
      out->kind = k.kind;
      out->value = k.axis;
      return true;
    }
  }
  out->kind = STATIC_BEGIN;
  if (*name && strcmp(name, r->module->static_name) == 0) {
    return true;
  }
  out->kind = PARAMETER_BEGIN;
  return *name && strcmp(name, r->parameter) == 0;
}

// PTX ISA, "Constants": decimal and hexadecimal integers, 0f and 8 hexadecimal digits.
bool read_number(const char *text, struct operand *out) {
  char *end;
  out->what = CONSTANT;
  const char *digits = text + (*text == '-');
  if (digits[0] == '0' && (digits[1] == 'f' || digits[1] == 'F')) {
    out->is_float = true;
    out->value = strtoull(digits + 2, &end, 16);
    return digits == text && end == digits + 10 && !*end;
  }
  if (!isdigit((unsigned char)*digits)) {
    return false;
  }
  out->is_float = false;
  out->value = strtoull(digits, &end, 0);
  if (digits != text) {
    out->value = -out->value;
  }
  return !*end;
}

void read_operand(struct reader *r, struct operand *out) {
  char text[128] = "";
  *out = {};
  skip_space(r);
  const bool minus = take(r, '-');
  word(r, text + minus, sizeof text - 1);
  if (minus) {
    text[0] = '-';
  }
  snprintf(out->name, sizeof out->name, "%s", text);
  if (strcmp(text, "_") == 0) {
    out->what = NOTHING;
  } else if (text[0] == '$') {
    out->what = LABEL;
  } else if (find_register(r, text, &out->width, &out->at)) {
    out->what = REGISTER;
  } else if (!read_number(text, out) && !find_symbol(r, text, out)) {
    wrong(r, "what is '%s'?", text);
  }
}

// Does the operand match the letter? If so, *at is its place.
bool fits(struct reader *r, char letter, const struct operand *o, uint32_t *at) {
  static const struct {
    char letter;
    enum width width;
  } letters[] = {{'p', PREDICATE}, {'h', BITS16}, {'r', BITS32}, {'d', BITS64}, {'i', BITS32}};
  *at = 0;
  if (letter == '_' || letter == 'L') {
    return o->what == (letter == '_' ? NOTHING : LABEL);
  }
  enum width width = BITS32;
  for (const auto &l : letters) {
    if (l.letter == letter) {
      width = l.width;
    }
  }
  if (letter == 'i' && o->what != CONSTANT) {
    return false;
  }
  if (o->what == REGISTER) {
    *at = o->at;
    return o->width == width;
  }
  if (o->what != CONSTANT && o->what != SYMBOL) {
    return false;
  }
  if ((o->is_float && width != BITS32) ||
      (o->what == SYMBOL && o->kind == PARAMETER_BEGIN && width != BITS64) ||
      (o->what == SYMBOL && o->kind != PARAMETER_BEGIN && width != BITS32)) {
    return false;
  }
  *at = constant_operand(r, o->what == SYMBOL ? o->kind : NUMBER, width, o->value);
  return true;
}

// ---- instructions

// The text between the name and the semicolon: operands, and their brackets as in `shape`.
int read_operands(struct reader *r, struct operand *out, char *shape, size_t shape_size,
                  int64_t *offset) {
  int count = 0, brackets = 0;
  size_t n = 0;
  *offset = 0;
  while (!r->failed && !take(r, ';')) {
    const char c = *r->at;
    if (strchr("{}[],|", c) && c) {
      r->at++;
      brackets += c == '[';
      if (c != ',' && c != '|' && n + 1 < shape_size) {
        shape[n++] = c;
      }
    } else if (c == '+') {
      r->at++;
      struct operand number;
      read_operand(r, &number);
      if (number.what != CONSTANT || brackets != 1) {
        wrong(r, "an offset that is none, or not of the first address");
      }
      *offset = (int64_t)number.value;
    } else if (count == MAX_OPERANDS) {
      wrong(r, "more operands than there is room for");
    } else {
      read_operand(r, &out[count++]);
      if (n + 1 < shape_size) {
        shape[n++] = 'o';
      }
    }
  }
  shape[n] = '\0';
  return count;
}

// Writes the operands' places to `at` if they match the entry, and the number of destinations to
// *outs; the shape of the text, from read_operands, must be the same.
bool matches(struct reader *r, const char *expected, const struct operand *operands, int count,
             const char *shape, uint32_t *at, int *outs) {
  int i = 0;
  size_t n = 0;
  *outs = 0;
  for (const char *e = expected; *e;) {
    if (*e == '=') {
      *outs = i;
      e++;
      continue;
    }
    const char letter = *e++;
    if (strchr("{}[]", letter)) {
      if (shape[n++] != letter) {
        return false;
      }
      continue;
    }
    int times = isdigit((unsigned char)*e) ? 0 : 1;
    for (; isdigit((unsigned char)*e); e++) {
      times = times * 10 + (*e - '0');
    }
    for (; times; times--, i++) {
      if (i == count || shape[n++] != 'o' || !fits(r, letter, &operands[i], &at[i])) {
        return false;
      }
    }
  }
  return i == count && !shape[n];
}

const struct operation_entry *find_entry(struct reader *r, const char *name,
                                         const struct operand *operands, int count,
                                         const char *shape, uint32_t *at, int *outs) {
  bool known = false;
  const struct operation_entry *const tables[] = {arithmetic_operations, memory_operations,
                                                  matrix_operations};
  for (const struct operation_entry *table : tables) {
    for (const struct operation_entry *e = table; e->name; e++) {
      if (strcmp(e->name, name) != 0) {
        continue;
      }
      known = true;
      if (matches(r, e->operands, operands, count, shape, at, outs)) {
        return e;
      }
    }
  }
  wrong(r, known ? "operands of '%s' that it does not take here" : "unknown instruction '%s'",
        name);
  return nullptr;
}

// "NAME, ( );": a function without arguments and results, to be parsed together with the kernel's
// own code.
int read_called(struct reader *r, struct operand *out, char *shape) {
  *out = {};
  out->what = LABEL;
  word(r, out->name, sizeof out->name);
  want(r, ',');
  want(r, '(');
  want(r, ')');
  want(r, ';');
  snprintf(shape, 2, "o");
  bool known = false;
  for (int i = 0; i < r->called_count; i++) {
    known = known || strcmp(r->module->kernels[r->called[i]].name, out->name) == 0;
  }
  for (int i = 0; i < r->module->kernel_count && !known; i++) {
    if (strcmp(r->module->kernels[i].name, out->name) == 0 && r->called_count < MAX_CALLED) {
      r->called[r->called_count++] = i;
      known = true;
    }
  }
  if (!known) {
    wrong(r, "there is no function '%s'", out->name);
  }
  return 1;
}

void read_guard(struct reader *r, struct instruction *in) {
  in->guard = -1;
  if (!take(r, '@')) {
    return;
  }
  in->guard_not = take(r, '!');
  char name[24];
  word(r, name, sizeof name);
  enum width width;
  uint32_t at;
  if (!find_register(r, name, &width, &at) || width != PREDICATE) {
    wrong(r, "'%s' is no predicate", name);
    return;
  }
  in->guard = (int)at;
}

void read_instruction(struct reader *r) {
  struct instruction *in = grow(&r->kernel->code, r->kernel->code_count, &r->code_room);
  char name[128], shape[4 * MAX_OPERANDS];
  struct operand *operands = static_cast<struct operand *>(malloc(MAX_OPERANDS * sizeof *operands));
  uint32_t at[MAX_OPERANDS + 8] = {};
  skip_space(r);
  in->line = r->line;
  read_guard(r, in);
  word(r, name, sizeof name);
  in->count = strcmp(name, "call.uni") == 0
                  ? read_called(r, operands, shape)
                  : read_operands(r, operands, shape, sizeof shape, &in->offset);
  if (!r->failed) {
    in->what = find_entry(r, name, operands, in->count, shape, at, &in->outs);
  }
  if (!r->failed) {
    in->at = static_cast<uint32_t *>(calloc((size_t)in->count + 8, sizeof *in->at));
    memcpy(in->at, at, (size_t)in->count * sizeof *at);
    if (in->what->manner == BRANCH || in->what->manner == CALL) {
      struct jump *j = grow(&r->jumps, r->jump_count++, &r->jump_room);
      j->from = r->kernel->code_count;
      snprintf(j->to, sizeof j->to, "%s", operands[0].name);
    }
    in->target = r->in_function;
    r->kernel->has_wgmma |= in->what->manner == WGMMA_TOGETHER;
    r->kernel->depends |= strncmp(name, "griddepcontrol.", 15) == 0;
    r->kernel->code_count++;
  }
  free(operands);
}

// PTX ISA, ".pragma": hints; these two change nothing.
void read_pragma(struct reader *r) {
  skip_space(r);
  if (strncmp(r->at, "\"nounroll\"", 10) != 0 && strncmp(r->at, "\"used_bytes_mask ", 17) != 0) {
    wrong(r, "an unknown .pragma");
  }
  r->at += strcspn(r->at, ";\n");
  want(r, ';');
}

void leave_scope(struct reader *r) {
  while (r->family_count && r->families[r->family_count - 1].depth == r->depth) {
    r->next = r->families[--r->family_count].at;
  }
  r->depth--;
}

bool read_label(struct reader *r) {
  const size_t n = strcspn(r->at, ": \t\n;");
  if (*r->at != '$' || r->at[n] != ':') {
    return false;
  }
  struct label *l = grow(&r->labels, r->label_count++, &r->label_room);
  snprintf(l->name, sizeof l->name, "%.*s", (int)n, r->at);
  l->target = r->kernel->code_count;
  r->at += n + 1;
  return true;
}

void read_statement(struct reader *r) {
  skip_space(r);
  if (*r->at == '{') {
    r->at++;
    r->depth++;
  } else if (*r->at == '}') {
    r->at++;
    leave_scope(r);
  } else if (*r->at == '.') {
    char name[32];
    word(r, name, sizeof name);
    if (strcmp(name, ".reg") == 0) {
      declare(r);
    } else if (strcmp(name, ".pragma") == 0) {
      read_pragma(r);
    } else {
      wrong(r, "unknown directive '%s'", name);
    }
  } else if (!*r->at) {
    wrong(r, "the file ends within a kernel");
  } else if (!read_label(r)) {
    read_instruction(r);
  }
}

void resolve(struct reader *r) {
  for (int j = 0; j < r->jump_count; j++) {
    int target = -1;
    for (int l = 0; l < r->label_count; l++) {
      if (strcmp(r->labels[l].name, r->jumps[j].to) == 0) {
        target = r->labels[l].target;
      }
    }
    if (target < 0) {
      wrong(r, "there is no label %s", r->jumps[j].to);
    }
    r->kernel->code[r->jumps[j].from].target = target;
  }
}

void place_constants(struct kernel *k) {
  k->file_size += k->file_size % 2;
  for (int i = 0; i < k->constant_count; i++) {
    k->constants[i].at = k->file_size;
    k->file_size += 2;
  }
  for (int i = 0; i < k->code_count; i++) {
    for (int o = 0; o < k->code[i].count; o++) {
      uint32_t *at = &k->code[i].at[o];
      if (*at & IS_CONSTANT) {
        *at = k->constants[*at & ~IS_CONSTANT].at;
      }
    }
  }
}

// "(.param .align 8 .b8 NAME[96])": the only argument of all kernels (PTX ISA, ".entry"); functions
// have none.
void read_parameter(struct reader *r) {
  static const char *const begins[] = {".param", ".align", nullptr, ".b8"};
  char text[128];
  want(r, '(');
  if (take(r, ')')) {
    return;
  }
  for (const char *expected : begins) {
    word(r, text, sizeof text);
    if (expected && strcmp(text, expected) != 0) {
      wrong(r, "'%s', not %s", text, expected);
    }
  }
  word(r, r->parameter, sizeof r->parameter);
  want(r, '[');
  word(r, text, sizeof text);
  r->kernel->parameter_bytes = (size_t)atoi(text);
  want(r, ']');
  want(r, ')');
}

// Registers of a thread, in eights (setmaxnreg), so that so many blocks fit a multiprocessor. ptxas
// may give fewer where there is no setmaxnreg: check_machine_code reads what it gave.
unsigned registers_at_launch(unsigned threads, unsigned blocks) {
  const unsigned most = threads && blocks ? REGISTERS / (threads * blocks) / 8 * 8 : 0;
  return most < MOST_REGISTERS ? most : MOST_REGISTERS;
}

// ".maxntid 128, 1, 1 .minnctapersm 2" (PTX ISA, "Performance-Tuning Directives").
void read_head(struct reader *r) {
  char text[32];
  unsigned blocks = 0;
  read_parameter(r);
  while (!r->failed && !take(r, '{')) {
    word(r, text, sizeof text);
    const bool threads = strcmp(text, ".maxntid") == 0;
    if (!threads && strcmp(text, ".minnctapersm") != 0) {
      wrong(r, "unknown directive '%s'", text);
    }
    word(r, text, sizeof text);
    *(threads ? &r->kernel->most_threads : &blocks) = (unsigned)atoi(text);
    while (take(r, ',')) {
      word(r, text, sizeof text);
    }
  }
  if (!r->in_function) {
    r->kernel->registers = registers_at_launch(r->kernel->most_threads, blocks);
  }
  r->depth = 1;
}

void read_body(struct reader *r) {
  read_head(r);
  while (!r->failed && r->depth) {
    read_statement(r);
  }
}

// ".shared .align 8 .b8 NAME[272];" among the module's own declarations.
void read_static(struct module *m, const char *text) {
  const char *at = strstr(text, "\n.shared .align ");
  if (at && sscanf(at, " .shared .align %u .b8 %127[^[][%u];", &m->static_alignment, m->static_name,
                   &m->static_bytes) != 3) {
    m->static_name[0] = '\0';
  }
}

void kernel_clear(struct kernel *k) {
  for (int c = 0; c < k->code_count; c++) {
    free(k->code[c].at);
  }
  free(k->code);
  free(k->constants);
  k->code = nullptr;
  k->constants = nullptr;
  k->code_count = k->constant_count = 0;
}

} // namespace

bool kernel_parse(const struct module *module, struct kernel *k, char *why, size_t size) {
  struct reader *r = static_cast<struct reader *>(calloc(1, sizeof *r));
  r->module = module;
  r->kernel = k;
  r->at = k->text;
  r->line = k->line;
  r->why = why;
  r->why_size = size;
  read_body(r);
  for (int i = 0; i < r->called_count && !r->failed; i++) {
    const struct kernel *called = &module->kernels[r->called[i]];
    struct label *l = grow(&r->labels, r->label_count++, &r->label_room);
    snprintf(l->name, sizeof l->name, "%s", called->name);
    l->target = k->code_count;
    r->at = called->text;
    r->line = called->line;
    r->next = k->file_size; // after the caller's registers
    r->in_function = true;
    read_body(r);
  }
  if (!r->failed) {
    resolve(r);
    place_constants(k);
  }
  free(r->labels);
  free(r->jumps);
  k->parsed = !r->failed;
  if (r->failed) {
    kernel_clear(k);
  }
  free(r);
  return k->parsed;
}

struct module *module_read(const char *path, const char **why) {
  static const char *const begins[] = {"\n.visible .entry ", "\n.func "};
  FILE *file = fopen(path, "r");
  char *text = nullptr;
  size_t size = 0;
  if (!file || getdelim(&text, &size, '\0', file) < 0) {
    *why = "the PTX cannot be read";
    free(text);
    if (file) {
      fclose(file);
    }
    return nullptr;
  }
  fclose(file);
  struct module *m = static_cast<struct module *>(calloc(1, sizeof *m));
  const char *slash = strrchr(path, '/');
  snprintf(m->file, sizeof m->file, "%s", slash ? slash + 1 : path);
  m->text = text;
  read_static(m, text);
  int room = 0;
  for (const char *begin : begins) {
    int line = 1;
    const char *counted = text;
    for (const char *at = text; (at = strstr(at, begin));) {
      at += strlen(begin);
      for (; counted < at; counted++) {
        line += *counted == '\n';
      }
      struct kernel *k = grow(&m->kernels, m->kernel_count++, &room);
      const size_t n = strcspn(at, "( \n");
      snprintf(k->name, sizeof k->name, "%.*s", (int)n, at);
      k->text = at + n;
      k->line = line;
    }
  }
  return m;
}

void module_free(struct module *m) {
  for (int i = 0; m && i < m->kernel_count; i++) {
    kernel_clear(&m->kernels[i]);
  }
  if (m) {
    free(m->kernels);
    free(m->text);
    free(m);
  }
}
