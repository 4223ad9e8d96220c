// Streams of events: as servers send them, cut into pieces anywhere, and broken.

#include "tests/support/fixture.h"

#include "probe/serving/stream.h"

#include <math.h>
#include <string.h>

#define CHOICE(text, finish)                                                                       \
  "data: {\"choices\":[{\"index\":0,\"text\":\"" text "\",\"finish_reason\":" finish "}]"
#define CHAT(delta, finish)                                                                        \
  "data: {\"choices\":[{\"index\":0,\"delta\":{" delta "},\"finish_reason\":" finish "}]}\n\n"
#define USAGE "\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}"
#define DONE  "data: [DONE]\n\n"

// A count of -1: not reported. A complaint of "": none.
static const struct {
  const char *name, *text;
  size_t chunks;
  long prompt, completion, cached;
  bool is_finished, is_done;
  const char *complaint; // a part of it
} cases[] = {
    {"usage in the last chunk",
     CHOICE("a", "null") "}\n\n" CHOICE("b", "\"length\"") "," USAGE "}\n\n" DONE, 2, 7, 2, -1,
     true, true, ""},
    {"usage in one of its own",
     CHOICE("a", "null") "}\n\n" CHOICE("b", "\"length\"") "}\n\ndata: {\"choices\":[]," USAGE
                                                           "}\n\n" DONE,
     2, 7, 2, -1, true, true, ""},
    {"no usage, and one that is null", CHOICE("a", "\"stop\"") ",\"usage\":null}\n\n" DONE, 1, -1,
     -1, -1, true, true, ""},
    {"usage with every chunk: the last counts",
     CHOICE("a", "null") ",\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\n" CHOICE(
         "b", "null") "," USAGE "}\n\n" DONE,
     2, 7, 2, -1, false, true, ""},
    {"cached tokens",
     "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
     "\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n" DONE,
     0, 7, 2, 4, false, true, ""},
    {"cached tokens in llama-server's timings",
     "data: {\"choices\":[]," USAGE ",\"timings\":{\"cache_n\":3,\"prompt_n\":4}}\n\n" DONE, 0, 7,
     2, 3, false, true, ""},
    {"details that are null",
     "data: "
     "{\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"prompt_tokens_details\":null}}"
     "\n\n",
     0, 7, 2, -1, false, false, ""},
    {"a chat: its role is no text, what it thinks is",
     CHAT("\"role\":\"assistant\",\"content\":\"\"", "null")
         CHAT("\"reasoning_content\":\"h\"", "null") CHAT("\"content\":\"i\"", "null")
             CHAT("", "\"stop\"") DONE,
     2, -1, -1, -1, true, true, ""},
    {"characters of two, three and four bytes, and NUL",
     CHOICE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\\u0000", "null") "}\n\n" DONE, 1, -1, -1, -1,
     false, true, ""},
    {"CRLF, a byte order mark, comments, other fields, no blank behind the colon",
     "\xEF\xBB\xBF: ping\r\nid: 1\r\nretry: 5\r\ndata:{\"choices\":[{\"text\":\"a\"}]}\r\n\r\n"
     ": ping\r\n\r\ndata:[DONE]\r\n\r\n",
     1, -1, -1, -1, false, true, ""},
    {"CR alone", "data: {\"choices\":[{\"text\":\"a\"}]}\r\rdata: [DONE]\r\r", 1, -1, -1, -1, false,
     true, ""},
    {"an event in two lines of data", "data: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\n" DONE, 1,
     -1, -1, -1, false, true, ""},
    {"no blank line at the end", CHOICE("a", "null") "}\n\ndata: [DONE]", 1, -1, -1, -1, false,
     true, ""},
    {"nothing counts behind the end", DONE CHOICE("a", "null") "}\n\n", 0, -1, -1, -1, false, true,
     ""},
    {"nothing", "", 0, -1, -1, -1, false, false, ""},
    {"an error with a message",
     "data: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n", 0, -1, -1, -1, false,
     false, "the server's error: out of memory"},
    {"an error as a text", "event: error\ndata: {\"error\":\"gone\"}\n\n", 0, -1, -1, -1, false,
     false, "the server's error: gone"},
    {"an error without a word", "data: {\"error\":{\"code\":500}}\n\n", 0, -1, -1, -1, false, false,
     "without a message"},
    {"an error that is null", CHOICE("a", "null") ",\"error\":null}\n\n" DONE, 1, -1, -1, -1, false,
     true, ""},
    {"no JSON", CHOICE("a", "null") "}\n\ndata: {\"choices\"\n\n", 1, -1, -1, -1, false, false,
     "an event is not a JSON object"},
    {"another value", "data: [7]\n\n", 0, -1, -1, -1, false, false, "another value"},
    {"half a character", "data: {\"choices\":[{\"text\":\"\xc3\"}]}\n\n", 0, -1, -1, -1, false,
     false, "an event is not a JSON object"},
    {"a count that is a text", "data: {\"usage\":{\"prompt_tokens\":\"7\"}}\n\n", 0, -1, -1, -1,
     false, false, "'prompt_tokens' in usage is not a number of tokens"},
    {"a count below 0", "data: {\"usage\":{\"completion_tokens\":-1}}\n\n", 0, -1, -1, -1, false,
     false, "'completion_tokens' in usage"},
    {"a count with a fraction", "data: {\"usage\":{\"completion_tokens\":2.5}}\n\n", 0, -1, -1, -1,
     false, false, "'completion_tokens' in usage"},
};

enum { CASES = sizeof cases / sizeof cases[0] };

static void expect_case(const struct stream *stream, size_t i) {
  if (stream->chunks != cases[i].chunks || stream->usage.prompt_tokens != cases[i].prompt ||
      stream->usage.completion_tokens != cases[i].completion ||
      stream->usage.cached_tokens != cases[i].cached ||
      stream->is_finished != cases[i].is_finished || stream->is_done != cases[i].is_done ||
      stream->is_wrong != (*cases[i].complaint != '\0') ||
      !strstr(stream->complaint, cases[i].complaint))
    fail_msg("%s: %zu chunks, usage %ld %ld %ld, finished %d, done %d, '%s'", cases[i].name,
             stream->chunks, stream->usage.prompt_tokens, stream->usage.completion_tokens,
             stream->usage.cached_tokens, stream->is_finished, stream->is_done, stream->complaint);
}

static void feed_in_pieces(struct stream *stream, const char *text, size_t piece) {
  const size_t size = strlen(text);
  stream_start(stream);
  for (size_t at = 0; at < size; at += piece)
    stream_feed(stream, text + at, size - at < piece ? size - at : piece, (double)at);
  stream_end(stream, (double)size);
}

static void test_in_pieces_of_any_size(void **state) {
  (void)state;
  struct stream stream = {0};
  for (size_t i = 0; i < CASES; i++)
    for (size_t piece = 1; piece <= strlen(cases[i].text) + 1; piece++) {
      feed_in_pieces(&stream, cases[i].text, piece);
      expect_case(&stream, i);
    }
  stream_free(&stream);
}

static void test_cut_in_two_anywhere(void **state) {
  (void)state;
  struct stream stream = {0};
  for (size_t i = 0; i < CASES; i++)
    for (size_t cut = 0; cut <= strlen(cases[i].text); cut++) {
      stream_start(&stream);
      stream_feed(&stream, cases[i].text, cut, 1);
      stream_feed(&stream, cases[i].text + cut, strlen(cases[i].text) - cut, 2);
      stream_end(&stream, 2);
      expect_case(&stream, i);
    }
  stream_free(&stream);
}

static void feed(struct stream *stream, const char *text, double received_s) {
  stream_feed(stream, text, strlen(text), received_s);
}

// An event has the time of the piece that ends it; events of one piece are one receipt.
static void test_times(void **state) {
  (void)state;
  struct stream stream = {0};
  stream_start(&stream);
  assert_true(isnan(stream.first_s) && isnan(stream.last_s));
  feed(&stream, CHAT("\"role\":\"assistant\"", "null"), 1);
  assert_true(isnan(stream.first_s));
  feed(&stream, "data: {\"choices\":[{\"te", 2);
  feed(&stream, "xt\":\"a\"}]}\n\n", 3);
  assert_true(stream.first_s == 3 && stream.last_s == 3);
  feed(&stream, CHOICE("b", "null") "}\n\n" CHOICE("c", "null") "}\n\n", 4);
  assert_true(stream.first_s == 3 && stream.last_s == 4);
  assert_int_equal(stream.chunks, 3);
  assert_int_equal(stream.receipts, 2);
  feed(&stream, CHOICE("", "null") "}\n\n", 5);
  assert_true(stream.last_s == 5); // a token without text
  feed(&stream, CHOICE("", "\"length\"") "}\n\n", 6);
  assert_true(stream.last_s == 5 && stream.is_finished); // the reason for the end is none
  assert_int_equal(stream.chunks, 3);
  assert_int_equal(stream.receipts, 2);
  feed(&stream, DONE, 7);
  assert_true(stream.first_s == 3 && stream.last_s == 5 && stream.is_done);
  stream_start(&stream);
  feed(&stream, CHOICE("all of it", "null") "}\n\n", 1);
  feed(&stream, CHOICE("", "\"stop\"") "}\n\n" DONE, 2);
  assert_true(stream.first_s == 1 && stream.last_s == 1 && stream.receipts == 1);
  stream_start(&stream);
  assert_true(isnan(stream.first_s) && stream.chunks == 0 && !stream.is_done);
  stream_free(&stream);
}

static void test_endless_line(void **state) {
  (void)state;
  static char much[1 << 16];
  struct stream stream = {0};
  stream_start(&stream);
  memset(much, 'x', sizeof much);
  feed(&stream, "data: ", 0);
  for (size_t i = 0; i <= MAX_EVENT / sizeof much; i++)
    stream_feed(&stream, much, sizeof much, 0);
  assert_true(stream.is_wrong);
  assert_non_null(strstr(stream.complaint, "bytes long"));
  assert_true(stream.line_room <= 2 * MAX_EVENT);
  stream_free(&stream);
}

// A truncated complaint is still text.
static void test_long_complaint(void **state) {
  (void)state;
  struct stream stream = {0};
  for (int lead = 0; lead < 3; lead++) {
    stream_start(&stream);
    feed(&stream, "data: {\"error\":\"", 0);
    feed(&stream, "ab" + lead % 2, 0);
    for (int i = 0; i < 200; i++)
      feed(&stream, "\xe2\x82\xac", 0);
    feed(&stream, "\"}\n\n", 0);
    assert_true(stream.is_wrong);
    assert_in_range(strlen(stream.complaint), MAX_COMPLAINT - 5, MAX_COMPLAINT - 1);
    assert_null(source_invalid_utf8(stream.complaint, strlen(stream.complaint)));
  }
  stream_free(&stream);
}

// Thoughts that the usage counts are hidden unless they came as text.
static void test_hidden_thoughts(void **state) {
  (void)state;
#define THOUGHT(key) "data: {\"choices\":[{\"delta\":{\"" key "\":\"hm\"}}]}\n\n"
#define COUNTED(details)                                                                           \
  "data: {\"choices\":[],\"usage\":{\"completion_tokens\":9," details "}}\n\n"
#define OPENAI "\"completion_tokens_details\":{\"reasoning_tokens\":7}"
  static const struct {
    const char *text;
    bool hides;
  } streams[] = {
      {THOUGHT("content") COUNTED(OPENAI) THOUGHT("content") DONE, true},
      {THOUGHT("content") COUNTED("\"reasoning_tokens\":7") DONE, true},
      {THOUGHT("reasoning_content") THOUGHT("content") COUNTED(OPENAI) DONE, false},
      {THOUGHT("reasoning") COUNTED(OPENAI) DONE, false},
      {THOUGHT("content") COUNTED("\"reasoning_tokens\":0") DONE, false},
      {THOUGHT("content") COUNTED("\"reasoning_tokens\":null") DONE, false},
  };
  struct stream stream = {0};
  for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
    feed_in_pieces(&stream, streams[i].text, 9);
    if (stream.usage.hides_tokens != streams[i].hides || stream.is_wrong)
      fail_msg("%s: hidden %d, '%s'", streams[i].text, stream.usage.hides_tokens, stream.complaint);
  }
  stream_free(&stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hidden_thoughts),     cmocka_unit_test(test_in_pieces_of_any_size),
      cmocka_unit_test(test_cut_in_two_anywhere), cmocka_unit_test(test_times),
      cmocka_unit_test(test_endless_line),        cmocka_unit_test(test_long_complaint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
