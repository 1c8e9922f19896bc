/** What the API is given when it is made, and what each request carries. */
import type { HttpBindings } from '@hono/node-server';
import type pino from 'pino';
import type { Clock } from '../db/clock.ts';
import type { Pool } from '../db/pool.ts';
import type { Examine } from '../domain/examination.ts';
import type { RequestAction } from '../domain/operator-action.ts';
import type { ShipperCatalogue } from '../domain/order/shipper-services.ts';
import type { RetryPolicy } from '../domain/retry-policy.ts';
import type { Role } from '../domain/role.ts';
import type { SendTest } from '../domain/test-delivery.ts';
import type { Keys } from '../secrets/keys.ts';
import type { Traces } from '../traces/traces.ts';
import type { Allowance, BudgetLimits } from './budget/allowance.ts';

interface Answered {
  /** One of those that some path has, else `other`. */
  readonly method: string;
  readonly status: number;
  /** Until the head of the response, in milliseconds. */
  readonly ms: number;
}

export interface ApiDeps {
  readonly sql: Pool;
  /** A connection of its own for `/readyz`: a busy pool does not mean an unreachable database. */
  readonly healthSql: Pool;
  readonly log: pino.Logger;
  readonly keys: Keys;
  /** For the body of `/readyz` only: the API serves whether Temporal is up or not. */
  readonly temporalState: () => 'up' | 'down' | 'unknown';
  readonly onAnswer?: (answer: Answered) => void;
  /** Absent where traces are off. */
  readonly traces?: Traces;
  /** `perAddress`: failed logins from one address per quarter of an hour (default 300). */
  readonly loginLimits: { readonly perAddress: number };
  /** True when a proxy in front of the API sets `X-Forwarded-For`; otherwise the header is ignored. */
  readonly trustProxy: boolean;
  /** Why the URL of a webhook can never be called, as "must not lead to …"; null when it may be. */
  readonly destinationProblem: (url: string) => string | null;
  readonly policy: RetryPolicy;
  /** Makes one request to a webhook, with a sample. */
  readonly sendTest: SendTest;
  /** Makes a series of them, right and wrong ones. */
  readonly examine: Examine;
  /** Asks something of a delivery under way. Null where this process knows no Temporal server. */
  readonly requestAction: RequestAction | null;
  readonly budget: BudgetLimits;
  /** How often an import asks whether it may go on, in milliseconds (default 2000). */
  readonly importCheckMs?: number;
  readonly version: string;
  /** Where e-shops reach us, without a slash at its end; null where nobody said. */
  readonly publicUrl: string | null;
  readonly shipperCatalogue: ShipperCatalogue;
  /** The values that an order's `marketplace` may have. */
  readonly marketplaces: readonly string[];
}

/** Who is asking: made by the authentication, read as `c.var.session`. */
export interface Session {
  readonly eshopId: number;
  readonly userId: number;
  readonly username: string;
  readonly role: Role;
}

/** Whom the console has let in, by a session of its own. Only who calls the application directly can say so. */
export interface SignedIn {
  readonly session: Session;
  /** By the database's clock. */
  readonly now: Date;
  readonly stillAllowed: () => Promise<boolean>;
}

/** The type parameter of every Hono instance here. */
export interface ApiEnv {
  /** From the HTTP server; absent where the application is called directly, as the console does. */
  Bindings: Partial<HttpBindings> & { readonly signedIn?: SignedIn };
  Variables: {
    /** Absent before the authentication. */
    session: Session;
    /** Asks the database again, for a request that lasts: false once an operator has revoked the session's rights. */
    stillAllowed: () => Promise<boolean>;
    /** The database's, read by the authentication. */
    clock: Clock;
    /** The body as it was received; absent where there is none, and of an import. */
    body?: Uint8Array;
    requestId: string;
    /** The route's pattern, as `/v21/orders/:id`; absent where no route has the path. */
    route?: string;
    /** Absent where no e-shop has been admitted, as at the login. */
    allowance?: Allowance;
  };
}
