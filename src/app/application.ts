/** The API as an application without a port, for the API role and the operators' console. */
import { createApp } from '../api/app.ts';
import type { ApiDeps } from '../api/deps.ts';
import { createExaminer } from '../attempt/examiner.ts';
import { createSignAgain } from '../attempt/sign-again.ts';
import { createTestSender } from '../attempt/test-sender.ts';
import type { Config } from '../config/config.ts';
import { loadDataFiles } from '../config/data-files.ts';
import { MAX_DATABASE_CONNECTIONS } from '../config/variables.ts';
import type { OwnEndpoints } from '../delivery/own-endpoints.ts';
import type { Sender } from '../delivery/sender.ts';
import { version } from '../lib/version.ts';
import { configuredGuard, deliveriesFrom } from './outgoing.ts';

export interface ApplicationParts
  extends Pick<
    ApiDeps,
    | 'sql'
    | 'healthSql'
    | 'isDiskFull'
    | 'keys'
    | 'log'
    | 'temporalState'
    | 'requestAction'
    | 'onAnswer'
    | 'onChangeLoop'
    | 'traces'
  > {
  readonly config: Config;
  /** Never a destination of webhooks. */
  readonly own: OwnEndpoints;
  /** For tests of webhooks. */
  readonly sender: Sender;
}

/** @throws UserError when a data file cannot be used */
export async function createApplication({ config, own, sender, ...given }: ApplicationParts) {
  const { settings } = config;
  const { keys } = given;
  const deps: ApiDeps = {
    ...given,
    version,
    publicUrl: settings.PUBLIC_URL ?? null,
    policy: config.retryPolicy,
    loginLimits: { perAddress: settings.LOGIN_LIMIT_PER_ADDRESS },
    trustProxy: settings.TRUST_PROXY,
    sendTest: createTestSender({ sender, keys }),
    examine: createExaminer({ sender, keys, timeoutMs: config.retryPolicy.attemptTimeoutMs }),
    destinationProblem: configuredGuard(config, own),
    deliveriesFrom: deliveriesFrom(config),
    budget: {
      requests: settings.ESHOP_REQUESTS,
      connections: settings.ESHOP_CONNECTIONS,
      allConnections: MAX_DATABASE_CONNECTIONS,
      bytesPerSecond: settings.ESHOP_MIB_PER_SECOND * 1024 * 1024,
    },
    ...(await loadDataFiles(settings)),
  };
  return { ...deps, api: createApp(deps), signAgain: createSignAgain(keys) };
}
