/**
 * Resolves names to addresses without libuv's four threads, which a few silent names would block for all. Lookups
 * are bounded in time, and in number per owner (an e-shop): one e-shop's silent names never delay another's.
 * Nothing is cached, and search domains are not tried.
 */
import { type LookupAddress, promises } from 'node:dns';
import pLimit from 'p-limit';
import { atMost } from '../lib/at-most.ts';
import { faultOf, isInternalFault, STALL_MS } from './fault.ts';
import { localNames } from './local-names.ts';
import { hasRoute } from './route.ts';
import { watchedFile } from './watched-file.ts';

interface ResolverOptions {
  /** Name servers as `address` or `address:port`; default: the system's. */
  readonly servers: readonly string[];
  /** The time-out of waiting, looking up and gathering evidence together, in milliseconds. */
  readonly timeoutMs: number;
}

const CROWDED = 'ELOOKUPS';

/** A name without an address. */
export class LookupError extends Error {
  override readonly name = 'LookupError';
  /** c-ares' code, or `ELOOKUPS`: too many lookups of the same owner are under way. */
  readonly code: string;
  /** Whether the failure is internal and not the name's. */
  readonly internal: boolean;

  constructor(hostname: string, code: string, internal: boolean) {
    super(`${hostname} cannot be looked up (${code})`);
    this.code = code;
    this.internal = internal;
  }
}

/** Whether a connection failed because too many lookups of its owner were under way. */
export function areLookupsFull(error: unknown): boolean {
  return error instanceof LookupError && error.code === CROWDED;
}

/** The most lookups of one owner under way at once. */
export const LOOKUPS_AT_ONCE = 16;
/** Once one family has answered, the other gets this much longer, in milliseconds (RFC 8305, section 3). */
const RESOLUTION_DELAY_MS = 50;
/** An answer this recent shows that the resolver works, in milliseconds. */
const FRESH_EVIDENCE_MS = 1_000;
/** A question that every working resolver answers: the name servers of the root. */
const CONTROL_NAME = '.';
const RESOLV_CONF = '/etc/resolv.conf';

/** The answer for one family: addresses, or a code. */
interface FamilyAnswer {
  readonly addresses: readonly LookupAddress[];
  readonly code: string | null;
}

interface OwnerQueue {
  readonly limit: ReturnType<typeof pLimit>;
  readonly underWay: Map<string, Promise<readonly LookupAddress[]>>;
}

export function createResolver({ servers, timeoutMs }: ResolverOptions) {
  const lookupMs = Math.floor(timeoutMs * 0.35);
  const longestWaitMs = Math.floor(timeoutMs * 0.2);
  const controlMs = Math.floor(timeoutMs * 0.2);
  const secondLookupMs = Math.floor(timeoutMs * 0.25);
  const known = localNames();
  const queues = new Map<string, OwnerQueue>();
  let lastAnswerAt = Number.NEGATIVE_INFINITY;
  let control: Promise<boolean> | undefined;

  function open(): promises.Resolver {
    const channel = new promises.Resolver({ timeout: Math.max(50, Math.floor(lookupMs / 3)), tries: 2 });
    if (servers.length > 0) channel.setServers([...servers]);
    return channel;
  }
  // The system's servers may change while the process runs; c-ares reads them only once.
  const channel = watchedFile(servers.length > 0 ? '' : RESOLV_CONF, open);

  async function ask(name: string, family: 4 | 6): Promise<FamilyAnswer> {
    try {
      const found = family === 4 ? await channel().resolve4(name) : await channel().resolve6(name);
      lastAnswerAt = performance.now();
      return { addresses: found.map((address) => ({ address, family })), code: null };
    } catch (error) {
      const code = codeOf(error);
      if (isAnswer(code)) lastAnswerAt = performance.now();
      return { addresses: [], code };
    }
  }

  /** Asks a question that every resolver can answer. Any other answer that arrives first proves the same. */
  async function askControl(): Promise<boolean> {
    const askedAt = performance.now();
    const answered = channel()
      .resolveNs(CONTROL_NAME)
      .then(
        () => true,
        (error: unknown) => isAnswer(codeOf(error)),
      );
    if ((await atMost(controlMs, answered)) === true) lastAnswerAt = performance.now();
    return lastAnswerAt >= askedAt;
  }

  async function answers(): Promise<boolean> {
    if (performance.now() - lastAnswerAt < FRESH_EVIDENCE_MS) return true;
    control ??= askControl().finally(() => {
      control = undefined;
    });
    return await control;
  }

  /** The answers of both families; only one if it has addresses and the other has not answered within the delay. */
  async function gather(families: readonly Promise<FamilyAnswer>[], ms: number): Promise<FamilyAnswer[]> {
    const given: FamilyAnswer[] = [];
    const all = Promise.all(families.map(async (family) => given.push(await family)));
    const enough = Promise.any(families.map(withAddresses)).then(
      () => atMost(RESOLUTION_DELAY_MS, all),
      () => all,
    );
    await atMost(ms, enough);
    return given;
  }

  /**
   * Decides on the addresses of a name. The resolver may have recovered since, so a name without an answer is looked
   * up again once the resolver has shown that it works.
   */
  async function conclude(name: string, families: readonly Promise<FamilyAnswer>[]) {
    const startedAt = performance.now();
    let given = await gather(families, lookupMs);
    const silent = codesOf(given).some((code) => !isAnswer(code)) && addressesOf(given).length === 0;
    const works = !silent || (await answers());
    if (silent && works) given = await gather([ask(name, 4), ask(name, 6)], secondLookupMs);
    const addresses = addressesOf(given);
    if (addresses.length > 0) return addresses.sort((a, b) => a.family - b.family);
    const codes = codesOf(given);
    const stoodStill = performance.now() - startedAt > lookupMs + controlMs + secondLookupMs + STALL_MS;
    const evidence = { resolverAnswers: async () => works && !stoodStill, hasRoute };
    const internal = await isInternalFault(
      codes.map((code) => ({ code, step: 'lookup' })),
      evidence,
    );
    // Of two codes, the one that says more than "no address of this family".
    const code = codes.find((each) => faultOf({ code: each, step: 'lookup' }) !== 'receiver') ?? codes[0];
    throw new LookupError(name, codes.includes('ENOTFOUND') ? 'ENOTFOUND' : (code ?? 'ETIMEOUT'), internal);
  }

  function lookup(owner: string, queue: OwnerQueue, name: string): Promise<readonly LookupAddress[]> {
    return new Promise<readonly LookupAddress[]>((resolve, reject) => {
      let timedOut = false;
      const patience = setTimeout(() => {
        timedOut = true;
        reject(new LookupError(name, CROWDED, true));
      }, longestWaitMs);
      const slot = queue.limit(async () => {
        clearTimeout(patience);
        if (timedOut) return;
        const families = [ask(name, 4), ask(name, 6)];
        const concluded = conclude(name, families).then(resolve, reject);
        // The slot is freed only when all lookups have ended.
        await Promise.all([...families, concluded]);
      });
      void slot.then(() => {
        if (queue.limit.activeCount + queue.limit.pendingCount === 0) queues.delete(owner);
      });
    });
  }

  return {
    /** Whether our resolver answers questions about any name. */
    answers,
    /**
     * @param owner the owner whose lookups wait for each other if there are too many
     * @returns at least one address, IPv4 first
     * @throws LookupError
     */
    async resolve(hostname: string, owner: string): Promise<readonly LookupAddress[]> {
      const name = hostname.toLowerCase().replace(/\.$/, '');
      const local = known(name);
      if (local?.length === 0) throw new LookupError(hostname, 'ENOTFOUND', false);
      if (local !== undefined) return local;
      const queue = queues.get(owner) ?? { limit: pLimit(LOOKUPS_AT_ONCE), underWay: new Map() };
      queues.set(owner, queue);
      const shared = queue.underWay.get(name);
      if (shared !== undefined) return await shared;
      const found = lookup(owner, queue, name).finally(() => queue.underWay.delete(name));
      queue.underWay.set(name, found);
      return await found;
    },
    /** Ends the lookups under way. */
    close(): void {
      channel().cancel();
    },
  };
}

const addressesOf = (given: readonly FamilyAnswer[]) => given.flatMap((answer) => answer.addresses);

const codesOf = (given: readonly FamilyAnswer[]) => [0, 1].map((index) => given[index]?.code ?? 'ETIMEOUT');

/** Whether a code is the resolver's answer about a name, rather than a missing answer. */
const isAnswer = (code: string): boolean => code === 'ENOTFOUND' || code === 'ENODATA';

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'EBADRESP';
}

async function withAddresses(family: Promise<FamilyAnswer>): Promise<void> {
  if ((await family).addresses.length === 0) throw new Error('none of this family');
}
