// Command kubeadm is upstream's kubeadm at the version of the module. Firstlight never runs it: the benchmark does, as
// the measure to beat, with the same binaries and images on the same machines.
package main

import (
	"k8s.io/kubernetes/cmd/kubeadm/app"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
)

func main() {
	errors.HandleError(app.Run())
}
