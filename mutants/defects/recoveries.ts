/** Recoveries: nothing missing, nothing twice, and nobody's turn taken. */
import type { Defect } from '../defect.ts';

const api = (...tests: string[]) => [{ file: 'test/api/recoveries.test.ts', tests }];
const workflow = (...tests: string[]) => [{ file: 'test/workflow/recovery.test.ts', tests }];
const LOST = 'src/db/recoveries/lost-events.ts';
const STORED = 'src/db/recoveries/recoveries.ts';

export const recoveryDefects: readonly Defect[] = [
  {
    name: 'recovery-that-is-over-is-started-again',
    file: 'src/temporal/start-recovery.ts',
    text: '      if (ended) return await signalWorkflow(client, recoveryWorkflowId(id), { name: recoveryChangedSignal });\n',
    replacement: '',
    noticed: 'A recovery that was canceled in Temporal is shown there as completed.',
    caughtBy: workflow("canceled with Temporal's own button: it is canceled for the e-shop too"),
  },
  {
    name: 'recovery-forgets-what-was-delivered-since',
    file: LOST,
    text: 'where not settled and became',
    replacement: 'where became',
    noticed: 'A receiver gets again what it has accepted in the meantime.',
    caughtBy: api(
      'what is found by all that became of the event here: what was delivered again, or is being delivered, is not lost',
    ),
  },
  {
    name: 'recovery-pages-past-what-it-found',
    file: LOST,
    text: '  if (events.length === limit) return { events, lookedAtId: events.at(-1)?.id ?? after, last: false };\n',
    replacement: '',
    noticed: 'Of many lost events a recovery delivers the first few.',
    caughtBy: api('a recovery lets only a bounded number wait, and goes on as they are taken'),
  },
  {
    name: 'recovery-begun-twice',
    file: STORED,
    text: '  if (known !== undefined) {',
    replacement: '  if (known !== undefined && known.exhausted) {',
    noticed: 'Whoever asks twice is told of a conflict with the recovery that was asked for.',
    caughtBy: api('a recovery asked for at the same moment by many, is one'),
  },
  {
    name: 'recovery-goes-on-although-paused',
    file: 'src/db/recoveries/step.ts',
    text: "if (state === 'paused' || webhookInactive) {",
    replacement: 'if (webhookInactive) {',
    noticed: 'A paused recovery goes on.',
    caughtBy: api(
      'its control paused it creates nothing, resumed it goes on, canceled it ends; each twice is as good as once',
    ),
  },
  {
    name: 'recovery-takes-the-turn-of-what-is-fresh',
    file: 'src/relay/deliveries.ts',
    text: '    if (!ranks.mayClaim(rank)) return options.tickMs;\n',
    replacement: '',
    noticed: 'New events wait behind those of a recovery.',
    caughtBy: workflow('a relay hands over nothing that is recovered while something fresh waits'),
  },
  {
    name: 'recovery-is-not-told-of-its-webhook',
    file: 'src/db/outbox/changes.ts',
    text: '  await enqueueRecoveriesOf(tx, webhookId);\n',
    replacement: '',
    noticed: 'A recovery whose webhook was inactive goes on only when the reconciler finds that it is late.',
    caughtBy: api('its control each change is for the relay to pass on'),
  },
];
