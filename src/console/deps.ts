/** What the console is given when it is made, and what each of its requests carries. */
import type { Context, Hono, MiddlewareHandler } from 'hono';
import type { ApiDeps, ApiEnv, Session, SignedIn } from '../api/deps.ts';
import type { EshopName } from '../db/console/sessions.ts';
import type { SentEvent } from '../domain/payload.ts';
import type { TestDeliveryResult, WebhookWithSecrets } from '../domain/test-delivery.ts';
import type { ApiClient } from './api-client.ts';
import type { OperatorDeps } from './operator/deps.ts';

export type SignedRequest = TestDeliveryResult['request'];

export type SignAgain = (asked: {
  readonly deliveryId: string;
  readonly number: number;
  /** Whose secrets sign. */
  readonly webhook: WebhookWithSecrets;
  readonly event: SentEvent;
}) => SignedRequest;

/** Pages of Temporal's UI, for the warehouse and for operators. */
export interface TemporalLinks {
  /** The workflow of a delivery: its own, or the batch that holds it. */
  delivery(deliveryId: string): Promise<string | null>;
  /** Lists of workflows. @param eshops only of these; null: of all */
  lists(
    about: { readonly webhookId?: number; readonly entityId?: string },
    eshops: readonly number[] | null,
  ): readonly { readonly name: string; readonly url: string }[];
}

/** Who is let in. */
interface Authenticated {
  readonly user: Omit<Session, 'eshopId'>;
  /** All that it may look at. */
  readonly eshops: readonly EshopName[];
  /** Has the keys of the installation itself. */
  readonly operator: boolean;
  /** By the database's clock. */
  readonly now: Date;
}

/** How a request for a page is authenticated. */
export interface Authenticator {
  /** What every request passes first. */
  readonly guard?: MiddlewareHandler<ConsoleEnv>;
  /** Needs no authentication. */
  readonly routes: Hono<ConsoleEnv>;
  /** What the cookie of a request says. */
  sessionOf(c: Context<ConsoleEnv>): string | undefined;
  /**
   * Whose session it is; null where it is over.
   * @param seen a person asked, not a page that refreshes itself
   */
  authenticate(id: string, seen: boolean): Promise<Authenticated | null>;
  /**
   * Takes a form of this session, once.
   * @param form what tells it from every other
   * @returns false where it was taken before
   */
  takeForm(id: string, form: string): Promise<boolean>;
  /** Answers who is not let in. */
  unauthenticated(c: Context<ConsoleEnv>): Response | Promise<Response>;
}

export interface ConsoleDeps
  extends Pick<
    ApiDeps,
    | 'sql'
    | 'keys'
    | 'log'
    | 'onAnswer'
    | 'loginLimits'
    | 'trustProxy'
    | 'policy'
    | 'version'
    | 'requestAction'
  > {
  /** The whole API: the console asks it as any client does, so that its rules are the same. */
  readonly api: Hono<ApiEnv>;
  readonly signAgain: SignAgain;
  /** Where people reach the console; null where nobody said. */
  readonly publicUrl: string | null;
  /** Aborted once the process is to stop: what is being followed ends. */
  readonly stopping?: AbortSignal;
  /** Null where nobody knows the address of Temporal's UI. */
  readonly temporal: TemporalLinks | null;
  /** Left out where the console is not the operators'. */
  readonly operator?: OperatorDeps;
}

/** Who looks at a page. */
export interface Viewer extends SignedIn {
  /** Of the e-shop that the page is about. */
  readonly eshopName: string;
  /** All that it may look at, that one included. */
  readonly eshops: readonly EshopName[];
  readonly operator: boolean;
  /** Null for who is of an e-shop: in Temporal's UI there are those of others. */
  readonly temporal: TemporalLinks | null;
  /** Stands in every form of this session. */
  readonly csrf: string;
}

export interface ConsoleEnv {
  Bindings: ApiEnv['Bindings'];
  Variables: {
    viewer: Viewer;
    api: ApiClient;
    requestId: string;
    /** Of a form whose token was right. */
    form: Readonly<Record<string, string>>;
  };
}
