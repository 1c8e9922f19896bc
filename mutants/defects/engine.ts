/** Temporal: where it comes from, and what is left of it after a power cut. */
import type { Defect } from '../defect.ts';

const gettingTemporal = (...tests: string[]) => [{ file: 'test/unit/temporal-binary.test.ts', tests }];

export const engineDefects: readonly Defect[] = [
  {
    name: 'temporal-a-silent-proxy-is-waited-for',
    file: 'src/embedded/temporal-cli/archive.ts',
    text: 'signal: AbortSignal.any([signal, silent.signal, AbortSignal.timeout(TOTAL_MS)]),',
    replacement: 'signal: AbortSignal.any([signal, AbortSignal.timeout(TOTAL_MS)]),',
    noticed: 'Behind a proxy that swallows the download the first start hangs for minutes.',
    caughtBy: gettingTemporal("Temporal's own download gives way when nothing answers, be it a proxy"),
  },
  {
    name: 'temporal-an-aborted-download-goes-on',
    file: 'src/embedded/temporal-cli/archive.ts',
    text: 'signal: AbortSignal.any([signal, silent.signal, AbortSignal.timeout(TOTAL_MS)]),',
    replacement: 'signal: AbortSignal.any([silent.signal, AbortSignal.timeout(TOTAL_MS)]),',
    noticed: 'Ctrl-C during the first start is ignored until the download has ended.',
    caughtBy: gettingTemporal('a start that is aborted ends a download'),
  },
  {
    name: 'reconciler-leaves-what-waits-for-nothing',
    file: 'src/reconciler/passes.ts',
    text: '        await wakeClosed(repairs);\n',
    replacement: '',
    noticed: 'After a power cut a workflow of a delivered delivery stays open for ever, shown as held.',
    caughtBy: [
      {
        file: 'test/faults/temporal-power-cut.test.ts',
        tests: ['what happened in those moments is not repeated, and what was accepted in them arrives'],
      },
    ],
  },
  {
    name: 'workers-remember-more-than-temporal',
    file: 'src/app/worker-role.ts',
    text: '          renewal.abort(why);\n',
    replacement: '',
    noticed: 'After Temporal was restored from a backup deliveries wait for a minute longer than planned.',
    caughtBy: [
      {
        file: 'test/faults/temporal-power-cut.test.ts',
        tests: ['set back while a worker lives on: every delivery goes on behind its last attempt'],
      },
    ],
  },
  {
    name: 'reconciler-wakes-the-deaf',
    file: 'src/reconciler/repair.ts',
    text: "if (verdict?.action !== 'woken' || !(await executions.isDeaf(workflowId))) return verdict;",
    replacement: "if (verdict?.action !== 'woken' || workflowId !== '') return verdict;",
    noticed: 'After a quick restore of Temporal a failing delivery is woken for ever and never attempted.',
    caughtBy: [
      {
        file: 'test/faults/temporal-power-cut.test.ts',
        tests: ['set back before anybody noticed that it was away: every delivery goes on all the same'],
      },
    ],
  },
];
