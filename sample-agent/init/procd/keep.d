# OpenWrt: what sysupgrade keeps of the sample agent. As /lib/upgrade/keep.d/sample-agent.
/opt/sample-agent/
