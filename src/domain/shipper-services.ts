/**
 * The carriers and their services (docs/interface.md, O10): the European catalogue in `data/`, or a file of the
 * operator in the same form.
 */
import * as v from 'valibot';
import shipped from './data/shipper-services.json' with { type: 'json' };
import { country, described, text } from './fields.ts';
import { validate } from './validation.ts';

const serviceSchema = v.strictObject({
  value: described(text(64, 1), "The value of an order's `shipperService`."),
  name: text(255, 1),
  countries: v.array(country()),
  pickupPoint: described(
    v.boolean(),
    'Whether the service delivers to pickup points: if so, an order requires a `pickupPoint`; otherwise it must not have one.',
  ),
  cashOnDelivery: described(v.boolean(), 'Whether cash on delivery (payment type 0) is possible.'),
});

/** A carrier in the response of `GET /v2/shipper-service-codes`. */
export const shipperSchema = v.strictObject({
  shipper: described(text(64, 1), "The value of an order's `shipper`."),
  name: text(255, 1),
  services: v.pipe(v.array(serviceSchema), v.minLength(1)),
});
export type ShipperCatalogue = readonly v.InferOutput<typeof shipperSchema>[];

/** @throws Problem 400 naming every wrong field */
export function parseShipperCatalogue(json: unknown): ShipperCatalogue {
  return validate(v.array(shipperSchema), json);
}

export const shippedCatalogue: ShipperCatalogue = parseShipperCatalogue(shipped);
