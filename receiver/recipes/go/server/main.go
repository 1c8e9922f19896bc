// Command server is a receiver with nothing but Go, and package waybill beside it. The secret comes from the environment.
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	waybill "waybill.example/receiver"
)

var (
	secrets = []string{os.Getenv("WEBHOOK_SECRET")}
	handled sync.Map // keep it in your database: this one is forgotten with the process
)

func hooks(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err == nil {
		err = waybill.Verify(secrets, r.Method, r.RequestURI, r.Header, body, time.Now())
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	delivery := r.Header.Get("X-Service-Delivery") // the same on every attempt
	if _, known := handled.Load(delivery); known || r.Header.Get("X-Service-Test") == "true" {
		return
	}
	var order struct{ EshopOrderID, RecipientName string }
	if err := json.Unmarshal(body, &order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	log.Println("New order", order.EshopOrderID, "of", order.RecipientName)
	handled.Store(delivery, true)
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
