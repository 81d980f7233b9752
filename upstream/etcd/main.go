// Command etcd is the server, its client etcdctl and the offline tool etcdutl in one static file. The base name it is
// called by decides; anything but the two tools' names is the server, so that the file may be renamed without harm.
package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdctl/v3/ctlv3"
	"go.etcd.io/etcd/etcdutl/v3/etcdutl"
	"go.etcd.io/etcd/pkg/v3/cobrautl"
	"go.etcd.io/etcd/server/v3/etcdmain"
)

// runEtcdutl builds etcdutl's root command here, because upstream keeps it inside a main package. The subcommands, the
// two flags and their defaults are upstream's.
func runEtcdutl() {
	root := &cobra.Command{Use: "etcdutl", Short: "Work on the files of an etcd member that is not running"}
	flags := root.PersistentFlags()
	flags.DurationVar(&etcdutl.FlockTimeout, "timeout", 10*time.Second, "how long to wait for the lock of the db file, 0 for ever")
	flags.StringVarP(&etcdutl.OutputFormat, "write-out", "w", "simple", "output format: fields, json, protobuf, simple, table")
	root.AddCommand(
		etcdutl.NewDefragCommand(),
		etcdutl.NewSnapshotCommand(),
		etcdutl.NewHashKVCommand(),
		etcdutl.NewVersionCommand(),
		etcdutl.NewCompletionCommand(),
		etcdutl.NewMigrateCommand(),
	)
	if err := root.Execute(); err != nil {
		cobrautl.ExitWithError(cobrautl.ExitError, err)
	}
}

func main() {
	switch filepath.Base(os.Args[0]) {
	case "etcdctl":
		ctlv3.MustStart()
	case "etcdutl":
		runEtcdutl()
	default:
		etcdmain.Main(os.Args)
	}
}
