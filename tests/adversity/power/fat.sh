#!/bin/busybox sh
# The init of the virtual machine of tests/adversity/power/fat. Starts the upgrader three times:
# with --control, with --previous, and without these two options. Prints the upgrader's exit status
# and messages each time. The agent exits with status 0 as soon as it is active, and then the
# upgrader exits, too.
. /common.sh

mount -t "$FS" /dev/vda /data || tell 'mounted: no'
cat >/data/agent <<'AGENT'
#!/bin/sh
echo '{"type":"hello","protocol":1,"version":"1"}'
echo '{"type":"ready"}'
read -r welcome
read -r activate
exit 0
AGENT
chmod 755 /data/agent
ln -s /data/agent /run/agent

# usage: try NAME [OPTION...]
try() {
  name=$1
  shift
  timeout 30 /bin/upgrader --log-level=error "$@" 2>/run/log
  tell "$name: $? $(tr '\n' ';' </run/log)"
}

try control --control=/data/control /data/agent
try previous --relink --previous=/data/previous /run/agent
try plain /data/agent
tell 'over'
poweroff -f
