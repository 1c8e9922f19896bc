/** Notices, whose workflows the relay starts: it checks each again until it is sent. */
import type { Logger } from 'pino';
import { noticeWorkflowId } from '../../workflows/notice-types.ts';
import type { PendingNotice } from '../db/notices/pending.ts';
import type { StartNotice } from '../temporal/start-notice.ts';
import type { Executions } from './executions.ts';

/**
 * Starts the workflow of a notice, and replaces one whose tasks keep failing: no later start would, and the notice
 * would never be sent.
 */
export function startOrReplace(
  start: StartNotice,
  { find }: Pick<Executions, 'find'>,
  log: Logger,
): (notice: PendingNotice) => Promise<void> {
  return async (notice) => {
    if (await start(notice)) return;
    const found = await find(noticeWorkflowId(notice.id));
    if (found.as !== 'running' || !found.failing) return;
    await start(notice, 'running');
    log.warn(
      { noticeId: notice.id, eshopId: notice.eshopId },
      'a notice whose workflow could not go on is started again',
    );
  };
}
