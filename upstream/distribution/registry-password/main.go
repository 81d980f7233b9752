// Command registry-password writes the file of passwords that the registry reads: one user, whose name and password are
// two files of a mounted Secret. The registry takes only passwords that bcrypt has hashed.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

func main() {
	from := flag.String("from", "", "folder with the files username and password")
	to := flag.String("to", "", "the file to write")
	flag.Parse()
	if err := write(*from, *to); err != nil {
		fmt.Fprintln(os.Stderr, "registry-password:", err)
		os.Exit(1)
	}
}

func write(from, to string) error {
	username, err := os.ReadFile(filepath.Join(from, "username"))
	if err != nil {
		return err
	}
	password, err := os.ReadFile(filepath.Join(from, "password"))
	if err != nil {
		return err
	}
	if len(username) == 0 || len(password) == 0 || strings.ContainsAny(string(username), ":\n") {
		return fmt.Errorf("%s has no usable name and password", from)
	}
	hash, err := bcrypt.GenerateFromPassword(password, bcrypt.DefaultCost)
	if err != nil {
		return err
	}
	return os.WriteFile(to, fmt.Appendf(nil, "%s:%s\n", username, hash), 0o400)
}
