/** The workflows of this build, and one that uses up the memory of its thread when it is asked. */
import { condition, defineQuery, setHandler } from '@temporalio/workflow';

export * from '../../../workflows/index.ts';

/** Never answers: the thread ends first. */
export const eatQuery = defineQuery<number>('eat');

export async function hungry(): Promise<void> {
  setHandler(eatQuery, () => {
    const eaten: number[][] = [];
    for (;;) eaten.push(Array.from({ length: 100_000 }, (_, index) => index / 3));
  });
  await condition(() => false);
}
