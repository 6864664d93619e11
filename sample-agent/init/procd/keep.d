/opt/sample-agent/
