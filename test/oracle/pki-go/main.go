// Judges keys, certificates and signing requests with the library that every consumer of them is built on.
// Reads one JSON question on stdin, writes one JSON answer on stdout; standard library only.
package main

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log"
	"os"
	"time"
)

type leaf struct {
	Certificate, Key, Signer string
	Server, Client           bool
	Hosts                    []string
}

type question struct {
	At         time.Time
	Leaves     map[string]leaf
	Requests   []string
	SigningKey string
	PublicKey  string
}

type request struct {
	Error                 string
	CommonName            string
	Organizations         []string
	Attributes            int
	DNSNames, IPAddresses []string
	SignedOctets          []int
	EmailAddresses, URIs  []string
	ExtensionIDs          []string
}

type answer struct {
	Complaints map[string][]string
	Requests   []request
}

func main() {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		log.Fatal(err)
	}
	said := answer{Complaints: map[string][]string{"service-account": judgeSigningKey(asked)}}
	for name, leaf := range asked.Leaves {
		said.Complaints[name] = judgeLeaf(leaf, asked.At)
	}
	for _, text := range asked.Requests {
		said.Requests = append(said.Requests, readRequest(text))
	}
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil {
		log.Fatal(err)
	}
}

func judgeLeaf(leaf leaf, at time.Time) []string {
	pair, err := tls.X509KeyPair([]byte(leaf.Certificate), []byte(leaf.Key))
	if err != nil {
		return []string{err.Error()}
	}
	complaints := []string{}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(leaf.Signer)) {
		complaints = append(complaints, "no signer in the bundle")
	}
	// What the server sends besides its leaf.
	between := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if sent, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(sent)
		}
	}
	may := func(usage x509.ExtKeyUsage, want bool) {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{
			Roots: roots, Intermediates: between, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{usage},
		})
		if (err == nil) != want {
			complaints = append(complaints, fmt.Sprintf("usage %d: wanted %t, got %v", usage, want, err))
		}
	}
	may(x509.ExtKeyUsageServerAuth, leaf.Server)
	may(x509.ExtKeyUsageClientAuth, leaf.Client)
	for _, host := range leaf.Hosts {
		if err := pair.Leaf.VerifyHostname(host); err != nil {
			complaints = append(complaints, err.Error())
		}
	}
	if pair.Leaf.VerifyHostname("elsewhere.test") == nil {
		complaints = append(complaints, "is believed for any name")
	}
	return complaints
}

func judgeSigningKey(asked question) []string {
	private, _ := pem.Decode([]byte(asked.SigningKey))
	public, _ := pem.Decode([]byte(asked.PublicKey))
	if private == nil || public == nil {
		return []string{"not PEM"}
	}
	key, err := x509.ParsePKCS8PrivateKey(private.Bytes)
	if err != nil {
		return []string{err.Error()}
	}
	other, err := x509.ParsePKIXPublicKey(public.Bytes)
	if err != nil {
		return []string{err.Error()}
	}
	if mine, ok := key.(*ecdsa.PrivateKey); !ok || !mine.PublicKey.Equal(other) {
		return []string{"the halves do not belong together"}
	}
	return []string{}
}

func readRequest(text string) request {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return request{Error: "not PEM"}
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = parsed.CheckSignature()
	}
	if err != nil {
		return request{Error: err.Error()}
	}
	read := request{
		CommonName:     parsed.Subject.CommonName,
		Organizations:  parsed.Subject.Organization,
		Attributes:     len(parsed.Subject.Names),
		DNSNames:       parsed.DNSNames,
		EmailAddresses: parsed.EmailAddresses,
	}
	for _, address := range parsed.IPAddresses {
		read.IPAddresses = append(read.IPAddresses, address.String())
		// What x509.CreateCertificate writes: the shortest form.
		octets := len(address)
		if short := address.To4(); short != nil {
			octets = len(short)
		}
		read.SignedOctets = append(read.SignedOctets, octets)
	}
	for _, uri := range parsed.URIs {
		read.URIs = append(read.URIs, uri.String())
	}
	for _, extension := range parsed.Extensions {
		read.ExtensionIDs = append(read.ExtensionIDs, extension.Id.String())
	}
	return read
}
