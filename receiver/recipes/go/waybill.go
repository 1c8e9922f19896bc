// Package waybill verifies the deliveries of a Waybill warehouse. Go 1.21 or later, nothing else.
//
//	func hooks(w http.ResponseWriter, r *http.Request) {
//		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20)) // a record has at most 256 KiB
//		if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
//			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
//			return
//		}
//		if err != nil { // it broke off
//			http.Error(w, err.Error(), http.StatusBadRequest)
//			return
//		}
//		secrets := secretsOf[r.Header.Get("X-Service-Webhook")] // each webhook has its own
//		err = waybill.Verify(secrets, r.Method, r.RequestURI, r.Header, body, time.Now())
//		if errors.Is(err, waybill.ErrBadSecret) { // our own mistake
//			http.Error(w, "not set up", http.StatusInternalServerError)
//			return
//		}
//		if err != nil {
//			http.Error(w, err.Error(), http.StatusUnauthorized)
//			return
//		}
//		if isNew(r.Header.Get("X-Service-Delivery")) { // the same on every attempt
//			handle(r.Header.Get("X-Service-Event"), body)
//		}
//	}
//
// Take the body as it came, never one that was parsed and written again.
package waybill

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the time of a signature may be off.
const Tolerance = 5 * time.Minute

// A whole secret: generated ("whsec_...", its length is 4n + 2) or your own; which is no quoted text, API key or placeholder.
var (
	generated = regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{32,86}={0,2}$`)
	own       = regexp.MustCompile(`^[!-~][ -~]{22,254}[!-~]$`)
	notOwn    = regexp.MustCompile(`^["'\x60]|^wb_[A-Za-z0-9_-]{43}$|[$#%]\{[^{}]*\}|\$\([^()]*\)|\{\{.*\}\}|^<.*>$|^%.*%$|^\[.*\]$|^\$[A-Za-z_][A-Za-z0-9_]*$`)
)

// ErrBadSecret is a mistake in your own setup, not in the request: answer 500, never 401.
var ErrBadSecret = errors.New("a secret is not set, cut off, in quotes or spaces, or a placeholder")

// signed is what is covered beside the time, method, path, query and body; X-Service-Test is absent where it is no test.
var signed = map[string][]string{
	"v3": {"Delivery", "Event-Id", "Event", "Sequence", "Webhook", "Origin", "Changed", "Test"},
	"v2": {"Delivery", "Event-Id", "Event", "Sequence", "Webhook", "Test"},
}

// CheckSecrets returns ErrBadSecret unless each is a whole secret. Call it at the start, too: anybody can sign with an empty one.
func CheckSecrets(secrets []string) error {
	for _, secret := range secrets {
		whole := own.MatchString(secret) && !notOwn.MatchString(secret)
		if strings.HasPrefix(secret, "whsec_") {
			whole = generated.MatchString(secret) && len(secret)%4 == 2
		}
		if !whole {
			return ErrBadSecret
		}
	}
	return nil
}

// Verify says why the request is not a delivery, or ErrBadSecret; nil when the signature is good and not too old.
//
// secrets are those of the webhook that X-Service-Webhook names, all of each ("whsec_..."): one, or the new and the old one
// while a secret is being replaced. target is path and query exactly as requested (r.RequestURI); body is exactly as received.
func Verify(secrets []string, method, target string, header http.Header, body []byte, now time.Time) error {
	if err := CheckSecrets(secrets); err != nil {
		return err
	}
	fields := fieldsOf(header)
	t := append(fields["t"], "")[0]
	seconds, err := strconv.ParseUint(t, 10, 40)
	if err != nil {
		return errors.New("X-Service-Signature has no valid timestamp")
	}

	version := "v2"
	if len(fields["v3"]) > 0 {
		version = "v3"
	}
	lines := []string{t}
	for _, name := range signed[version] {
		lines = append(lines, header.Get("X-Service-"+name))
	}
	lines = append(lines, method, target, "")
	equal := false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(strings.Join(lines, "\n")))
		mac.Write(body)
		made := hex.EncodeToString(mac.Sum(nil))
		for _, one := range fields[version] {
			equal = hmac.Equal([]byte(made), []byte(one)) || equal
		}
	}
	if !equal {
		return errors.New(version + " of X-Service-Signature does not match: the secret, a header, path, query or body differs")
	}

	if off := now.Sub(time.Unix(int64(seconds), 0)); off > Tolerance || off < -Tolerance {
		return errors.New("the signature is too old, or this clock is wrong")
	}
	return nil
}

// Written says of a verified request who made the change ("shop", "warehouse" or "service"), and the fields that it changed.
// It says nothing where there is no v3, of an older sender: v2 does not cover these headers, and anybody may have set them.
func Written(header http.Header) (origin string, changed []string) {
	if len(fieldsOf(header)["v3"]) == 0 {
		return "", nil
	}
	if list := header.Get("X-Service-Changed"); list != "" {
		changed = strings.Split(list, ",")
	}
	return header.Get("X-Service-Origin"), changed
}

// fieldsOf has the values in X-Service-Signature, by name.
func fieldsOf(header http.Header) map[string][]string {
	fields := map[string][]string{}
	for _, field := range strings.Split(header.Get("X-Service-Signature"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = append(fields[name], value)
	}
	return fields
}
