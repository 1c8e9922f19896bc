/** The search attributes of deliveries and batches: what an operator filters the workflow list by. */
import { defineSearchAttributeKey } from '@temporalio/common';

export const eshopIdKey = defineSearchAttributeKey('EshopId', 'INT');
export const webhookIdKey = defineSearchAttributeKey('WebhookId', 'INT');
export const webhookTypeKey = defineSearchAttributeKey('WebhookType', 'KEYWORD');
export const entityIdKey = defineSearchAttributeKey('EntityId', 'KEYWORD');
/** The host that the webhook's URL names, in lower case and with its port if it names one. */
export const receiverHostKey = defineSearchAttributeKey('ReceiverHost', 'KEYWORD');
/** `retrying`, `held`, `delivered`, `failed`, `expired` or `canceled`; absent before the first attempt has ended. */
export const deliveryStateKey = defineSearchAttributeKey('DeliveryState', 'KEYWORD');
/** The HTTP status of the last failed attempt; absent when there was no answer. */
export const lastStatusKey = defineSearchAttributeKey('LastStatus', 'INT');
/** Of a batch: the `EntityId` of every delivery that it was started with. */
export const entityIdsKey = defineSearchAttributeKey('EntityIds', 'KEYWORD_LIST');
