/**
 * A real name server for tests, over UDP on a free port of 127.0.0.1.
 *
 * @example
 * const dns = await startDnsServer({ 'shop.example': ['127.0.0.1'], 'mute.example': 'silent' });
 * createSender({ dnsServers: [dns.address], … });
 * dns.set('shop.example', ['10.0.0.5']);
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { type Answer, decode, encode, RECURSION_AVAILABLE, RECURSION_DESIRED } from 'dns-packet';

/** Addresses (none: the name exists without any), or the way in which the query fails. */
export type DnsAnswer = readonly string[] | 'silent' | 'nxdomain' | 'servfail' | 'refused';

export interface DnsServer {
  /** `127.0.0.1:<port>` */
  readonly address: string;
  /** The names queried so far, one entry per query: `shop.example A`. */
  readonly questions: readonly string[];
  /** Changes the answer from now on. */
  set(name: string, answer: DnsAnswer): void;
  /** `false`: stops answering altogether; `true`: answers again. */
  answerAll(answering: boolean): void;
  close(): Promise<void>;
}

const RCODES = { servfail: 2, nxdomain: 3, refused: 5 } as const;
/** The name queried to find out whether a resolver works. */
const ROOT = '.';

/**
 * Starts a name server. Names not given do not exist; the root does unless given otherwise.
 * @param names by name, or by name and type: `shop.example AAAA`
 */
export async function startDnsServer(names: Readonly<Record<string, DnsAnswer>>): Promise<DnsServer> {
  const known = new Map(Object.entries(names));
  const questions: string[] = [];
  let answering = true;
  const socket = createSocket('udp4');

  function records(name: string, type: string, addresses: readonly string[]): Answer[] {
    if (type === 'A' || type === 'AAAA') {
      const family = type === 'A' ? 4 : 6;
      return addresses
        .filter((address) => isIP(address) === family)
        .map((data) => ({ type, name, ttl: 300, data }));
    }
    return type === 'NS' ? [{ type, name, ttl: 300, data: 'a.root-servers.net' }] : [];
  }

  socket.on('message', (message, from) => {
    const { id, questions: asked = [] } = decode(message);
    const [question] = asked;
    if (question === undefined) return;
    const { name, type } = question;
    questions.push(`${name} ${type}`);
    const answer = known.get(`${name} ${type}`) ?? known.get(name) ?? (name === ROOT ? [] : 'nxdomain');
    if (!answering || answer === 'silent') return;
    const code = typeof answer === 'string' ? RCODES[answer] : 0;
    const response = encode({
      type: 'response',
      ...(id === undefined ? {} : { id }),
      flags: RECURSION_DESIRED | RECURSION_AVAILABLE | code,
      questions: asked,
      answers: typeof answer === 'string' ? [] : records(name, type, answer),
    });
    socket.send(response, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    get questions() {
      return questions;
    },
    set(name, answer) {
      known.set(name, answer);
    },
    answerAll(now) {
      answering = now;
    },
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}
