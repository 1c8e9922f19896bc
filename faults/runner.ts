/** A runner: plays one round after the other on its own stack. */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createShutdown, type Shutdown } from '../src/lib/shutdown.ts';
import { isUndecided, type Verdict } from './check/check.ts';
import { violation } from './check/violation.ts';
import type { EmbeddedFault } from './fault.ts';
import type { Round } from './plan.ts';
import { type Played, playRound, type RoundOptions } from './round.ts';
import { type EmbeddedStack, startEmbeddedStack } from './stack/embedded.ts';
import { type BasicStack, type Stack, startStack } from './stack/stack.ts';
import { TooSlowError } from './too-slow.ts';

/** Plays rounds. */
export interface Runner {
  /** Never throws: a round that could not be played is broken; one that met too slow a machine is played again. */
  play(round: Round): Promise<Played>;
}

/**
 * How often at most a round is played if the machine is too slow for it. Too low: a round that needs every workflow
 * to begin within its first wait counts as broken. Too high: it is reported later that a machine is too slow for
 * anything.
 */
const PLAYS = 10;

/**
 * A runner whose stacks start when they are needed.
 * @param shutdown receives the functions that stop them
 */
export function createRunner(shutdown: Shutdown, options: RoundOptions, say: (text: string) => void): Runner {
  const whole = onDemand<Stack>(shutdown, (own) => startStack(own, say));
  const embedded = onDemand<EmbeddedStack>(shutdown, (own) => startEmbeddedStack(own, false));
  const onSmallDisk = onDemand<EmbeddedStack>(shutdown, (own) => startEmbeddedStack(own, true));
  const embeddedFor = (fault: EmbeddedFault) => (fault.smallDisk === true ? onSmallDisk : embedded);
  const stackOf = ({ fault }: Round) => ('embedded' in fault ? embeddedFor(fault) : whole);

  async function play(round: Round, discarded: readonly string[] = [], plays = 1): Promise<Played> {
    const { fault } = round;
    let tooSlow: readonly string[];
    try {
      const played =
        'embedded' in fault
          ? await playRound(await embeddedFor(fault).get(), round, fault, options)
          : await playRound(await whole.get(), round, fault, options);
      const { verdict, busyMs, tookMs } = played;
      if (!isUndecided(verdict, busyMs, tookMs) || plays === PLAYS) return { ...played, discarded };
      tooSlow = verdict.violations.map(({ text }) => text);
      await stackOf(round).stop();
    } catch (error) {
      if (!(error instanceof TooSlowError) || plays === PLAYS) throw error;
      tooSlow = [error.message];
    }
    say(`again  ${round.index}: the machine was too slow: ${tooSlow.join('; ')}`);
    return await play(round, [...discarded, ...tooSlow], plays + 1);
  }

  return {
    async play(round) {
      const played = await play(round).catch((error: unknown) => notPlayed(round, error));
      if (played.verdict.violations.length === 0) return played;
      const logFile = join(tmpdir(), `waybill-faults-${round.seed}-${round.index}.log`);
      const programs = stackOf(round).running()?.programs ?? [];
      await writeFile(logFile, programs.map((program) => program.output()).join('\n'));
      // A broken round may have left anything behind.
      await stackOf(round).stop();
      return { ...played, logFile };
    },
  };
}

/** A stack that is started on demand, also after it was stopped. */
function onDemand<S extends BasicStack>(shutdown: Shutdown, start: (own: Shutdown) => Promise<S>) {
  let own: Shutdown | undefined;
  let stack: S | undefined;
  const stop = async () => {
    await own?.stop();
    own = undefined;
    stack = undefined;
  };
  return {
    async get(): Promise<S> {
      if (stack !== undefined) return stack;
      own = createShutdown();
      // If it was stopped in between, stopping it again does nothing.
      await shutdown.add(own.stop);
      stack = await start(own);
      return stack;
    },
    running: () => stack,
    stop,
  };
}

function notPlayed(round: Round, error: unknown): Played {
  const unplayed = error instanceof Error ? error.message : String(error);
  const violations = [violation('wrong', `the round could not be played: ${unplayed}`)];
  const nothing = { accepted: 0, delivered: 0, repeated: 0, withoutWorkflow: 0, latestMs: 0, killedAt: [] };
  const verdict: Verdict = { ...nothing, violations };
  return { round, verdict, tookMs: 0, busyMs: 0, discarded: [], unplayed };
}
