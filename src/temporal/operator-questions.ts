/** Questions of operators as queries of Temporal's list of workflows: one table for all uses. */
import { deliveryWorkflowId, type NamedDelivery } from '../../workflows/delivery-id.ts';
import {
  deliveryStateKey,
  entityIdKey,
  receiverHostKey,
  webhookIdKey,
} from '../../workflows/search-attributes.ts';

/** The form of a searchable id: Temporal's lists do not find one with a quotation mark or backslash. */
export const SEARCHABLE = /^[^"\\]+$/;

interface Subject {
  readonly webhookId: number;
  /** The e-shop's id of an order, product or other record: {@link SEARCHABLE}. */
  readonly entityId: string;
  /** A host that webhooks call, with its port, or without one for any port: {@link SEARCHABLE}. */
  readonly receiver: string;
}

/** The example in the documents, and the command's defaults. */
export const EXAMPLE: Subject = { webhookId: 7, entityId: '10001', receiver: 'shop.example' };

export interface Question {
  readonly name: 'failing' | 'webhook' | 'order' | 'receiver' | 'held' | 'paused';
  readonly question: string;
  readonly query: string;
}

/** The condition that a delivery goes to a host; without a port, to any of its ports. */
function calls(host: string): string {
  const equals = `${receiverHostKey.name} = "${host}"`;
  return /:\d+$/.test(host) ? equals : `(${equals} OR ${receiverHostKey.name} STARTS_WITH "${host}:")`;
}

/** All questions, in the order of the documents. */
export function operatorQuestions({ webhookId, entityId, receiver }: Subject): Question[] {
  const ask = (name: Question['name'], question: string, query: string) => ({ name, question, query });
  const running = (condition: string) => `ExecutionStatus = "Running" AND ${condition}`;
  const isIn = (state: string) => running(`${deliveryStateKey.name} = "${state}"`);
  const toWebhook = running(`${webhookIdKey.name} = ${webhookId}`);
  return [
    ask('failing', 'What is failing now?', isIn('retrying')),
    ask('webhook', `What is under way to webhook ${webhookId}?`, toWebhook),
    ask('order', `What became of record ${entityId}?`, `${entityIdKey.name} = "${entityId}"`),
    ask('receiver', `What is under way to ${receiver}?`, running(calls(receiver.toLowerCase()))),
    ask('held', 'What is held: by an operator, or because its webhook is inactive?', isIn('held')),
    // No list above shows paused workflows. Servers before 1.30 do not know the status.
    ask('paused', 'What has an operator paused in Temporal?', 'ExecutionStatus = "Paused"'),
  ];
}

/** The page of Temporal's UI with a namespace's workflows. @param ui its address, such as `http://127.0.0.1:8233` */
function workflowsUrl(ui: string, namespace: string): string {
  return `${ui.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
}

/** The page of Temporal's UI with the results of a query. */
export function listUrl(ui: string, namespace: string, query: string): string {
  // Unlike `encodeURIComponent`, this encodes parentheses too: a closing one would end a link in Markdown.
  return `${workflowsUrl(ui, namespace)}?${new URLSearchParams({ query })}`.replaceAll('+', '%20');
}

/** The page of Temporal's UI with the workflow of a delivery. */
export function deliveryUrl(ui: string, namespace: string, delivery: NamedDelivery): string {
  const workflowId = deliveryWorkflowId(delivery);
  return `${workflowsUrl(ui, namespace)}/${encodeURIComponent(workflowId)}`;
}
