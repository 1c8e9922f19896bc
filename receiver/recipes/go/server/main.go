// Command server is a receiver with nothing but Go, and package waybill beside it. The secret comes from the environment.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	waybill "waybill.example/receiver"
)

// More than any delivery needs: a record has at most 256 KiB as JSON.
const maxBytes = 1 << 20

var (
	secrets = []string{os.Getenv("WEBHOOK_SECRET")}
	handled sync.Map // keep it in your database: this one is forgotten with the process
)

func hooks(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil { // it broke off
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := waybill.Verify(secrets, r.Method, r.RequestURI, r.Header, body, time.Now()); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if r.Header.Get("X-Service-Test") == "true" {
		return
	}
	var order struct{ EshopOrderID, RecipientName string }
	if err := json.Unmarshal(body, &order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// The same on every attempt. Looked up and marked at once: two attempts may be here at the same time.
	if _, known := handled.LoadOrStore(r.Header.Get("X-Service-Delivery"), true); !known {
		log.Println("New order", order.EshopOrderID, "of", order.RecipientName)
	}
}

func main() {
	if err := waybill.CheckSecrets(secrets); err != nil {
		log.Fatalf("WEBHOOK_SECRET: %v.", err)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "9000"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(hooks)))
}
