/** Kills of Waybill as it runs on a bare machine: one process in all roles, with its servers beside it. */
import { type EmbeddedFault, type Scene, usual } from '../fault.ts';
import type { EmbeddedStack } from '../stack/embedded.ts';

function killed(name: string, inject: (stack: EmbeddedStack) => Promise<void>): EmbeddedFault {
  return {
    embedded: true,
    group: 'kill',
    name,
    ...usual,
    lasts: [0, 2_000],
    inject: ({ stack }: Scene<EmbeddedStack>) => inject(stack),
    heal: ({ stack }) => stack.program.start(),
  };
}

export const embeddedFaults: readonly EmbeddedFault[] = [
  killed('all roles in one, killed', ({ program }) => program.kill()),
  killed('all roles in one, killed with its servers', (stack) => stack.killEverything()),
];
