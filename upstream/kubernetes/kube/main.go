// Command kube is every Kubernetes program of a node in one static file: the control plane, kubelet, kube-proxy and
// kubectl share almost all of their code, so one binary is a quarter of the size of six.
//
// The component is the base name the binary is called by (a link named kubelet is kubelet) or, under any other name,
// its first argument: `kube kubelet --version`. Each component runs exactly as its own upstream main would run it, and
// only that one is constructed: flags, feature gates and metrics are process-wide, so two must never meet.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // time zones of CronJobs, on machines without a zone database

	"github.com/spf13/cobra"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's client auth plugins
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// components maps each name to what runs it; the result is the exit status.
var components = map[string]func() int{
	"kube-apiserver":          server(apiserver.NewAPIServerCommand),
	"kube-controller-manager": server(controllermanager.NewControllerManagerCommand),
	"kube-scheduler":          server(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
	"kube-proxy":              server(proxy.NewProxyCommand),
	"kubelet":                 server(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	"kubectl":                 runKubectl,
}

func server(newCommand func() *cobra.Command) func() int {
	return func() int { return cli.Run(newCommand()) }
}

// runKubectl sets the verbosity before the command is built, because building it already logs (plugins, kuberc).
func runKubectl() int {
	// As upstream: an unreadable verbosity is reported later, by the real flag parsing.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err) // prints kubectl's own form of the error and exits with its status
	}
	return 0
}

func main() {
	run, found := components[filepath.Base(os.Args[0])]
	if !found && len(os.Args) > 1 {
		// Drop our own name: the components read os.Args themselves, kubectl even its first entry.
		if run, found = components[os.Args[1]]; found {
			os.Args = os.Args[1:]
		}
	}
	if !found {
		names := make([]string, 0, len(components))
		for name := range components {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "usage: %s COMPONENT [ARGUMENT...]\ncomponents: %s\n", os.Args[0], strings.Join(names, ", "))
		os.Exit(2)
	}
	os.Exit(run())
}
