// Package waybill verifies the deliveries of a Waybill warehouse. Go 1.21 or later, nothing else.
//
//	func hooks(w http.ResponseWriter, r *http.Request) {
//		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
//		if err == nil {
//			err = waybill.Verify(secrets, r.Method, r.RequestURI, r.Header, body, time.Now())
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
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far the time of a signature may be off.
const Tolerance = 5 * time.Minute

// Verify says why the request is not a delivery; nil when both signatures are good and not too old.
//
// Each of secrets is all of a secret ("whsec_..."): one, or the new and the old one while a secret is being replaced.
// target is path and query exactly as requested (r.RequestURI), which only GET needs; body is exactly as received.
func Verify(secrets []string, method, target string, header http.Header, body []byte, now time.Time) error {
	var t string
	var service []string
	for _, field := range strings.Split(header.Get("X-Service-Signature"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		switch {
		case name == "t" && t == "":
			t = value
		case name == "v1":
			service = append(service, value)
		}
	}
	seconds, err := strconv.ParseUint(t, 10, 40)
	if err != nil || t != header.Get("webhook-timestamp") {
		return errors.New("X-Service-Signature has no valid timestamp, or it differs from webhook-timestamp")
	}
	id := header.Get("webhook-id")
	if id == "" || id != header.Get("X-Service-Delivery") {
		return errors.New("webhook-id is missing, or differs from X-Service-Delivery")
	}

	content, signed := body, body
	if method == http.MethodGet {
		content, signed = []byte(target), nil
	}
	if !anyEqual(secrets, service, func(secret string) string {
		return hex.EncodeToString(sum([]byte(secret), t, content))
	}) {
		return errors.New("X-Service-Signature does not match: the secret, body, path or query differs")
	}

	var standard []string
	for _, one := range strings.Fields(header.Get("webhook-signature")) {
		if value, ok := strings.CutPrefix(one, "v1,"); ok {
			standard = append(standard, value)
		}
	}
	if !anyEqual(secrets, standard, func(secret string) string {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		return base64.StdEncoding.EncodeToString(sum(key, id+"."+t, signed))
	}) {
		return errors.New("webhook-signature does not match: the id differs")
	}

	if off := now.Sub(time.Unix(int64(seconds), 0)); off > Tolerance || off < -Tolerance {
		return errors.New("the signature is too old, or this clock is wrong")
	}
	return nil
}

func sum(key []byte, prefix string, content []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(prefix + "."))
	mac.Write(content)
	return mac.Sum(nil)
}

func anyEqual(secrets, given []string, make func(secret string) string) bool {
	equal := false
	for _, secret := range secrets {
		made := make(secret)
		for _, one := range given {
			equal = hmac.Equal([]byte(made), []byte(one)) || equal
		}
	}
	return equal
}
