#include "base/errno_name.h"

#include <cerrno>
#include <cstring>

#include "base/named_number.h"

namespace upgrader {
namespace {

// This table is needed because not every C library has strerrorname_np().
constexpr NamedNumber named_errors[] = {
    NAMED(EPERM),        NAMED(ENOENT),     NAMED(ESRCH),        NAMED(EINTR),
    NAMED(EIO),          NAMED(ENXIO),      NAMED(E2BIG),        NAMED(ENOEXEC),
    NAMED(EBADF),        NAMED(ECHILD),     NAMED(EAGAIN),       NAMED(ENOMEM),
    NAMED(EACCES),       NAMED(EFAULT),     NAMED(ENOTBLK),      NAMED(EBUSY),
    NAMED(EEXIST),       NAMED(EXDEV),      NAMED(ENODEV),       NAMED(ENOTDIR),
    NAMED(EISDIR),       NAMED(EINVAL),     NAMED(ENFILE),       NAMED(EMFILE),
    NAMED(ENOTTY),       NAMED(ETXTBSY),    NAMED(EFBIG),        NAMED(ENOSPC),
    NAMED(ESPIPE),       NAMED(EROFS),      NAMED(EMLINK),       NAMED(EPIPE),
    NAMED(EDOM),         NAMED(ERANGE),     NAMED(EDEADLK),      NAMED(ENAMETOOLONG),
    NAMED(ENOLCK),       NAMED(ENOSYS),     NAMED(ENOTEMPTY),    NAMED(ELOOP),
    NAMED(ENODATA),      NAMED(ETIME),      NAMED(EPROTO),       NAMED(EBADMSG),
    NAMED(EOVERFLOW),    NAMED(EILSEQ),     NAMED(EUSERS),       NAMED(ENOTSOCK),
    NAMED(EMSGSIZE),     NAMED(EOPNOTSUPP), NAMED(ENOBUFS),      NAMED(ETIMEDOUT),
    NAMED(ECONNREFUSED), NAMED(ECONNRESET), NAMED(EALREADY),     NAMED(EINPROGRESS),
    NAMED(ESTALE),       NAMED(EDQUOT),     NAMED(ECANCELED),    NAMED(ELIBBAD),
    NAMED(EREMOTEIO),    NAMED(ENOMEDIUM),  NAMED(EKEYREJECTED), NAMED(EKEYEXPIRED),
    NAMED(ENOKEY)};

}  // namespace

std::string errno_name(int error) {
  const char* const name = name_in(named_errors, error);
  return name != nullptr ? name : "E{}"_with(error);
}

std::string in_words(SystemError error) {
  return "{} ({})"_with(std::strerror(error.number), errno_name(error.number));
}

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
}

}  // namespace upgrader
