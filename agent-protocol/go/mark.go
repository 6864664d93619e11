// By the mark a process knows that it has been an agent: Open takes the upgrader's variables out of
// the environment, so an agent that has executed itself anew would find no upgrader, and activate
// itself beside the one that is active. What it starts inherits the mark, and is another process.

package agentprotocol

import (
	"os"
	"strconv"
	"strings"
)

const markVariable = "LIBAGENT_PROTOCOL_PROCESS"

const unknownStart = "0"

// startOfProcess is the 22nd field of the process's line in /proc, which executing a program leaves
// as it is.
func startOfProcess() string {
	text, _ := os.ReadFile("/proc/self/stat")
	line := string(text)
	fields := strings.Fields(line[strings.LastIndex(line, ")")+1:]) // the name may hold blanks, too
	if len(fields) <= 22-3 {
		return unknownStart
	}
	return fields[22-3]
}

func leaveMark() error {
	return os.Setenv(markVariable, strconv.Itoa(os.Getpid())+" "+startOfProcess())
}

func hasMark() bool {
	number, start, _ := strings.Cut(os.Getenv(markVariable), " ")
	own := startOfProcess()
	same := start == own || start == unknownStart || own == unknownStart
	return number == strconv.Itoa(os.Getpid()) && same
}
