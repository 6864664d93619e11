# OpenWrt: the directory of the sample agent that sysupgrade keeps. Install this file as
# /lib/upgrade/keep.d/sample-agent.
/opt/sample-agent/
