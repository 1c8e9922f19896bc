/**
 * Examines a receiver: a series of marked test requests, of which some must be accepted and the others refused. The
 * caller supplies the function that makes a request, so that the server and the kit's command share the rest.
 */
import {
  BEHIND_A_FIREWALL,
  type Language,
  languageOf,
  type RowName,
  remedyOf,
  SAME_AS_VALID,
  UNREPORTED,
  unansweredRemedy,
} from './remedies.ts';
import { type Step, type Subject, seriesOf, type TestRequest } from './series.ts';

/** The answer to one request. */
export interface Answer {
  /** Null if there was no answer. */
  readonly status: number | null;
  /** Why there was none, as a sentence. */
  readonly error: string | null;
  readonly durationMs: number;
  /** The firewall in front of the receiver that refused the request; absent if none is known. */
  readonly firewall?: string;
  /** By name in lower case: at least `location`, `server`, `x-powered-by` and `x-waybill-handled`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** `fail`: a requirement is not met. `warning`: something will cause trouble. */
export type Verdict = 'ok' | 'warning' | 'fail';

export interface Row {
  readonly name: RowName;
  /** The request, for people. */
  readonly sent: string;
  /** The answer, for people. */
  readonly received: string;
  readonly verdict: Verdict;
  /** How to fix it, as a sentence; null if there is nothing to fix. */
  readonly remedy: string | null;
}

export interface Examination {
  readonly rows: readonly Row[];
  /** The slowest answer to a valid request, in milliseconds; null if there was none. */
  readonly answerMs: number | null;
  /** False if it ended early: the receiver did not answer, or the time was up. */
  readonly complete: boolean;
}

interface Verdicts {
  readonly rows: readonly { readonly verdict: Verdict }[];
}

export interface ExaminationOptions {
  readonly subject: Subject;
  /** Makes a request. @param timeoutMs its time limit */
  readonly send: (request: TestRequest, timeoutMs: number) => Promise<Answer>;
  /** When the receiver's certificate expires; null if it has none. */
  readonly certificateEnd?: () => Promise<Date | null>;
  /** Time limit for an attempt, in milliseconds (default: 15,000). */
  readonly timeoutMs?: number;
  /** Time limit for the whole examination, in milliseconds (default: 100,000). */
  readonly deadlineMs?: number;
}

/** An answer is slow if it takes longer than this share of an attempt's time limit. */
const SLOW_SHARE = 1 / 3;
const DAY_MS = 86_400_000;
const CERTIFICATE_DAYS = 30;

/** @throws what `send` throws */
export async function examine(options: ExaminationOptions): Promise<Examination> {
  const { subject, send, certificateEnd, timeoutMs = 15_000, deadlineMs = 100_000 } = options;
  const end = performance.now() + deadlineMs;
  const rows: Row[] = [];
  const right: Answer[] = [];
  const all: Answer[] = [];
  let complete = true;

  for (const step of seriesOf(subject)) {
    const timed = (request: TestRequest) =>
      send(request, Math.max(1, Math.min(timeoutMs, end - performance.now())));
    const answers: Answer[] = [];
    if (step.together === true) answers.push(...(await Promise.all(step.requests.map(timed))));
    else for (const request of step.requests) answers.push(await timed(request));
    // The deadline cut this request short, so it says nothing about the receiver.
    if (performance.now() >= end) {
      complete = false;
      break;
    }
    all.push(...answers);
    const answered = all.some(({ status }) => status !== null);
    if (step.expected === 'accepted') right.push(...answers);
    const row = judged(step, answers, languageOf(Object.assign({}, ...all.map(({ headers }) => headers))));
    if (!answered) rows.push({ ...row, remedy: unansweredRemedy(answers[0]?.error ?? null) });
    else rows.push(isAsFirst(step, row, rows[0]) ? { ...row, remedy: SAME_AS_VALID } : row);
    // If the first request gets no answer, the others reveal nothing.
    if (!answered) {
      complete = false;
      break;
    }
  }
  const times = right.filter(({ status }) => status !== null).map(({ durationMs }) => durationMs);
  const answerMs = times.length === 0 ? null : Math.max(...times);
  if (answerMs !== null) rows.push(answerTime(answerMs, timeoutMs), redirects(all));
  const ends = complete ? ((await certificateEnd?.()) ?? null) : null;
  if (ends !== null) rows.push(certificate(ends, subject.now));
  return { rows, answerMs, complete };
}

/** The exit code of a command: 0 nothing failed, 2 something failed, 3 the examination is incomplete. */
export function exitCodeOf({ rows, complete }: Pick<Examination, 'complete'> & Verdicts): 0 | 2 | 3 {
  if (rows.some(({ verdict }) => verdict === 'fail')) return 2;
  return complete ? 0 : 3;
}

/** Too many requests, or overload: answers that do not depend on the request. */
const UNTELLING = [429, 503];
const tells = ({ status, firewall }: Answer) =>
  status !== null && !UNTELLING.includes(status) && firewall === undefined;

const isAccepted = ({ status }: Answer) => status !== null && status >= 200 && status < 300;

/** The different answers, in a few words. */
function received(answers: readonly Answer[]): string {
  const said = answers.map(({ status, error, firewall, headers }) => {
    const handled = headers['x-waybill-handled'];
    if (firewall !== undefined) return `${status} from a firewall (${firewall})`;
    return status === null
      ? (error ?? 'no answer')
      : `${status}${handled === undefined ? '' : `, ${handled}`}`;
  });
  return [...new Set(said)].join('; ');
}

function judged(step: Step, answers: readonly Answer[], language: Language | null): Row {
  const { name, sent } = step;
  const verdict = verdictOf(step, answers);
  return {
    name,
    sent,
    received: received(answers),
    verdict,
    remedy: verdict === 'ok' ? null : remedyFor(step, answers, language),
  };
}

function remedyFor(step: Step, answers: readonly Answer[], language: Language | null): string {
  if (answers.some(({ firewall }) => firewall !== undefined)) return BEHIND_A_FIREWALL;
  return isUnreported(step, answers) ? UNREPORTED : remedyOf(step.name, language);
}

/** Whether a request was refused as it must be, but perhaps not because of its signature. */
function isUnreported({ expected }: Step, answers: readonly Answer[]): boolean {
  return expected !== 'accepted' && !answers.some(isAccepted) && !answers.every(tells);
}

/** Whether it fails for the same reason as the valid request of the first row, so not for one of its own. */
function isAsFirst({ expected }: Step, row: Row, first: Row | undefined): boolean {
  const failed = row.verdict === 'fail' && first?.verdict === 'fail';
  return expected === 'accepted' && failed && row.received === first.received;
}

function verdictOf(step: Step, answers: readonly Answer[]): Verdict {
  const { expected, handled } = step;
  if (isUnreported(step, answers)) return 'warning';
  if (expected !== 'accepted') {
    if (!answers.some(isAccepted)) return 'ok';
    return expected === 'joined' ? 'warning' : 'fail';
  }
  if (!answers.every(isAccepted)) return 'fail';
  const said = answers.map(({ headers }) => headers['x-waybill-handled']);
  const fits = (word: string | undefined) =>
    handled === undefined || word === undefined || handled.some((each) => each === word);
  return said.every(fits) ? 'ok' : 'fail';
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(ms < 1_000 ? 2 : 1)} s`;

function answerTime(answerMs: number, timeoutMs: number): Row {
  const slow = answerMs > timeoutMs * SLOW_SHARE;
  return {
    name: 'answer time',
    sent: 'all valid requests',
    received: `${seconds(answerMs)} at most, of ${seconds(timeoutMs)}`,
    verdict: slow ? 'warning' : 'ok',
    remedy: slow ? remedyOf('answer time', null) : null,
  };
}

function redirects(answers: readonly Answer[]): Row {
  const found = answers.find(({ status }) => status !== null && status >= 300 && status < 400);
  const location = found?.headers.location;
  return {
    name: 'redirects',
    sent: 'all requests',
    received:
      found === undefined ? 'none' : `${found.status}${location === undefined ? '' : ` to ${location}`}`,
    verdict: found === undefined ? 'ok' : 'warning',
    remedy: found === undefined ? null : remedyOf('redirects', null),
  };
}

function certificate(ends: Date, now: Date): Row {
  const soon = ends.getTime() - now.getTime() < CERTIFICATE_DAYS * DAY_MS;
  return {
    name: 'certificate',
    sent: 'a connection with TLS',
    received: `valid until ${ends.toISOString().slice(0, 10)}`,
    verdict: soon ? 'warning' : 'ok',
    remedy: soon ? remedyOf('certificate', null) : null,
  };
}
