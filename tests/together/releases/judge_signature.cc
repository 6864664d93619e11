// This program verifies signatures as agent-releases does. Each line of standard input has three
// paths: the message, the signature and the public key. For each line, this program writes `good`
// to standard output if the signature is accepted, otherwise `bad`.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tools/agent-releases/core/minisign.h"

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_good(const std::string& message, const std::string& signature, const std::string& key) {
  const auto parsed = agent_releases::parse_public_key(content_of(key));
  return parsed && agent_releases::verify_signature(content_of(message), content_of(signature),
                                                    {parsed.value()});
}

}  // namespace

int main() {
  std::string message;
  std::string signature;
  std::string key;
  while (std::cin >> message >> signature >> key)
    std::cout << (is_good(message, signature, key) ? "good" : "bad") << std::endl;
}
