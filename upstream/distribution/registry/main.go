// Command registry is upstream's registry with the drivers that a registry of one cluster uses: files on a disk, users
// in a file of passwords, and no cloud SDKs. To add a driver, add its import.
package main

import (
	"os"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	if err := registry.RootCmd.Execute(); err != nil {
		os.Exit(1)
	}
}
