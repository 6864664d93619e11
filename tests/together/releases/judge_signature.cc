// This program verifies a signature as agent-releases does.
//
// usage: judge_signature MESSAGE SIGNATURE KEY
//
// Exits with 0 if the signature is accepted.
#include <fstream>
#include <iostream>
#include <iterator>

#include "tools/agent-releases/core/minisign.h"

namespace {

std::string content_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int, char** argv) {
  const auto key = agent_releases::parse_public_key(content_of(argv[3]));
  if (!key) return 1;
  const auto good =
      agent_releases::verify_signature(content_of(argv[1]), content_of(argv[2]), {key.value()});
  std::cout << (good ? good.value() : good.reason()) << '\n';
  return good ? 0 : 1;
}
