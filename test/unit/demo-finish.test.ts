/** The end of a demonstration: a delivery that is refused at first is checked again. */
import { expect, test } from 'vitest';
import type { Answer, ApiRequest } from '../../demo/client.ts';
import { giveUpGone } from '../../demo/finish.ts';
import { scenes } from '../../demo/scenes.ts';
import { UserError } from '../../src/lib/user-error.ts';

const gone = scenes.filter(({ name }) => name === 'gone');
const subscriptions = gone.map((scene) => ({
  id: 5,
  kind: scene.kind,
  secret: '',
  scene,
  registeredAt: '2026-11-26T08:00:00Z',
}));

/** An API with two held deliveries, the first of which is refused once. */
function twoHeld() {
  const held = new Set(['a', 'b']);
  const asked: string[] = [];
  async function send({ path }: ApiRequest): Promise<Answer> {
    if (path.endsWith('state=held'))
      return { message: '', data: [...held].map((id) => ({ id })), pagination: { totalCount: held.size } };
    if (!path.endsWith('/give-up')) return { message: '', data: [], pagination: { totalCount: 0 } };
    const id = path.split('/').at(-2) ?? '';
    asked.push(id);
    if (asked.length === 1) throw new UserError(`POST ${path}: 503 No worker answered within 10 seconds.`);
    held.delete(id);
    return { message: '' };
  }
  return { client: { send }, held, asked };
}

test('a delivery that is not given up at once is asked for again', async () => {
  const { client, held, asked } = twoHeld();
  await giveUpGone(client, subscriptions, new AbortController().signal);
  expect({ held: held.size, asked }).toEqual({ held: 0, asked: ['a', 'b', 'a'] });
});

test('a delivery that is held between two questions is given up too', async () => {
  let state = 'pending';
  const asked: string[] = [];
  async function send({ path }: ApiRequest): Promise<Answer> {
    if (path.endsWith('/give-up')) {
      state = 'failed';
      return { message: '' };
    }
    const found = path.endsWith(`state=${state}`) ? [{ id: 'a' }] : [];
    asked.push(path);
    // Its receiver has just answered 410, whichever state was asked for first.
    if (asked.length === 1) state = 'held';
    return { message: '', data: found, pagination: { totalCount: found.length } };
  }
  await giveUpGone({ send }, subscriptions, new AbortController().signal);
  expect(state).toBe('failed');
});

test('Ctrl-C ends it all the same', async () => {
  const { client, asked } = twoHeld();
  await expect(
    giveUpGone(client, subscriptions, AbortSignal.abort(new UserError('Stopped.'))),
  ).rejects.toThrow('Stopped.');
  expect(asked).toEqual(['a']);
});
