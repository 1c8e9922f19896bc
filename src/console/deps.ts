/** The dependencies of the console, and the context of its requests. */
import type { Context, Hono, MiddlewareHandler } from 'hono';
import type { ApiDeps, ApiEnv, Session, SignedIn } from '../api/deps.ts';
import type { EshopName } from '../db/console/sessions.ts';
import type { RecoveryAction } from '../domain/recovery.ts';
import type { RecoveryStatus } from '../domain/recovery-progress.ts';
import type { SignAgain } from '../domain/test-delivery.ts';
import type { ApiClient } from './api-client.ts';

/** Pages of Temporal's UI, for the warehouse and for operators. */
export interface TemporalLinks {
  delivery(deliveryId: string): Promise<string | null>;
  /** Lists of workflows. @param eshops only workflows of these; null for all */
  lists(
    about: { readonly webhookId?: number; readonly entityId?: string },
    eshops: readonly number[] | null,
  ): readonly { readonly name: string; readonly url: string }[];
}

/** The parts of a session's owner that do not depend on the e-shop. */
type Authenticated = Pick<Viewer, 'eshops' | 'operator' | 'now'> & {
  readonly user: Omit<Session, 'eshopId'>;
};

export interface Authenticator {
  /** Runs first for every request. */
  readonly guard?: MiddlewareHandler<ConsoleEnv>;
  /** Adds the routes without authentication. */
  routes(app: ConsoleApp): void;
  /** The session id in the cookie of a request. */
  sessionOf(c: Context<ConsoleEnv>): string | undefined;
  /**
   * The owner of a session; null if it has ended.
   * @param seen true if a person asked, false for a page that refreshes itself
   */
  authenticate(id: string, seen: boolean): Promise<Authenticated | null>;
  /**
   * Accepts a form of this session, once.
   * @param form identifies the form
   * @returns false if it was accepted before
   */
  acceptFormOnce(id: string, form: string): Promise<boolean>;
  unauthenticated(c: Context<ConsoleEnv>): Response | Promise<Response>;
}

/** A number, and the path of the list of what it counts, if there is one. */
export type NamedCount = readonly [name: string, value: string, path: string | null];

export interface InstallationStatus {
  /** Problems that need attention, in one sentence each. */
  readonly problems: readonly string[];
  /** The counts; their paths are below the path of all e-shops. */
  readonly counts: readonly NamedCount[];
  /** Everything shown by `waybill status` and `waybill top`. */
  readonly rows: readonly (readonly [string, string])[];
}

export interface ShownRecovery extends RecoveryStatus {
  readonly count: number;
  readonly since: Date;
  readonly createdAt: Date;
}

export interface OperatorDeps {
  installation(): Promise<InstallationStatus>;
  /** The recoveries of all e-shops: those under way, and the newest of the others. */
  recoveries(): Promise<readonly ShownRecovery[]>;
  /** @param comment the reason, and the operator */
  control(
    recoveryId: string,
    action: RecoveryAction,
    comment: string,
  ): Promise<{ readonly done: boolean; readonly message: string }>;
}

export interface ConsoleDeps extends ApiDeps {
  /** The whole API: the console calls it like any client, so that the same rules apply. */
  readonly api: Hono<ApiEnv>;
  readonly signAgain: SignAgain;
  /** Null if the address of Temporal's UI is unknown. */
  readonly temporal: TemporalLinks | null;
  /** Only in the operators' console. */
  readonly operator?: OperatorDeps;
}

export interface Viewer extends SignedIn {
  /** The name of the e-shop that the page is about. */
  readonly eshopName: string;
  /** All e-shops that the person may see. */
  readonly eshops: readonly EshopName[];
  /** Whether the person has the keys of the installation itself. */
  readonly operator: boolean;
  /** Null for an e-shop's user: Temporal's UI shows the workflows of others, too. */
  readonly temporal: TemporalLinks | null;
  /** Part of every form of this session. */
  readonly csrf: string;
}

/** The application at `/console`, which gets the routes of all pages. */
export type ConsoleApp = Hono<ConsoleEnv>;

export interface ConsoleEnv {
  Bindings: ApiEnv['Bindings'];
  Variables: {
    viewer: Viewer;
    api: ApiClient;
    requestId: string;
    /** The fields of a form with a valid token. */
    form: Readonly<Record<string, string>>;
  };
}
