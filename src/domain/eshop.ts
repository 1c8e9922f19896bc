/** An e-shop as its own users see it (docs/interface.md, N1 and N2). */
import * as v from 'valibot';
import { component, described, recordNumber, strictComponent } from './fields.ts';
import { notificationsPatchSchema, notificationsSchema } from './notifications.ts';

const deliveriesFrom = component('DeliveriesFrom', {
  addresses: described(
    v.array(v.string()),
    'The address ranges (CIDR) that deliveries, tests and examinations come from; empty if the operator has named none.',
  ),
  userAgent: described(v.string(), 'Their `User-Agent`. It changes with the version of the service.'),
});
export type DeliveriesFrom = v.InferOutput<typeof deliveriesFrom>;

export const eshopRecordSchema = component('Eshop', {
  id: recordNumber(),
  name: v.string(),
  email: described(v.string(), 'Where notifications go. The operator changes it.'),
  notifications: described(
    notificationsSchema,
    'Which notices are sent, and where besides `email`, which always gets them. The notice of a deactivation is always sent.',
  ),
  deliveriesFrom: described(deliveriesFrom, 'For a firewall in front of your receiver.'),
});
/** The stored part of an e-shop's record. */
export type EshopRecord = Omit<v.InferOutput<typeof eshopRecordSchema>, 'deliveriesFrom'>;

/** The body of a change; fields left out stay as they are. */
export const eshopPatchSchema = strictComponent('EshopPatch', {
  notifications: v.optional(notificationsPatchSchema),
});

/** Fields that only the operator changes: unchanged in a request, so that a record can be sent back as read. */
export const eshopResponseOnly = ['id', 'name', 'email', 'deliveriesFrom'] as const;
