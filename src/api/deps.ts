/** The dependencies of the API, and the variables of each request. */
import type { HttpBindings } from '@hono/node-server';
import type pino from 'pino';
import type { Clock } from '../db/clock.ts';
import type { Pool } from '../db/connection/pool.ts';
import type { Transaction } from '../db/transaction.ts';
import type { ChangeLoop } from '../domain/change-loop.ts';
import type { DeliveriesFrom } from '../domain/eshop.ts';
import type { Examine } from '../domain/examination.ts';
import type { RequestAction } from '../domain/operator-action.ts';
import type { Problem } from '../domain/problem.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import type { Role } from '../domain/role.ts';
import type { ShipperCatalogue } from '../domain/shipper-services.ts';
import type { SendTest } from '../domain/test-delivery.ts';
import type { Keys } from '../secrets/keys.ts';
import type { Traces } from '../traces/traces.ts';
import type { Allowance, BudgetLimits } from './budget/allowance.ts';

export interface ApiDeps {
  readonly sql: Pool;
  /** A connection of its own for `/readyz`: a busy pool does not mean an unreachable database. */
  readonly healthSql: Pool;
  /** Whether statements fail because the database's disk is full; default: never. */
  readonly isDiskFull?: () => boolean;
  readonly log: pino.Logger;
  readonly keys: Keys;
  /** For the body of `/readyz` only: the API serves whether Temporal is up or not. */
  readonly temporalState: () => 'up' | 'down' | 'unknown';
  /** `method`: one that some path supports, or `other`; `ms`: until the head of the response, in milliseconds. */
  readonly onAnswer?: (answer: Readonly<{ method: string; status: number; ms: number }>) => void;
  /** Called for each record that the API changes in a loop, once a minute. */
  readonly onChangeLoop?: (loop: ChangeLoop) => void;
  /** Absent if traces are off. */
  readonly traces?: Traces | undefined;
  /** `perAddress`: failed logins from one address per quarter of an hour (default 300). */
  readonly loginLimits: { readonly perAddress: number };
  /** True when a proxy in front of the API sets `X-Forwarded-For`; otherwise the header is ignored. */
  readonly trustProxy: boolean;
  /**
   * Why a URL can never be called, as "must not lead to …"; null if it may be.
   * @param before the URL that it replaces
   */
  readonly destinationProblem: (url: string, before?: string) => string | null;
  readonly deliveriesFrom: DeliveriesFrom;
  readonly policy: RetryPolicy;
  readonly sendTest: SendTest;
  readonly examine: Examine;
  /** Requests an action for an open delivery. Null if this process knows no Temporal server. */
  readonly requestAction: RequestAction | null;
  readonly budget: BudgetLimits;
  /** How often an import checks whether it may go on, in milliseconds (default 2000). */
  readonly importCheckMs?: number;
  readonly version: string;
  /** The address at which e-shops reach us, without a trailing slash; null if not configured. */
  readonly publicUrl: string | null;
  readonly shipperCatalogue: ShipperCatalogue;
  /** The values that an order's `marketplace` may have. */
  readonly marketplaces: readonly string[];
}

/** The user of a request, set by the authentication. Read it by `c.get`: each use of `c.var` copies all variables. */
export interface Session {
  readonly eshopId: number;
  readonly userId: number;
  readonly username: string;
  readonly role: Role;
}

/** A user whom the console has let in, by its own session. Only a direct caller of the application can set this. */
export interface SignedIn {
  readonly session: Session;
  /** By the database's clock. */
  readonly now: Date;
  readonly stillAllowed: () => Promise<boolean>;
}

/** The type parameter of every Hono instance here. */
export interface ApiEnv {
  /** From the HTTP server; absent if the application is called directly, as by the console. */
  Bindings: Partial<HttpBindings> & {
    readonly signedIn?: SignedIn;
    /** Set when a webhook is replaced: its `active` stays, whatever the body says. */
    readonly keepsActive?: boolean;
    /** Receives the problem that becomes the response, with its list of fields, which no response contains. */
    readonly refused?: (problem: Problem) => void;
  };
  Variables: {
    /** Absent before authentication. */
    session: Session;
    /** Asks the database again, for a long request: false once an operator has revoked the session's rights. */
    stillAllowed: () => Promise<boolean>;
    /** The database's clock, read by the authentication. */
    clock: Clock;
    /** The transaction in which a request with an `Idempotency-Key` does all its work; absent without one. */
    sql?: Transaction;
    /** Whether the route takes an `Idempotency-Key`. */
    acceptsKey?: boolean;
    /** The body as received; absent if there is none, and for an import. */
    body?: Uint8Array;
    requestId: string;
    /** The route's pattern, such as `/v21/orders/:id`; absent if the path has no route. */
    route?: string;
    /** Absent if no e-shop has been admitted, as at the login. */
    allowance?: Allowance;
  };
}
