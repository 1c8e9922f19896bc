/**
 * `receiver({ secrets, store }).on('CREATE_ORDER', (order) => …)`: from a request to its response, each delivery
 * once.
 */
import { Gone, RetryLater } from './answers.ts';
import { type Delivery, entityIdIn, entityIdInTarget, isKind } from './delivery.ts';
import type { Kind } from './kinds.ts';
import { once, withOrdering } from './once.ts';
import type {
  CommonOptions,
  Handler,
  Handling,
  Receiver,
  ReceiverOptions,
  RequestContext,
} from './options.ts';
import { checkOrder } from './order.ts';
import { checkPayloadVersion } from './payload-version.ts';
import type { Payload, PayloadVersion } from './payloads.generated.ts';
import { type PublicKeys, publicKeySource } from './public-keys.ts';
import { readBody } from './read-body.ts';
import { Refused } from './refused.ts';
import { responseTo } from './responses.ts';
import { type Secrets, secretSource } from './secrets.ts';
import { checkStore } from './store.ts';
import { verify } from './verify.ts';

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
  const settings = {
    ...options,
    ...keysOf(options),
    accept: options.accept ?? ['v3', 'v2'],
    tolerance: options.tolerance ?? 300,
    leaseMs: options.leaseMs ?? 120_000,
    now: options.now ?? Date.now,
    onProblem: options.onProblem ?? reported,
  };
  return build<V>(settings, { byKind: new Map(), otherwise: null });
}

/** Both must be valid if given, even if one would do: a variable that is not set must not remove a check. */
function keysOf(options: { readonly secrets?: Secrets; readonly publicKeys?: PublicKeys }) {
  const publicKeys = 'publicKeys' in options ? publicKeySource(options.publicKeys) : null;
  const secrets = 'secrets' in options ? secretSource(options.secrets) : null;
  if (secrets === null && publicKeys === null)
    throw new TypeError('There are neither secrets nor publicKeys: give the receiver one of them.');
  return { secrets, publicKeys };
}

/** Writes to the log of the process. For a rejected request the message is enough, without the stack. */
function reported(problem: unknown): void {
  console.error(problem instanceof Refused ? problem.message : problem);
}

type Settings = Omit<CommonOptions<PayloadVersion>, 'secrets' | 'publicKeys'> &
  Required<Pick<ReceiverOptions, 'accept' | 'tolerance' | 'leaseMs' | 'now' | 'onProblem'>> &
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
      // A test event is in the delivery log, where `reconcile` would find it, and an examination checks how a
      // delivery would be treated.
      const handling = await withOrdering(settings, delivery, () =>
        once(settings, delivery.id, async () => {
          // The record that a GET test names does not exist.
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
