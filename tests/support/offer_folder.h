// offer_folder: a folder with two offers and a scenario that uses them, and texts of offers.
#ifndef PERTOKEN_TESTS_SUPPORT_OFFER_FOLDER_H
#define PERTOKEN_TESTS_SUPPORT_OFFER_FOLDER_H

#include "tests/support/fixture.h"

#include "model/evidence/catalog.h"

struct offer_folder {
  struct fixture fixture;
  struct catalog catalog; // the shipped one
  char path[32];
};

// 64 accelerators in USD, without a price.
extern const char offer_head[];

// Of them, by themselves.
#define OFFER_PRICE "[price]\naccelerators = 27500 USD/gpu\n"

// The beginning of an offer that replaces that head.
#define OFFER_OF_A "[offer]\nvendor = A\nreference = B\ndate = 2026-11-02\ncurrency = USD\n"

// A guarantee of serving, and the lengths of its requests.
#define OFFER_SERVED  "[guarantee a]\nmodel = llama-2-70b\nprecision = fp8\nbasis = serving\n"
#define OFFER_LENGTHS "input_tokens = 1024 token\noutput_tokens = 256 token\n"

void offer_folder_start(struct offer_folder *folder);
void offer_folder_end(struct offer_folder *folder);

// Of offer.ini, other.ini or scenario.ini, which are removed with the folder.
const char *offer_folder_path(struct offer_folder *folder, const char *file);

// Writes an offer: after the head, unless it has a head of its own.
void offer_folder_write(struct offer_folder *folder, const char *file, const char *text);

#endif
