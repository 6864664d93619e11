#include "upgrader/core/errno_name.h"

#include <cerrno>
#include <cstring>

#include "agent-protocol/wire/form.h"
#include "upgrader/core/packed_names.h"

namespace upgrader {
namespace {

using agent_protocol::operator""_with;

// A table of our own, since not every C library has strerrorname_np().
constexpr NamedNumber named_errors[] = {{EPERM, "EPERM"},
                                        {ENOENT, "ENOENT"},
                                        {ESRCH, "ESRCH"},
                                        {EINTR, "EINTR"},
                                        {EIO, "EIO"},
                                        {ENXIO, "ENXIO"},
                                        {E2BIG, "E2BIG"},
                                        {ENOEXEC, "ENOEXEC"},
                                        {EBADF, "EBADF"},
                                        {ECHILD, "ECHILD"},
                                        {EAGAIN, "EAGAIN"},
                                        {ENOMEM, "ENOMEM"},
                                        {EACCES, "EACCES"},
                                        {EFAULT, "EFAULT"},
                                        {ENOTBLK, "ENOTBLK"},
                                        {EBUSY, "EBUSY"},
                                        {EEXIST, "EEXIST"},
                                        {EXDEV, "EXDEV"},
                                        {ENODEV, "ENODEV"},
                                        {ENOTDIR, "ENOTDIR"},
                                        {EISDIR, "EISDIR"},
                                        {EINVAL, "EINVAL"},
                                        {ENFILE, "ENFILE"},
                                        {EMFILE, "EMFILE"},
                                        {ENOTTY, "ENOTTY"},
                                        {ETXTBSY, "ETXTBSY"},
                                        {EFBIG, "EFBIG"},
                                        {ENOSPC, "ENOSPC"},
                                        {ESPIPE, "ESPIPE"},
                                        {EROFS, "EROFS"},
                                        {EMLINK, "EMLINK"},
                                        {EPIPE, "EPIPE"},
                                        {EDOM, "EDOM"},
                                        {ERANGE, "ERANGE"},
                                        {EDEADLK, "EDEADLK"},
                                        {ENAMETOOLONG, "ENAMETOOLONG"},
                                        {ENOLCK, "ENOLCK"},
                                        {ENOSYS, "ENOSYS"},
                                        {ENOTEMPTY, "ENOTEMPTY"},
                                        {ELOOP, "ELOOP"},
                                        {ENODATA, "ENODATA"},
                                        {ETIME, "ETIME"},
                                        {EPROTO, "EPROTO"},
                                        {EBADMSG, "EBADMSG"},
                                        {EOVERFLOW, "EOVERFLOW"},
                                        {EILSEQ, "EILSEQ"},
                                        {EUSERS, "EUSERS"},
                                        {ENOTSOCK, "ENOTSOCK"},
                                        {EMSGSIZE, "EMSGSIZE"},
                                        {EOPNOTSUPP, "EOPNOTSUPP"},
                                        {ENOBUFS, "ENOBUFS"},
                                        {ETIMEDOUT, "ETIMEDOUT"},
                                        {ECONNREFUSED, "ECONNREFUSED"},
                                        {ECONNRESET, "ECONNRESET"},
                                        {EALREADY, "EALREADY"},
                                        {EINPROGRESS, "EINPROGRESS"},
                                        {ESTALE, "ESTALE"},
                                        {EDQUOT, "EDQUOT"},
                                        {ECANCELED, "ECANCELED"},
                                        {ELIBBAD, "ELIBBAD"},
                                        {EREMOTEIO, "EREMOTEIO"},
                                        {ENOMEDIUM, "ENOMEDIUM"},
                                        {EKEYREJECTED, "EKEYREJECTED"},
                                        {EKEYEXPIRED, "EKEYEXPIRED"},
                                        {ENOKEY, "ENOKEY"}};

constexpr auto error_names = packed_names<named_errors>();

}  // namespace

std::string errno_name(int error) {
  const char* const name = error_names.find(error);
  return name != nullptr ? name : "E{}"_with(error);
}

std::string in_words(SystemError error) {
  return "{} ({})"_with(std::strerror(error.number), errno_name(error.number));
}

bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
}

}  // namespace upgrader
