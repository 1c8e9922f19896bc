/**
 * `receiver({ secrets, store }).on('CREATE_ORDER', (order) => …)`: from a request to its response, each delivery once.
 */
import { Gone, RetryLater } from './answers.ts';
import { type Delivery, entityIdIn, entityIdInTarget, isKind } from './delivery.ts';
import type { SignatureVersion } from './judgement.ts';
import type { Kind } from './kinds.ts';
import { checkOrder, type Order, recordOf } from './order.ts';
import { checkPayloadVersion } from './payload-version.ts';
import type { Payload, PayloadVersion } from './payloads.generated.ts';
import { readBody } from './read-body.ts';
import { Refused } from './refused.ts';
import { responseTo } from './responses.ts';
import { type Secrets, secretSource } from './secrets.ts';
import { checkStore, type Store } from './store.ts';
import { verify } from './verify.ts';

/** What a receiver is made of. */
export interface ReceiverOptions<V extends PayloadVersion = 'v2'> {
  /** The `secret` of each webhook that calls this receiver. */
  readonly secrets: Secrets;
  /** Remembers what was handled. */
  readonly store: Store;
  /**
   * Remembers how far each record has come (`memoryOrder()`, or three methods on a database): what is below is acknowledged, and not
   * handed on. Default: everything is handed on, whatever its sequence.
   */
  readonly order?: Order;
  /**
   * That of the webhooks. Decides the types of the payloads (default: `v2`, as theirs); if it is given, what comes in the
   * other one is refused.
   */
  readonly payloadVersion?: V;
  /** Reads the record that a GET delivery names, as JSON text or object: `api.read`, see `waybill()`. */
  readonly read?: (delivery: Delivery) => Promise<string | object>;
  /**
   * Which signatures suffice (default: `['v2']`). With `['v1']` nothing covers the sequence, the webhook and whether it is a test: for
   * what stands behind something that removes headers.
   */
  readonly accept?: readonly SignatureVersion[];
  /** How far the time of a signature may be off, in seconds (default: 300). */
  readonly tolerance?: number;
  /**
   * How long a handler may take, in milliseconds (default: 120,000): after it the process is taken for dead, and the
   * next attempt handles the delivery. The sender itself waits for 15 seconds, then tries again later.
   */
  readonly leaseMs?: number;
  /** What a test request (`X-Service-Test`) does, whose record does not exist: default `verify`, no handler is called. */
  readonly tests?: 'verify' | 'handle';
  /** Path and query as the sender requested them, where a proxy or router has changed them (default: as in the URL). */
  readonly target?: (request: Request) => string;
  /** The identifier in path and query of a GET (default: what follows the last `/` or `=`). */
  readonly entityId?: (target: string) => string;
  /**
   * Told whatever went wrong: a `Refused`, or what a handler or the store threw; not `Gone` and `RetryLater`, which are
   * thrown on purpose (default: `console.error`).
   */
  readonly onProblem?: (problem: unknown, request: Request) => void;
  /** Milliseconds since 1970 (default: the clock). */
  readonly now?: () => number;
}

/** What a receiver does with a delivery. Throws to get it again, `Gone` or `RetryLater` on purpose. */
export type Handler<P, K extends string = string> = (payload: P, delivery: Delivery<K>) => unknown;

/**
 * What became of a delivery. `repeat`: it was handled before. `stale`: it was not handed on, since a later event of its record was
 * handled before. `busy`: somebody else is handling it, or another delivery of its record.
 */
export type Taken = 'handled' | 'repeat' | 'stale' | 'busy';

/** What an adapter knows of a request that its URL may not say. */
export interface RequestContext {
  /** Path and query exactly as on the request line. */
  readonly requestTarget?: string;
}

/** From `Request` to `Response`. Each method returns a new receiver. */
export interface Receiver<V extends PayloadVersion = 'v2'> {
  (request: Request, context?: RequestContext): Promise<Response>;
  /** The same, as runtimes with `export default { fetch }` call it. */
  fetch(request: Request): Promise<Response>;
  /** Handles one kind, or several alike. */
  on<K extends Kind>(kind: K | readonly K[], handler: Handler<Payload<K, V>, K>): Receiver<V>;
  /** Handles every kind that has no handler of its own. Without it these are answered with 501. */
  otherwise(handler: Handler<Payload<Kind, V>>): Receiver<V>;
  /** Whether there is a handler for this kind. */
  handles(kind: string): boolean;
  /**
   * Claims, handles and remembers a delivery that did not come as a request, such as one out of a queue.
   * @param json the record, as JSON text
   * @throws what the handler or the store threw, `Gone` and `RetryLater` included
   */
  take(delivery: Delivery, json: () => Promise<string>): Promise<Taken>;
  readonly store: Store;
}

/** A handler behind the parsing of its payload. */
type Run = (json: string, delivery: Delivery) => unknown;

interface Handlers {
  readonly byKind: ReadonlyMap<string, Run>;
  readonly otherwise: Run | null;
}

/**
 * A receiver without handlers.
 * @throws TypeError naming what is wrong with the secrets or the store
 */
export function receiver<V extends PayloadVersion = 'v2'>(options: ReceiverOptions<V>): Receiver<V> {
  checkStore(options.store);
  checkOrder(options.order);
  const settings = {
    ...options,
    secrets: secretSource(options.secrets),
    accept: options.accept ?? ['v2'],
    tolerance: options.tolerance ?? 300,
    leaseMs: options.leaseMs ?? 120_000,
    now: options.now ?? Date.now,
    onProblem: options.onProblem ?? reported,
  };
  return build<V>(settings, { byKind: new Map(), otherwise: null });
}

/** In the log of the process. What was refused is said in a sentence; where it was thrown is of no interest. */
function reported(problem: unknown): void {
  console.error(problem instanceof Refused ? problem.message : problem);
}

type Settings = Omit<ReceiverOptions<PayloadVersion>, 'secrets'> &
  Required<Pick<ReceiverOptions, 'accept' | 'tolerance' | 'leaseMs' | 'now' | 'onProblem'>> & {
    readonly secrets: ReturnType<typeof secretSource>;
  };

function build<V extends PayloadVersion>(settings: Settings, handlers: Handlers): Receiver<V> {
  const runOf = (kind: string) => handlers.byKind.get(kind) ?? handlers.otherwise;

  async function take(delivery: Delivery, json: () => Promise<string>): Promise<Taken> {
    const run = runOf(delivery.kind);
    if (run === null) throw noHandler(delivery.kind);
    return await inOrder(settings, delivery, () =>
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
      if (!delivery.test || settings.tests === 'handle') return responseTo(await take(delivery, json));
      if (runOf(delivery.kind) === null) throw noHandler(delivery.kind);
      // A test event is in the delivery log, where `reconcile` would find it; an examination asks what would become of a delivery.
      const taken = await inOrder(settings, delivery, () => once(settings, delivery.id, async () => {}));
      return responseTo(taken === 'repeat' || taken === 'stale' ? taken : 'verified');
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
    take,
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

/** The request, read whole. @throws Refused */
async function receivedOf(request: Request, { target }: Settings, context?: RequestContext) {
  const { method, headers, url } = request;
  if (method !== 'POST' && method !== 'GET')
    throw new Refused('method', 405, `Deliveries are made with POST or GET, not ${method}.`);
  const { pathname, search } = new URL(url);
  const asRequested = target?.(request) ?? context?.requestTarget ?? `${pathname}${search}`;
  return { method, headers, target: asRequested, body: await readBody(request) } as const;
}

/** What is delivered, and how its record is got. @throws Refused */
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
 * Takes a delivery unless a later one of its record was handled, one at a time. Equal ones are the store's business: both events of
 * a write that fires two have their own, and an event may come by several webhooks.
 */
async function inOrder(
  { order, store, leaseMs }: Settings,
  delivery: Delivery,
  take: () => Promise<Taken>,
): Promise<Taken> {
  const record = recordOf(delivery);
  if (order === undefined || record === null) return await take();
  const claimant = crypto.randomUUID();
  const last = await order.begin(record, claimant, leaseMs);
  if (last === 'busy') return 'busy';
  const release = () => order.release(record, claimant);
  let taken: Taken = 'stale';
  try {
    if (delivery.sequence >= last) taken = await take();
    // Settled: `reconcile` is not to find it.
    else await store.done(delivery.id);
  } catch (problem) {
    // An order that is away says nothing about why the work failed, and the turn runs out by itself.
    await release().catch(() => {});
    throw problem;
  }
  // A repeat advances, too: the process that handled it may have died in between.
  if (taken === 'handled' || taken === 'repeat') await order.advance(record, claimant, delivery.sequence);
  else await release();
  return taken;
}

/**
 * Does the work if nobody has, and remembers that it is done. A crash in the middle leaves a claim, which runs out.
 * @throws what the work threw; then nothing is remembered, unless it is `Gone`
 */
async function once({ store, leaseMs }: Settings, id: string, work: () => Promise<unknown>): Promise<Taken> {
  const claimant = crypto.randomUUID();
  const claim = await store.claim(id, claimant, leaseMs);
  if (claim !== 'claimed') return claim === 'done' ? 'repeat' : 'busy';
  try {
    await work();
  } catch (problem) {
    if (problem instanceof Gone) await store.done(id);
    // A store that is away says nothing about why the work failed, and the claim runs out by itself.
    else await store.release(id, claimant).catch(() => {});
    throw problem;
  }
  await store.done(id);
  return 'handled';
}
