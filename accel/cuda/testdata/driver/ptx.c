// Reads as much of PTX as the kernels need, and refuses the rest.
#include "fake.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char last_error[256];

static char *trim(char *s) {
  while (isspace((unsigned char)*s)) s++;
  char *end = s + strlen(s);
  while (end > s && isspace((unsigned char)end[-1])) *--end = 0;
  return s;
}

static int starts(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

static int register_of(struct function *f, const char *name) {
  for (int i = 0; i < f->n_registers; i++)
    if (!strcmp(f->registers[i], name)) return i;
  f->registers = realloc(f->registers, (f->n_registers + 1) * sizeof *f->registers);
  snprintf(f->registers[f->n_registers], sizeof *f->registers, "%s", name);
  return f->n_registers++;
}

static int label_of(struct function *f, const char *name) {
  for (int i = 0; i < f->n_labels; i++)
    if (!strcmp(f->labels[i], name)) return i;
  if (f->n_labels == 128) return -1;
  snprintf(f->labels[f->n_labels], sizeof f->labels[0], "%s", name);
  f->label_at[f->n_labels] = -1;
  return f->n_labels++;
}

static int parse_memory(struct function *f, const char *s, struct operand *o) {
  char name[64];
  int n = 0;
  while (*s && *s != '+' && *s != ']' && n < 63) name[n++] = *s++;
  name[n] = 0;
  o->kind = MEMORY;
  o->imm = *s == '+' ? strtol(s + 1, NULL, 0) : 0;
  if (name[0] == '%') {
    o->reg = register_of(f, name);
    return 1;
  }
  for (int i = 0; i < f->n_params; i++)
    if (!strcmp(f->params[i].name, name)) {
      o->reg = i;
      return 1;
    }
  return 0;
}

static int parse_operand(struct function *f, const char *s, struct operand *o) {
  if (*s == '[') return parse_memory(f, s + 1, o);
  if (*s == '%') {
    o->kind = REGISTER;
    o->reg = register_of(f, s);
    return 1;
  }
  char *end;
  o->kind = IMMEDIATE;
  o->imm = strtoll(s, &end, 0);
  return end != s && !*end;
}

// Names by their beginning, so the longer of two comes first.
static const struct {
  const char *name;
  enum opcode op;
  int operands;
} mnemonics[] = {
    {"ld.param.", LD_PARAM, 2},
    {"cvta.to.global.u64", CVTA, 2},
    {"ld.global.", LD, 2},
    {"ld.volatile.global.", LD, 2},
    {"st.global.", ST, 2},
    {"atom.global.add.u32", ATOM_ADD, 3},
    {"atom.global.cas.b32", ATOM_CAS, 4},
    {"mov.", MOV, 2},
    {"add.", ADD, 3},
    {"sub.", SUB, 3},
    {"mul.lo.", MUL_LO, 3},
    {"mul.wide.u32", MUL_WIDE, 3},
    {"mad.lo.", MAD, 4},
    {"shl.", SHL, 3},
    {"shr.", SHR, 3},
    {"and.", AND, 3},
    {"or.", OR, 3},
    {"xor.", XOR, 3},
    {"not.", NOT, 2},
    {"bfe.", BFE, 4},
    {"selp.", SELP, 4},
    {"cvt.", CVT, 2},
    {"setp.", SETP, 3},
    {"bra", BRA, 1},
    {"ret", RET, 0},
};
static const char *comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
static const char *specials[] = {"%tid.x", "%ntid.x", "%ctaid.x", "%nctaid.x"};

static int parse_name(struct instruction *in, const char *name) {
  int operands = -1;
  for (size_t k = 0; k < sizeof mnemonics / sizeof *mnemonics && operands < 0; k++)
    if (starts(name, mnemonics[k].name)) in->op = mnemonics[k].op, operands = mnemonics[k].operands;
  if (operands < 0) return -1;
  const char *type = strrchr(name, '.');
  in->bits = 32;
  if (type) {
    if (strstr(type, "64")) in->bits = 64;
    else if (strstr(type, "16")) in->bits = 16;
    else if (!strcmp(type, ".u8") || !strcmp(type, ".s8") || !strcmp(type, ".b8")) in->bits = 8;
    else if (!strcmp(type, ".pred")) in->bits = 1;
    in->is_signed = type[1] == 's';
  }
  if (in->op == CVT && strcmp(name, "cvt.u64.u32") && strcmp(name, "cvt.u16.u32")) return -1;
  if (in->op != SETP) return operands;
  for (in->compare = 0; in->compare < 6; in->compare++)
    if (starts(name + 5, comparisons[in->compare])) return operands;
  return -1;
}

static int parse_instruction(struct function *f, char *s, int line) {
  struct instruction in = {.predicate = -1, .label = -1, .line = line};
  char *name = s, *save;
  if (*s == '@') {
    in.negated = s[1] == '!';
    name = strpbrk(s, " \t");
    if (!name) return 0;
    *name++ = 0;
    in.predicate = register_of(f, s + 1 + in.negated);
    name = trim(name);
  }
  char *rest = strpbrk(name, " \t");
  if (rest) *rest++ = 0;
  int want = parse_name(&in, name), got = 0;
  char *words[4];
  for (char *w = rest ? strtok_r(rest, ",", &save) : NULL; w; w = strtok_r(NULL, ",", &save)) {
    if (got == 4) return 0;
    words[got++] = trim(w);
  }
  if (want != got) return 0;
  if (in.op == BRA) {
    if ((in.label = label_of(f, words[0])) < 0) return 0;
    got = 0;
  }
  if (in.op == MOV && words[1][0] == '%' && strchr(words[1], '.')) {
    in.op = MOV_SPECIAL;
    for (in.special = 0; in.special < 4 && strcmp(words[1], specials[in.special]); in.special++) {
    }
    if (in.special == 4) return 0;
    got = 1;
  }
  struct operand *to[] = {&in.to, &in.a, &in.b, &in.c};
  for (int i = 0; i < got; i++)
    if (!parse_operand(f, words[i], to[i])) return 0;
  f->code = realloc(f->code, (f->n + 1) * sizeof in);
  f->code[f->n++] = in;
  return 1;
}

static int parse_parameter(struct function *f, const char *line) {
  char type[8];
  struct parameter *p = &f->params[f->n_params];
  if (f->n_params == 32 || sscanf(line, ".param .%7s %63[^, ]", type, p->name) != 2) return 0;
  p->size = !strcmp(type, "u64") ? 8 : !strcmp(type, "u32") ? 4 : 0;
  f->n_params++;
  return p->size > 0;
}

static int parse_body(struct function *f, char *line, int number) {
  size_t n = strlen(line);
  if (starts(line, ".reg") || starts(line, ".pragma")) return 1;
  if (line[n - 1] == ':') {
    line[n - 1] = 0;
    int label = label_of(f, line);
    if (label < 0) return 0;
    f->label_at[label] = f->n;
    return 1;
  }
  if (line[n - 1] != ';' || *line == '.') return 0;
  line[n - 1] = 0;
  return parse_instruction(f, line, number);
}

static int complete(const struct function *f) {
  for (int i = 0; i < f->n_labels; i++)
    if (f->label_at[i] < 0) return 0;
  return f->n > 0 && (f->code[f->n - 1].op == RET || f->code[f->n - 1].op == BRA);
}

void ptx_free(struct module *m) {
  for (struct function *f = m->functions, *next; f; f = next) {
    next = f->next;
    free(f->code);
    free(f->registers);
    free(f);
  }
  free(m);
}

struct module *ptx_load(const char *text) {
  struct module *m = calloc(1, sizeof *m);
  struct function *f = NULL;
  char *copy = strdup(text), *next = copy, *line;
  enum { TOP, PARAMETERS, BEFORE_BODY, BODY } at = TOP;
  int number = 0, good = 1, version = 0, target = 0;
  while (good && (line = strsep(&next, "\n"))) {
    number++;
    char *comment = strstr(line, "//");
    if (comment) *comment = 0;
    line = trim(line);
    if (!*line) continue;
    if (at == BODY && !strcmp(line, "}")) at = TOP, good = complete(f);
    else if (at == BODY) good = parse_body(f, line, number);
    else if (at == BEFORE_BODY) at = BODY, good = !strcmp(line, "{");
    else if (at == PARAMETERS && *line == ')') at = BEFORE_BODY;
    else if (at == PARAMETERS) good = parse_parameter(f, line);
    else if (starts(line, ".version ")) version = 1;
    else if (starts(line, ".target sm_")) target = 1;
    else if (starts(line, ".visible .entry ")) {
      f = calloc(1, sizeof *f);
      f->next = m->functions;
      m->functions = f;
      sscanf(line + 16, "%63[^( ]", f->name);
      at = PARAMETERS;
    } else good = !strcmp(line, ".address_size 64");
  }
  if (!good || at != TOP || !version || !target || !m->functions) {
    snprintf(last_error, sizeof last_error, "PTX line %d is not understood", number);
    ptx_free(m);
    m = NULL;
  }
  free(copy);
  return m;
}
