module agent-protocol

go 1.19
