// The main job with the client that oapi-codegen generates; prints what it saw as JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

// check ends the program where a call failed, or was answered with anything but a success.
func check[T any](answer *T, body []byte, err error) *T {
	if err != nil {
		log.Fatal(err)
	}
	if answer == nil {
		log.Fatalf("refused: %s", body)
	}
	return answer
}

func decimal(text string) Decimal {
	var value Decimal
	if err := value.FromDecimal1(text); err != nil {
		log.Fatal(err)
	}
	return value
}

func pointer[T any](value T) *T { return &value }

func main() {
	url, apiKey, username, password := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	ctx := context.Background()
	token := ""
	api, err := NewClientWithResponses(url, WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("x-api-key", apiKey)
		if token != "" {
			request.Header.Set("authorization", "Bearer "+token)
		}
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	session, err := api.LoginWithResponse(ctx, Credentials{Username: username, Password: password})
	token = check(session.JSON200, session.Body, err).Data.Token

	webhook, err := api.CreateWebhookWithResponse(ctx, nil, WebhookCreation{
		Url:         "https://shop.example/hook",
		WebhookType: EventTypeCREATEORDER,
		Active:      true,
		Method:      WebhookCreationMethodPOST,
	})
	created := check(webhook.JSON200, webhook.Body, err).Data
	product, err := api.CreateProductWithResponse(ctx, nil, ProductInput{
		Sku: "TEA", Name: "Tea", Price: pointer(decimal("349.90")), Currency: pointer(Currency("CZK")),
	})
	price := check(product.JSON200, product.Body, err).Data.Price
	made, err := api.CreateOrderWithResponse(ctx, nil, OrderInput{
		EshopOrderId:  "10/1 ž",
		OrderType:     pointer(OrderInputOrderType("b2b")),
		OrderProducts: []OrderProductInput{{Sku: "TEA", Quantity: decimal("1.5"), UnitPrice: pointer(decimal("349.90"))}},
	})
	check(made.JSON200, made.Body, err)
	patched, err := api.PatchOrderWithResponse(ctx, "10/1 ž", OrderPatch{Note: pointer("Ring twice.")})
	order := check(patched.JSON200, patched.Body, err).Data
	inV2, err := api.GetOrderV2WithResponse(ctx, "10/1 ž", nil)
	asText := check(inV2.JSON200, inV2.Body, err).Data.OrderProducts[0].Quantity
	deliveries, err := api.ListDeliveriesWithResponse(ctx, &ListDeliveriesParams{WebhookId: &created.Id})
	found := check(deliveries.JSON200, deliveries.Body, err).Data
	refused, err := api.GetOrderWithResponse(ctx, "none", nil)
	message := check(refused.JSON404, refused.Body, err).Message

	seen, _ := json.Marshal(map[string]any{
		"secret": created.Secret[:6], "price": price, "orderType": order.OrderType, "note": order.Note,
		"asText": asText, "deliveries": len(found), "refused": message,
	})
	fmt.Println(string(seen))
}
