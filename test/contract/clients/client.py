"""The main job with the client that openapi-python-client generates; prints what it saw as JSON."""

import json
import sys

from waybill import AuthenticatedClient, Client
from waybill.api.authentication import login
from waybill.api.deliveries import list_deliveries
from waybill.api.orders import create_order, get_order, get_order_v2, patch_order
from waybill.api.products import create_product
from waybill.api.webhooks import create_webhook
from waybill.models import (
    Credentials,
    Currency,
    OrderInput,
    OrderInputOrderType,
    OrderPatch,
    OrderProductInput,
    ProductInput,
    WebhookCreation,
    WebhookCreationMethod,
    EventType,
)

base_url, api_key, username, password = sys.argv[1:]
key = {"x-api-key": api_key}
session = login.sync(
    client=Client(base_url, headers=key), body=Credentials(username, password)
)
api = AuthenticatedClient(base_url, token=session.data.token, headers=key)

webhook = create_webhook.sync(
    client=api,
    body=WebhookCreation(
        url="https://shop.example/hook",
        webhook_type=EventType.CREATE_ORDER,
        active=True,
        method=WebhookCreationMethod.POST,
    ),
)
product = create_product.sync(
    client=api,
    body=ProductInput(sku="TEA", name="Tea", price="349.90", currency=Currency.CZK),
)
create_order.sync(
    client=api,
    body=OrderInput(
        eshop_order_id="10/1 ž",
        order_type=OrderInputOrderType.B2B,
        order_products=[OrderProductInput(sku="TEA", quantity=1.5, unit_price="349.90")],
    ),
)
order = patch_order.sync("10/1 ž", client=api, body=OrderPatch(note="Ring twice."))
deliveries = list_deliveries.sync(client=api, webhook_id=webhook.data.id)
print(
    json.dumps(
        {
            "secret": webhook.data.secret[:6],
            "price": product.data.price,
            "orderType": str(order.data.order_type),
            "note": order.data.note,
            "asText": get_order_v2.sync("10/1 ž", client=api).data.order_products[0].quantity,
            "deliveries": len(deliveries.data),
            "refused": get_order.sync("none", client=api).message,
        }
    )
)
