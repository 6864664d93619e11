// Serves a counter on a TCP port: each connection gets the next number, and no number twice.
//
// hello-agent PORT FILE: FILE holds the last number that was given away. Upgrades, crashes and
// power cuts repeat none, since a number is on the disk before anybody gets it. A number that was
// written, and not sent before a crash, is skipped.
package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	agentprotocol "agent-protocol"
)

func last(path string) (int, error) {
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// next makes the next number durable before it gives it away.
func next(path string) (int, error) {
	number, err := last(path)
	if err != nil {
		return 0, err
	}
	file, err := os.Create(path + ".new")
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if _, err := fmt.Fprint(file, number+1); err != nil {
		return 0, err
	}
	if err := file.Sync(); err != nil {
		return 0, err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return 0, err
	}
	directory, err := os.Open(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	defer directory.Close()
	return number + 1, directory.Sync()
}

func serve(listener net.Listener, path string, done chan<- struct{}) {
	defer close(done)
	for {
		connection, err := listener.Accept()
		if err != nil {
			return // closed: this agent stops
		}
		if number, err := next(path); err == nil {
			fmt.Fprintln(connection, number)
		}
		connection.Close()
	}
}

func main() {
	agent, err := agentprotocol.Open("1.0")
	if err != nil || len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: hello-agent PORT FILE", err)
		os.Exit(2)
	}
	port, path := os.Args[1], os.Args[2]
	agent.AddCheck("counter", func() error { _, err := last(path); return err })
	if agent.Ready() != nil {
		os.Exit(1)
	}
	var listener net.Listener
	served := make(chan struct{})
	for event := range agent.Events() {
		switch event.(type) {
		case agentprotocol.Activate:
			if listener, err = net.Listen("tcp", "127.0.0.1:"+port); err != nil {
				fmt.Fprintln(os.Stderr, "hello-agent:", err)
				os.Exit(1)
			}
			go serve(listener, path, served)
		case agentprotocol.Stop:
			listener.Close()
			<-served // what was begun is finished
			_ = agent.Stopped()
			return
		}
	}
}
