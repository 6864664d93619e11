#include "fleet/common/outside.h"

#include <curl/curl.h>

#include <utility>

#include "base/check.h"

namespace fleet {
namespace {

constexpr long redirects_max = 5;

struct Question {
  uv_work_t work = {};
  std::string program = {};
  std::string url = {};
  std::string body = {};
  std::vector<std::string> headers = {};
  Outside::Limits limits = {};
  OutsideAnswer answer = {};
  Outside::Then then = {};
  std::shared_ptr<std::atomic<bool>> over = {};
};

std::size_t take_bytes(char* bytes, std::size_t, std::size_t size, void* asked) {
  auto& question = *static_cast<Question*>(asked);
  std::string& answer = question.answer.body;
  if (answer.size() + size > question.limits.bytes_max) return 0;
  answer.append(bytes, size);
  return size;
}

int is_over(void* question, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return *static_cast<Question*>(question)->over ? 1 : 0;
}

void perform(uv_work_t* work) {
  Question& question = *static_cast<Question*>(work->data);
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(curl_easy_init(), curl_easy_cleanup);
  curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
  for (const std::string& header : question.headers)
    list = curl_slist_append(list, header.c_str());
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(list, curl_slist_free_all);
  curl_easy_setopt(easy.get(), CURLOPT_URL, question.url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, question.limits.timeout_ms);
  curl_easy_setopt(easy.get(), CURLOPT_USERAGENT, question.program.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, take_bytes);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &question);
  curl_easy_setopt(easy.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy.get(), CURLOPT_XFERINFOFUNCTION, is_over);
  curl_easy_setopt(easy.get(), CURLOPT_XFERINFODATA, &question);
  if (question.body.empty()) {
    curl_easy_setopt(easy.get(), CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy.get(), CURLOPT_MAXREDIRS, redirects_max);
  } else {
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, question.body.c_str());
    curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  }
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) {
    question.answer.error = curl_easy_strerror(code);
    return;
  }
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &question.answer.status);
  if (!question.answer.is_good()) {
    question.answer.error = "status " + std::to_string(question.answer.status);
  }
}

}  // namespace

void Outside::ask(const std::string& url, const std::string& body, const Limits& limits, Then then,
                  const std::vector<std::string>& headers) {
  auto question = std::make_unique<Question>();
  question->program = program_;
  question->url = url;
  question->body = body;
  question->headers = headers;
  question->limits = limits;
  question->then = std::move(then);
  question->over = over_;
  question->work.data = question.get();
  const auto done = [](uv_work_t* work, int) {
    const std::unique_ptr<Question> answered(static_cast<Question*>(work->data));
    if (!*answered->over) answered->then(answered->answer);
  };
  uv_work_t* work = &question.release()->work;
  UPGRADER_CHECK(uv_queue_work(&loop_, work, perform, done) == 0);
}

}  // namespace fleet
