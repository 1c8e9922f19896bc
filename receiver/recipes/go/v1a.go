package waybill

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// "whpk_" and the base64 of 32 bytes; not all of them zero: anybody can sign for such a key.
var (
	publicKey = regexp.MustCompile(`^whpk_[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$`)
	zeroKey   = regexp.MustCompile(`^whpk_A+=$`)
)

// ErrBadKey is a mistake in your own setup, not in the request: answer 500, never 401.
var ErrBadKey = errors.New(`a public key is not set, cut off, or not the "publicKey" of GET /eshop/signing-keys`)

// CheckPublicKeys returns ErrBadKey unless it is one or more whole public keys. Call it at the start, too.
func CheckPublicKeys(keys []string) error {
	for _, key := range keys {
		if !publicKey.MatchString(key) || zeroKey.MatchString(key) {
			return ErrBadKey
		}
	}
	if len(keys) == 0 {
		return ErrBadKey
	}
	return nil
}

// VerifyV1a verifies the signature for receivers that know public keys and no secret. It says why the request is not a delivery, or
// ErrBadKey; nil when the signature is good and not too old.
//
// It covers X-Service-Delivery, the time and the body, of POST alone. The event type, the webhook, the sequence and the test mark it
// does not cover: where these need protection from more than TLS protects them from, Verify too.
//
// keys are each "publicKey" of GET /eshop/signing-keys ("whpk_..."): one, or two while one is being replaced. body is exactly as
// received.
func VerifyV1a(keys []string, header http.Header, body []byte, now time.Time) error {
	if err := CheckPublicKeys(keys); err != nil {
		return err
	}
	id, t := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	if id != header.Get("X-Service-Delivery") {
		return errors.New("webhook-id is not X-Service-Delivery")
	}
	seconds, err := strconv.ParseUint(t, 10, 40)
	if err != nil {
		return errors.New("webhook-timestamp is not in Unix seconds")
	}
	if len(body) == 0 {
		return errors.New("the body is empty: a GET is verified by v3 alone")
	}

	content := append([]byte(id+"."+t+"."), body...)
	signed := false
	for _, given := range strings.Fields(header.Get("Webhook-Signature")) {
		encoded, isV1a := strings.CutPrefix(given, "v1a,")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		for _, key := range keys {
			public, _ := base64.StdEncoding.DecodeString(key[len("whpk_"):])
			signed = isV1a && err == nil && ed25519.Verify(public, content, signature) || signed
		}
	}
	if !signed {
		return errors.New("v1a of webhook-signature does not match: the public key, webhook-id, the time or the body differs")
	}

	if off := now.Sub(time.Unix(int64(seconds), 0)); off > Tolerance || off < -Tolerance {
		return errors.New("the signature is too old, or this clock is wrong")
	}
	return nil
}
