// Command volume-folder makes or removes the folder of a volume. local-path-provisioner runs it in a pod on the machine
// that has the folder, with the folder above as its only mount: -p is the folder, -a is create or delete. It takes the
// place of upstream's two shell scripts, so that no image with a shell is needed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	path := flag.String("p", "", "the folder of the volume")
	action := flag.String("a", "", "create or delete")
	flag.String("s", "", "size in bytes; a folder has no limit")
	mode := flag.String("m", "", "Filesystem or Block")
	flag.Parse()
	if err := do(*action, *path, *mode); err != nil {
		fmt.Fprintln(os.Stderr, "volume-folder:", err)
		os.Exit(1)
	}
}

func do(action, path, mode string) error {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path || filepath.Dir(path) == "/" {
		return fmt.Errorf("%q is no folder below a folder of volumes", path)
	}
	switch action {
	case "create":
		if mode == "Block" {
			return fmt.Errorf("a folder is no block device")
		}
		// Any user of a pod may write to its volume, and nobody else gets into the folder above. The kubelet makes that
		// one for everybody.
		if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.MkdirAll(path, 0o777); err != nil {
			return err
		}
		return os.Chmod(path, 0o777)
	case "delete":
		return os.RemoveAll(path)
	}
	return fmt.Errorf("%q is neither create nor delete", action)
}
