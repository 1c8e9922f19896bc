/** `waybill webhooks test`: one request with a sample, as made by the API. */
import type { Command } from 'commander';
import type { TestDeliveryResult } from '../domain/test-delivery.ts';
import { type CommandContext, checked, runs } from '../lib/command-line.ts';
import { UserError } from '../lib/user-error.ts';
import { testedTypeOption, webhookNumber } from './options.ts';

/** Exit codes besides 0 and 1. */
const FAILED = 2;
const INCONCLUSIVE = 3;

const headerLines = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

/** Request and response, as on the wire. */
function transcript({ request, response, durationMs }: TestDeliveryResult): string {
  const sent = [
    `${request.method} ${request.url}`,
    ...headerLines(request.headers),
    ...(request.body === null ? [] : ['', request.body]),
  ];
  if (response === null) return sent.join('\n');
  const came = [
    `HTTP ${response.status} after ${durationMs} ms`,
    ...headerLines(response.headers),
    ...(response.excerpt === null ? [] : ['', response.excerpt]),
  ];
  return [...sent, '', ...came].join('\n');
}

export function addTest(command: Command, { env, print }: CommandContext): void {
  const part = command
    .command('test')
    .description(
      'send one signed request with a sample of one of its types, whether active or not; it has no consequences',
    )
    .argument('<id>', 'its number')
    .addHelpText(
      'after',
      '\nThe request is sent from this machine, not from a worker. It carries X-Service-Test: true.' +
        '\nExit code: 0 accepted, 1 could not be sent, 2 the receiver failed, 3 inconclusive.',
    );
  runs(part, testedTypeOption, async ({ json, type }, written) => {
    const id = checked(webhookNumber('<id>'), written);
    // The sender takes longer to load than the other subcommands.
    const { sendTestTo } = await import('./send-test.ts');
    const result = await sendTestTo(env, { id, type });
    print(json ? JSON.stringify(result) : transcript(result));
    const { outcome, error } = result;
    if (outcome === 'success') return;
    throw new UserError(
      error ?? `The test ended as ${outcome}.`,
      outcome === 'inconclusive' ? INCONCLUSIVE : FAILED,
    );
  });
}
