// Command pause is the first process of every pod: it holds the pod's namespaces open while containers come and go.
// When the pod shares its process namespace, pause is process 1 there and inherits the orphans, so it must reap them.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

// reap collects every child that has ended. Signals are merged while one is pending, so one SIGCHLD may stand for many.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}

func main() {
	// One channel each: a flood of SIGCHLD must not push out the order to stop.
	stop := make(chan os.Signal, 1)
	child := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	signal.Notify(child, syscall.SIGCHLD)
	reap() // whoever ended before we listened
	for {
		select {
		case <-stop:
			return
		case <-child:
			reap()
		}
	}
}
