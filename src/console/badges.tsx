/** States as colors, and numbers with their names. */
import type { Child } from 'hono/jsx';
import type { DeliveryState } from '../domain/delivery-state.ts';
import type { RecoveryState } from '../domain/recovery.ts';
import type { NamedCount } from './deps.ts';
import { CONSOLE } from './session.ts';

/** A state as a color; its name says the same. */
export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'busy' | '';

export const TONES: Readonly<Record<DeliveryState, Tone>> = {
  pending: 'busy',
  retrying: 'warn',
  held: 'calm',
  delivered: 'good',
  failed: 'bad',
  expired: 'bad',
  canceled: '',
  superseded: '',
};

export function Badge({ tone, children }: { tone: Tone; children: Child }) {
  return <span class={`state ${tone}`}>{children}</span>;
}

export function State({ state }: { state: DeliveryState }) {
  return <Badge tone={TONES[state]}>{state}</Badge>;
}

/** @param under the path that precedes those of the lists */
export function Counts({ counts, under = '' }: { counts: readonly NamedCount[]; under?: string }) {
  return (
    <div class="cards">
      {counts.map(([name, value, path]) => {
        const content = [<strong>{value}</strong>, <span>{name}</span>];
        return path === null ? (
          <div class="card count">{content}</div>
        ) : (
          <a class="card count" href={`${CONSOLE}${under}${path}`}>
            {content}
          </a>
        );
      })}
    </div>
  );
}

const RECOVERY_TONES = { running: 'busy', paused: 'calm', completed: 'good', canceled: '' } as const;

export function RecoveryBadge({ state }: { state: RecoveryState }) {
  return <Badge tone={RECOVERY_TONES[state]}>{state}</Badge>;
}
