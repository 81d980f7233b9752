// Command ignition-oracle lets upstream Ignition judge configs in bulk: one process, one JSON request per line on
// standard input, one JSON answer per line on standard output, in the same order. It is a tool of the tests and never
// part of a release. It only calls Ignition's public packages: what it says is what the real program would say, and no
// rule of its own may enter here.
//
// Requests (unknown fields are refused, so that a typo cannot pass as a question):
//
//	{"op":"validate","config":C,"version":V}   is C a good config?
//	{"op":"parse","config":C,"version":V}      the same, and the config as Ignition understood it ("parsed")
//	{"op":"convert-up","config":C,"version":V} C of that or an older spec as a config of spec V ("config")
//	{"op":"merge","parent":C,"child":C}        both converted up to 3.5, then merged as the fetch stage does ("config")
//
// C is a string with the exact bytes of a config (also empty or broken ones), a string of base64 when the request says
// "base64":true, or plain JSON, whose bytes are taken as they stand. V, "3.0" to "3.5" or "3.6-experimental", is the
// newest spec the asked Ignition knows; without it, 3.5. An "id" of any type comes back with the answer.
//
// Answers: {"id", "verdict", "error", "entries", "parsed" | "config", "transcript"}. The verdict is "error" when
// Ignition would refuse, "warning" when it would go on but complain, else "fine". "error" is the cause Ignition gives as
// a whole. An entry is {"kind", "path", "line", "column", "message"}; in a merge also {"of": "parent" | "child" |
// "merged"}. A request that cannot be understood has {"misuse"} and no verdict.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/coreos/ignition/v2/config/merge"
	"github.com/coreos/ignition/v2/config/v3_0"
	"github.com/coreos/ignition/v2/config/v3_1"
	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_3"
	"github.com/coreos/ignition/v2/config/v3_4"
	"github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/ignition/v2/config/v3_6_experimental"
	"github.com/coreos/vcontext/report"
	"github.com/coreos/vcontext/validate"
)

type request struct {
	ID      json.RawMessage `json:"id"`
	Op      string          `json:"op"`
	Config  json.RawMessage `json:"config"`
	Parent  json.RawMessage `json:"parent"`
	Child   json.RawMessage `json:"child"`
	Version string          `json:"version"`
	Base64  bool            `json:"base64"`
}

type answer struct {
	ID         json.RawMessage `json:"id,omitempty"`
	Misuse     string          `json:"misuse,omitempty"`
	Verdict    string          `json:"verdict,omitempty"`
	Error      string          `json:"error,omitempty"`
	Entries    []entry         `json:"entries"`
	Parsed     any             `json:"parsed,omitempty"`
	Config     any             `json:"config,omitempty"`
	Transcript []mapping       `json:"transcript,omitempty"`
}

type entry struct {
	Of      string `json:"of,omitempty"`
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	Line    int64  `json:"line,omitempty"`
	Column  int64  `json:"column,omitempty"`
	Message string `json:"message"`
}

// mapping says where one field of a merged config came from.
type mapping struct {
	Of   string `json:"of"`
	From string `json:"from"`
	To   string `json:"to"`
}

type parser func(raw []byte) (any, report.Report, error)

// defaultSpec is the newest stable spec of the Ignition release in go.mod, the one Firstlight writes.
const defaultSpec = "3.5"

// parsers hold, for each spec, a parser that knows it and every older one.
var parsers = map[string]parser{
	"3.0":              untyped(v3_0.ParseCompatibleVersion),
	"3.1":              untyped(v3_1.ParseCompatibleVersion),
	"3.2":              untyped(v3_2.ParseCompatibleVersion),
	"3.3":              untyped(v3_3.ParseCompatibleVersion),
	"3.4":              untyped(v3_4.ParseCompatibleVersion),
	"3.5":              untyped(v3_5.ParseCompatibleVersion),
	"3.6-experimental": untyped(v3_6_experimental.ParseCompatibleVersion),
}

func untyped[C any](parse func([]byte) (C, report.Report, error)) parser {
	return func(raw []byte) (any, report.Report, error) { return parse(raw) }
}

func (a *answer) add(of string, rpt report.Report) {
	for _, e := range rpt.Entries {
		said := entry{Of: of, Kind: e.Kind.String(), Path: e.Context.String(), Message: e.Message}
		if start := e.Marker.StartP; start != nil {
			said.Line, said.Column = start.Line, start.Column
		}
		a.Entries = append(a.Entries, said)
	}
}

// judge sums up: Ignition refuses a config when it returns an error or when an entry of the report is one.
func (a *answer) judge(err error) {
	a.Verdict = "fine"
	for _, e := range a.Entries {
		if e.Kind == "error" || (e.Kind == "warning" && a.Verdict == "fine") {
			a.Verdict = e.Kind
		}
	}
	if err != nil {
		a.Verdict, a.Error = "error", err.Error()
	}
}

// content is the config that a request carries, byte by byte.
func content(field json.RawMessage, isBase64 bool) ([]byte, error) {
	switch {
	case len(field) == 0:
		return nil, fmt.Errorf("a config is missing")
	case isBase64:
		var raw []byte
		err := json.Unmarshal(field, &raw) // encoding/json reads a string into bytes as base64
		return raw, err
	case field[0] == '"':
		var text string
		err := json.Unmarshal(field, &text)
		return []byte(text), err
	default:
		return field, nil
	}
}

func parse(req request, a *answer) error {
	spec := req.Version
	if spec == "" {
		spec = defaultSpec
	}
	parseSpec, known := parsers[spec]
	if !known {
		return fmt.Errorf("unknown version %q", spec)
	}
	raw, err := content(req.Config, req.Base64)
	if err != nil {
		return err
	}
	config, rpt, err := parseSpec(raw)
	a.add("", rpt)
	a.judge(err)
	if a.Verdict != "error" {
		switch req.Op {
		case "parse":
			a.Parsed = config
		case "convert-up":
			a.Config = config
		}
	}
	return nil
}

// mergePair does what the fetch stage does to a config and one it refers to: parse both, merge, and run the per-type
// validators (not the search for duplicates) once more over the result.
func mergePair(req request, a *answer) error {
	if req.Version != "" || req.Config != nil {
		return fmt.Errorf("merge takes a parent and a child")
	}
	parentRaw, err := content(req.Parent, req.Base64)
	if err != nil {
		return fmt.Errorf("parent: %w", err)
	}
	childRaw, err := content(req.Child, req.Base64)
	if err != nil {
		return fmt.Errorf("child: %w", err)
	}
	parent, rpt, err := v3_5.ParseCompatibleVersion(parentRaw)
	a.add("parent", rpt)
	if err != nil {
		a.judge(fmt.Errorf("parent: %w", err))
		return nil
	}
	child, rpt, err := v3_5.ParseCompatibleVersion(childRaw)
	a.add("child", rpt)
	if err != nil {
		a.judge(fmt.Errorf("child: %w", err))
		return nil
	}
	// v3_5.Merge is this call with the transcript thrown away.
	merged, transcript := merge.MergeStructTranscribe(parent, child)
	a.Config = merged
	for _, m := range transcript.Mappings {
		a.Transcript = append(a.Transcript, mapping{Of: m.From.Tag, From: m.From.String(), To: m.To.String()})
	}
	a.add("merged", validate.Validate(merged, "json"))
	a.judge(nil)
	return nil
}

func dispatch(req request, a *answer) (err error) {
	defer func() {
		// A panic is a finding about upstream, not a reason to lose the other answers of the batch.
		if cause := recover(); cause != nil {
			err = fmt.Errorf("ignition panicked: %v", cause)
		}
	}()
	switch req.Op {
	case "validate", "parse", "convert-up":
		return parse(req, a)
	case "merge":
		return mergePair(req, a)
	default:
		return fmt.Errorf("unknown op %q", req.Op)
	}
}

func respond(line []byte) answer {
	var req request
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&req)
	a := answer{ID: req.ID, Entries: []entry{}}
	if err == nil {
		err = dispatch(req, &a)
	}
	if err != nil {
		return answer{ID: req.ID, Misuse: err.Error(), Entries: []entry{}}
	}
	return a
}

func run(input io.Reader, output io.Writer) error {
	in, out := bufio.NewReaderSize(input, 1<<20), bufio.NewWriter(output)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		line, readErr := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := encoder.Encode(respond(line)); err != nil {
				return err
			}
		}
		// Flush when no further request waits, so that one who asks and waits is answered.
		if readErr != nil || in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if readErr == io.EOF {
			return nil
		}
		if readErr != nil {
			return readErr
		}
	}
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ignition-oracle:", err)
		os.Exit(1)
	}
}
