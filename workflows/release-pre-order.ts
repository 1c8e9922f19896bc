/**
 * The durable timer of one pre-order (docs/interface.md, O4). It sleeps until the release time, or the order's turn
 * after it, and releases the order. No process needs to be alive in between.
 */
import { condition, continueAsNew, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import { literal } from './markdown.ts';
import { ownSteps } from './own-steps.ts';
import { type ReleaseActivities, type ReleasePreOrderInput, releaseChangedSignal } from './release-types.ts';

const releaseChanged = defineSignal(releaseChangedSignal);

/** Waits for the release time, even if it is moved; ends when the order is no longer a pre-order. */
export async function releasePreOrder(input: ReleasePreOrderInput): Promise<{ released: boolean }> {
  const { readRelease, releaseOrder } = ownSteps<ReleaseActivities>();
  let changes = 0;
  setHandler(releaseChanged, () => {
    changes += 1;
  });
  for (;;) {
    const changesSeen = changes;
    const pending = await readRelease(input);
    // An order without a release time is released only by hand; a later change starts this timer again.
    if (pending === null || pending.releaseAt === null) {
      if (changes > changesSeen) continue;
      return { released: false };
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof releasePreOrder>(input);
    const wait = pending.releaseAt - pending.readAt;
    if (wait > 0) {
      const summary =
        `release ${literal(input.eshopOrderId)} at ${new Date(pending.releaseAt).toISOString()}`.slice(
          0,
          200,
        );
      if (await condition(() => changes > changesSeen, wait, { summary })) continue;
    }
    if (await releaseOrder(input)) return { released: true };
  }
}
