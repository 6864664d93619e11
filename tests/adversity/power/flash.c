// A kernel module that simulates a NOR flash for tests, in memory that the kernel does not use. The
// module logs each write and each erase, so that the host can build the content that a power cut
// leaves. As on NOR flash, a write only clears bits, and an erase sets all bits of a block.
//
// A second device, `notes`, does not keep the bytes that are written to it. A program in the
// virtual machine writes notes about its progress to this device. Each note goes into the same log,
// so the log shows between which writes to the flash the note was made.
//
// The log is in the memory after the flash. Its first 8 bytes say how many bytes of entries follow.
// There is one entry for each write, each erase and each note: a `struct head`, and then the bytes
// that were written. An erase has no bytes after its head.
#include <linux/io.h>
#include <linux/module.h>
#include <linux/mtd/mtd.h>
#include <linux/mutex.h>

enum { kind_write = 1, kind_erase = 2, kind_note = 3, note_bytes = 512, length_bytes = 8 };

struct head {
  __le32 kind;
  __le32 offset;
  __le32 length;
};

static unsigned long start, bytes, log_bytes;
static unsigned long block_bytes = 65536;
module_param(start, ulong, 0);  // the address of the memory of the flash and its log
module_param(bytes, ulong, 0);  // the size of the flash, in bytes
// the size in bytes of the log, which follows the flash in memory; with 0, nothing is logged
module_param(log_bytes, ulong, 0);
module_param(block_bytes, ulong, 0);  // the size of an erase block, in bytes

static u8* memory;
static DEFINE_MUTEX(lock);

static int add_to_log(u32 kind, loff_t offset, size_t length, const void* data) {
  u8* log = memory + bytes;
  const struct head head = {cpu_to_le32(kind), cpu_to_le32(offset), cpu_to_le32(length)};
  const size_t data_bytes = data ? length : 0;
  u64 used;
  if (log_bytes == 0) return 0;
  memcpy(&used, log, length_bytes);
  if (length_bytes + used + sizeof head + data_bytes > log_bytes) return -ENOSPC;
  memcpy(log + length_bytes + used, &head, sizeof head);
  if (data) memcpy(log + length_bytes + used + sizeof head, data, length);
  used += sizeof head + data_bytes;
  memcpy(log, &used, length_bytes);
  return 0;
}

static int flash_read(struct mtd_info* mtd, loff_t from, size_t length, size_t* done, u8* to) {
  memcpy(to, memory + from, length);
  *done = length;
  return 0;
}

static int flash_write(struct mtd_info* mtd, loff_t to, size_t length, size_t* done,
                       const u8* from) {
  size_t at;
  int error;
  mutex_lock(&lock);
  error = add_to_log(kind_write, to, length, from);
  for (at = 0; !error && at < length; ++at)
    memory[to + at] &= from[at];
  mutex_unlock(&lock);
  *done = error ? 0 : length;
  return error;
}

static int flash_erase(struct mtd_info* mtd, struct erase_info* erased) {
  int error;
  mutex_lock(&lock);
  error = add_to_log(kind_erase, erased->addr, erased->len, NULL);
  if (!error) memset(memory + erased->addr, 0xff, erased->len);
  mutex_unlock(&lock);
  return error;
}

static int notes_read(struct mtd_info* mtd, loff_t from, size_t length, size_t* done, u8* to) {
  memset(to, 0, length);
  *done = length;
  return 0;
}

static int notes_write(struct mtd_info* mtd, loff_t to, size_t length, size_t* done,
                       const u8* from) {
  int error;
  mutex_lock(&lock);
  error = add_to_log(kind_note, to, length, from);
  mutex_unlock(&lock);
  *done = error ? 0 : length;
  return error;
}

static struct mtd_info flash = {
    .name = "flash",
    .owner = THIS_MODULE,
    .type = MTD_NORFLASH,
    .flags = MTD_CAP_NORFLASH,
    .writesize = 1,
    .writebufsize = 64,
    ._read = flash_read,
    ._write = flash_write,
    ._erase = flash_erase,
};

static struct mtd_info notes = {
    .name = "notes",
    .owner = THIS_MODULE,
    .type = MTD_RAM,
    .flags = MTD_CAP_RAM,
    .size = note_bytes,
    .erasesize = note_bytes,
    .writesize = 1,
    .writebufsize = 1,
    ._read = notes_read,
    ._write = notes_write,
};

static int __init flash_start(void) {
  int error;
  memory = memremap(start, bytes + log_bytes, MEMREMAP_WB);
  if (!memory) return -ENOMEM;
  memset(memory, 0xff, bytes);
  if (log_bytes) memset(memory + bytes, 0, length_bytes);
  flash.size = bytes;
  flash.erasesize = block_bytes;
  error = mtd_device_register(&flash, NULL, 0);
  return error ? error : mtd_device_register(&notes, NULL, 0);
}

module_init(flash_start);
MODULE_DESCRIPTION("A NOR flash in memory, which logs its writes");
MODULE_LICENSE("Dual MIT/GPL");
