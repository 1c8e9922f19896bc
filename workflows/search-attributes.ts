/**
 * The search attributes of deliveries: operators filter the list of workflows by them. Each export of this file is
 * one, and is registered.
 */
import { defineSearchAttributeKey } from '@temporalio/common';

export const eshopIdKey = defineSearchAttributeKey('EshopId', 'INT');
export const webhookIdKey = defineSearchAttributeKey('WebhookId', 'INT');
export const webhookTypeKey = defineSearchAttributeKey('WebhookType', 'KEYWORD');
export const entityIdKey = defineSearchAttributeKey('EntityId', 'KEYWORD');
/** The host in the webhook's URL, in lower case, with the port if the URL has one. */
export const receiverHostKey = defineSearchAttributeKey('ReceiverHost', 'KEYWORD');
/** `retrying`, `held`, `delivered`, `failed`, `expired`, `canceled`, `superseded`; absent until an attempt ends. */
export const deliveryStateKey = defineSearchAttributeKey('DeliveryState', 'KEYWORD');
/** The HTTP status of the last failed attempt; absent if there was no response. */
export const lastStatusKey = defineSearchAttributeKey('LastStatus', 'INT');
