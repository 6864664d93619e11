#include "tests/benchmark/stamp_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ctime>
#include <utility>

#include "tests/benchmark/child.h"

namespace benchmark {

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void StampFile::Unmap::operator()(stamp_page* page) const {
  ::munmap(page, sizeof *page);
}

StampFile::StampFile(std::string path) : path_(std::move(path)) {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(stamp_page)) != 0) give_up("cannot create " + path_);
  void* const mapped =
      ::mmap(nullptr, sizeof(stamp_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) give_up("cannot map " + path_);
  page_.reset(static_cast<stamp_page*>(mapped));
}

std::size_t StampFile::count(stamp_kind kind) const {
  std::size_t found = 0;
  for (const stamp& entry : page_->all) {
    if (__atomic_load_n(&entry.kind, __ATOMIC_ACQUIRE) == kind) ++found;
  }
  return found;
}

std::optional<std::int64_t> StampFile::time_of(stamp_kind kind, std::uint32_t generation) const {
  for (const stamp& entry : page_->all) {
    if (__atomic_load_n(&entry.kind, __ATOMIC_ACQUIRE) == kind && entry.generation == generation) {
      return entry.time_ns;
    }
  }
  return std::nullopt;
}

std::vector<Milliseconds> StampFile::from(stamp_kind last) const {
  std::vector<Milliseconds> found;
  for (std::uint32_t generation = 1;; ++generation) {
    const auto end = time_of(last, generation);
    const auto begin = time_of(stamp_activated, generation + 1);
    if (!end || !begin) return found;
    found.push_back(static_cast<double>(*begin - *end) / 1e6);
  }
}

}  // namespace benchmark
