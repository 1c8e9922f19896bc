/**
 * `receiver({ secrets, store }).on('CREATE_ORDER', (order) => …)`: from a request to its response, each delivery
 * once.
 */
import { Gone, RetryLater } from './answers.ts';
import { type Delivery, entityIdIn, entityIdInTarget, isKind } from './delivery.ts';
import type { SignatureVersion } from './judgement.ts';
import type { Kind } from './kinds.ts';
import { checkOrder, type Order, recordOf } from './order.ts';
import { checkPayloadVersion } from './payload-version.ts';
import type { Payload, PayloadVersion } from './payloads.generated.ts';
import { type PublicKeys, publicKeySource } from './public-keys.ts';
import { readBody } from './read-body.ts';
import { Refused } from './refused.ts';
import { responseTo } from './responses.ts';
import { type Secrets, secretSource } from './secrets.ts';
import { checkStore, type Store } from './store.ts';
import { verify } from './verify.ts';

/** Options of a receiver: `secrets`, `publicKeys` or both, and a store. */
export type ReceiverOptions<V extends PayloadVersion = 'v2'> = CommonOptions<V> &
  (
    | { readonly secrets: Secrets; readonly publicKeys?: PublicKeys }
    | { readonly secrets?: Secrets; readonly publicKeys: PublicKeys }
  );

interface CommonOptions<V extends PayloadVersion> {
  /** The `secret` of each webhook that calls this receiver. */
  readonly secrets?: Secrets;
  /**
   * The public keys of the e-shop (`GET /eshop/signing-keys`), for webhooks with `asymmetric`. Beside `secrets`:
   * both signatures must match. Without them `v1a` alone must match, which covers the id, the time and the body:
   * kind, sequence, webhook and test mark may be changed in transit, `origin` and `changed` are null, and GET
   * deliveries are refused.
   */
  readonly publicKeys?: PublicKeys;
  /** Remembers handled deliveries. */
  readonly store: Store;
  /**
   * Remembers the last sequence handled of each record (`memoryOrder()`, or three methods on a database): lower
   * ones are acknowledged and not handled. Default: everything is handled, whatever its sequence.
   */
  readonly order?: Order;
  /**
   * The payload version of the webhooks, and so of the types of the payloads (default: `v2`, as for webhooks).
   * Payloads in the other version are refused.
   */
  readonly payloadVersion?: V;
  /** Reads the record that a GET delivery names, as JSON text or object: `api.read`, see `waybill()`. */
  readonly read?: (delivery: Delivery) => Promise<string | object>;
  /**
   * Signatures of which one is enough: the highest of them that a request has (default: `['v3', 'v2']`). `v2` does
   * not cover `origin` and `changed`, which are null then; `v1` also not the sequence, the webhook and the test
   * mark: for receivers behind something that removes headers.
   */
  readonly accept?: readonly SignatureVersion[];
  /** How far the time of a signature may be off, in seconds (default: 300). */
  readonly tolerance?: number;
  /**
   * How long a handler may take, in milliseconds (default: 120,000): after that the process is considered dead, and
   * the next attempt handles the delivery. The sender itself waits for 15 seconds, then tries again later.
   */
  readonly leaseMs?: number;
  /**
   * What to do with a test request (`X-Service-Test`), whose record does not exist. Default `verify`: no handler is
   * called.
   */
  readonly tests?: 'verify' | 'handle';
  /** Path and query as the sender requested them, if a proxy or router has changed them (default: as in the URL). */
  readonly target?: (request: Request) => string;
  /** The identifier in path and query of a GET (default: the part after the last `/` or `=`). */
  readonly entityId?: (target: string) => string;
  /**
   * Called with every problem: a `Refused`, or an error thrown by a handler or the store; not with `Gone` and
   * `RetryLater`, which are thrown on purpose (default: `console.error`).
   */
  readonly onProblem?: (problem: unknown, request: Request) => void;
  /** Milliseconds since 1970 (default: the clock). */
  readonly now?: () => number;
}

/**
 * Handles a delivery. If it throws, the delivery is attempted again; `Gone` and `RetryLater` have their own
 * meaning.
 */
export type Handler<P, K extends string = string> = (payload: P, delivery: Delivery<K>) => unknown;

/**
 * The outcome of a delivery. `repeat`: it was handled before. `stale`: it was not handled, because a later event of
 * its record was handled before. `busy`: it, or another delivery of its record, is being handled elsewhere.
 */
export type Handling = 'handled' | 'repeat' | 'stale' | 'busy';

/** What an adapter knows about a request that its URL may not show. */
export interface RequestContext {
  /** Path and query exactly as on the request line. */
  readonly requestTarget?: string;
}

/** From `Request` to `Response`. Each method returns a new receiver. */
export interface Receiver<V extends PayloadVersion = 'v2'> {
  (request: Request, context?: RequestContext): Promise<Response>;
  /** The same, as runtimes with `export default { fetch }` call it. */
  fetch(request: Request): Promise<Response>;
  /** Handles one or several kinds. */
  on<K extends Kind>(kind: K | readonly K[], handler: Handler<Payload<K, V>, K>): Receiver<V>;
  /** Handles every kind without its own handler. Without it these are answered with 501. */
  otherwise(handler: Handler<Payload<Kind, V>>): Receiver<V>;
  /** Whether there is a handler for this kind. */
  handles(kind: string): boolean;
  /**
   * Claims, handles and remembers a delivery that did not come as a request, such as one from a queue.
   * @param json the record, as JSON text
   * @throws any error of the handler or the store, including `Gone` and `RetryLater`
   */
  handle(delivery: Delivery, json: () => Promise<string>): Promise<Handling>;
  readonly store: Store;
}

/** A handler, with the parsing of its payload. */
type Run = (json: string, delivery: Delivery) => unknown;

interface Handlers {
  readonly byKind: ReadonlyMap<string, Run>;
  readonly otherwise: Run | null;
}

/**
 * A receiver without handlers.
 * @throws TypeError naming what is wrong with the secrets, the public keys or the store
 */
export function receiver<V extends PayloadVersion = 'v2'>(options: ReceiverOptions<V>): Receiver<V> {
  checkStore(options.store);
  checkOrder(options.order);
  const payloadVersion: PayloadVersion = options.payloadVersion ?? 'v2';
  const settings = {
    ...options,
    payloadVersion,
    ...keysOf(options),
    accept: options.accept ?? ['v3', 'v2'],
    tolerance: options.tolerance ?? 300,
    leaseMs: options.leaseMs ?? 120_000,
    now: options.now ?? Date.now,
    onProblem: options.onProblem ?? reported,
  };
  return build<V>(settings, { byKind: new Map(), otherwise: null });
}

/** What is given must be fine, even if the other would do: a variable that is not set must not take a check away. */
function keysOf(options: { readonly secrets?: Secrets; readonly publicKeys?: PublicKeys }) {
  const publicKeys = 'publicKeys' in options ? publicKeySource(options.publicKeys) : null;
  const secrets = 'secrets' in options ? secretSource(options.secrets) : null;
  if (secrets === null && publicKeys === null)
    throw new TypeError('There are neither secrets nor publicKeys: give the receiver one of them.');
  return { secrets, publicKeys };
}

/** Writes to the log of the process. Of a rejected request the message is enough, without the stack. */
function reported(problem: unknown): void {
  console.error(problem instanceof Refused ? problem.message : problem);
}

type Settings = Omit<CommonOptions<PayloadVersion>, 'secrets' | 'publicKeys' | 'payloadVersion'> &
  Required<Pick<ReceiverOptions, 'accept' | 'tolerance' | 'leaseMs' | 'now' | 'onProblem'>> &
  Required<Pick<CommonOptions<PayloadVersion>, 'payloadVersion'>> &
  ReturnType<typeof keysOf>;

function build<V extends PayloadVersion>(settings: Settings, handlers: Handlers): Receiver<V> {
  const runOf = (kind: string) => handlers.byKind.get(kind) ?? handlers.otherwise;

  async function handle(delivery: Delivery, json: () => Promise<string>): Promise<Handling> {
    const run = runOf(delivery.kind);
    if (run === null) throw noHandler(delivery.kind);
    return await withOrdering(settings, delivery, () =>
      once(settings, delivery.id, async () => {
        const text = await json();
        checkPayloadVersion(delivery.kind, text, settings.payloadVersion);
        await run(text, delivery);
      }),
    );
  }

  async function answer(request: Request, context?: RequestContext): Promise<Response> {
    try {
      const received = await receivedOf(request, settings, context);
      const { delivery, json } = await deliveryOf(received, settings);
      if (!delivery.test || settings.tests === 'handle') return responseTo(await handle(delivery, json));
      if (runOf(delivery.kind) === null) throw noHandler(delivery.kind);
      // A test event is in the delivery log, where `reconcile` would find it; an examination checks how a delivery
      // would be treated.
      const handling = await withOrdering(settings, delivery, () =>
        once(settings, delivery.id, async () => {
          // The record of a GET does not exist.
          if (delivery.method === 'POST')
            checkPayloadVersion(delivery.kind, await json(), settings.payloadVersion);
        }),
      );
      return responseTo(handling === 'repeat' || handling === 'stale' ? handling : 'verified');
    } catch (problem) {
      const onPurpose = problem instanceof Gone || problem instanceof RetryLater;
      if (!onPurpose) settings.onProblem(problem, request);
      return responseTo(problem);
    }
  }

  return Object.assign(answer, {
    fetch: (request: Request) => answer(request),
    on<K extends Kind>(kind: K | readonly K[], handler: Handler<Payload<K, V>, K>) {
      const kinds: readonly K[] = typeof kind === 'string' ? [kind] : kind;
      const unknown = kinds.find((each) => !isKind(each));
      if (unknown !== undefined)
        throw new TypeError(`${unknown} is not a kind of event. One that is new belongs in otherwise(…).`);
      const runs = kinds.map((each): [string, Run] => [
        each,
        (json, delivery) => handler(JSON.parse(json), { ...delivery, kind: each }),
      ]);
      return build<V>(settings, { ...handlers, byKind: new Map([...handlers.byKind, ...runs]) });
    },
    otherwise(handler: Handler<Payload<Kind, V>>) {
      const run: Run = (json, delivery) => handler(JSON.parse(json), delivery);
      return build<V>(settings, { ...handlers, otherwise: run });
    },
    handles: (kind: string) => runOf(kind) !== null,
    handle,
    store: settings.store,
  });
}

function noHandler(kind: string): Refused {
  return new Refused(
    'setup',
    501,
    `There is no handler for ${kind}: add .on('${kind}', …) or .otherwise(…).`,
  );
}

/** The request, read completely. @throws Refused */
async function receivedOf(request: Request, { target }: Settings, context?: RequestContext) {
  const { method, headers, url } = request;
  if (method !== 'POST' && method !== 'GET')
    throw new Refused('method', 405, `Deliveries are made with POST or GET, not ${method}.`);
  const { pathname, search } = new URL(url);
  const asRequested = target?.(request) ?? context?.requestTarget ?? `${pathname}${search}`;
  return { method, headers, target: asRequested, body: await readBody(request) } as const;
}

/** The delivery, and a function that gets its record. @throws Refused */
async function deliveryOf(
  received: Awaited<ReturnType<typeof receivedOf>>,
  settings: Settings,
): Promise<{ readonly delivery: Delivery; readonly json: () => Promise<string> }> {
  const { method, target, body } = received;
  const verified = await verify(received, { ...settings, now: settings.now() });
  if (method === 'POST') {
    const text = new TextDecoder().decode(body);
    const delivery = { ...verified, method, entityId: entityIdIn(verified.kind, text) };
    return { delivery, json: async () => text };
  }
  const { read, entityId = entityIdInTarget } = settings;
  const delivery = { ...verified, method, entityId: entityId(target) };
  if (read === undefined) {
    const why = 'A GET delivery says only which record changed';
    throw new Refused('setup', 501, `${why}: give the receiver read, such as that of waybill().`);
  }
  return {
    delivery,
    async json() {
      const record = await read(delivery);
      return typeof record === 'string' ? record : JSON.stringify(record);
    },
  };
}

/**
 * Takes a delivery unless a later one of its record was handled, one at a time. Equal sequences are left to the
 * store: two events of one write have different ones, but an event may come by several webhooks.
 */
async function withOrdering(
  { order, store, leaseMs }: Settings,
  delivery: Delivery,
  handle: () => Promise<Handling>,
): Promise<Handling> {
  const record = recordOf(delivery);
  if (order === undefined || record === null) return await handle();
  const claimant = crypto.randomUUID();
  const last = await order.begin(record, claimant, leaseMs);
  if (last === 'busy') return 'busy';
  const release = () => order.release(record, claimant);
  let handling: Handling = 'stale';
  try {
    if (delivery.sequence >= last) handling = await handle();
    // Settled: `reconcile` must not find it.
    else await store.done(delivery.id);
  } catch (problem) {
    // If the order fails too, the first error matters, and the turn expires by itself.
    await release().catch(() => {});
    throw problem;
  }
  // A repeat advances too: the process that handled it may have died in between.
  if (handling === 'handled' || handling === 'repeat')
    await order.advance(record, claimant, delivery.sequence);
  else await release();
  return handling;
}

/**
 * Does the work if it was not done before, and remembers that it is done. A crash in the middle leaves a claim,
 * which expires.
 * @throws the error of the work; then nothing is remembered, unless it is `Gone`
 */
async function once(
  { store, leaseMs }: Settings,
  id: string,
  work: () => Promise<unknown>,
): Promise<Handling> {
  const claimant = crypto.randomUUID();
  const claim = await store.claim(id, claimant, leaseMs);
  if (claim !== 'claimed') return claim === 'done' ? 'repeat' : 'busy';
  try {
    await work();
  } catch (problem) {
    if (problem instanceof Gone) await store.done(id);
    // If the store fails too, the first error matters, and the claim expires by itself.
    else await store.release(id, claimant).catch(() => {});
    throw problem;
  }
  await store.done(id);
  return 'handled';
}
