/** How many attempts may be under way at once, and how a worker finds that out. */
import { expect, test } from 'vitest';
import {
  createDestinations,
  createRooms,
  type Destination,
  type Place,
  type Rooms,
} from '../../../src/attempt/rooms.ts';

const SLOTS = 200;
const to = (webhookId: number, eshopId = 1, host = `shop${webhookId}.example`): Destination => ({
  eshopId,
  webhookId,
  url: `https://${host}/hook?order=`,
});

/** Rooms on a clock that stands still until it is told otherwise. */
function rooms(slots = SLOTS) {
  let time = 1_000;
  const made = createRooms(slots, () => time);
  const pass = (ms: number) => {
    time += ms;
  };
  return { made, pass };
}

/** As many places as there are. */
function fill(made: Rooms, destination: Destination): Place[] {
  const places: Place[] = [];
  for (;;) {
    const place = made.enter(destination);
    if (typeof place === 'number') return places;
    places.push(place);
  }
}

test('one webhook, and one host whatever webhooks lead there, have 20 places at first', () => {
  expect(fill(rooms().made, to(1))).toHaveLength(20);
  const { made } = rooms();
  const places = [1, 2, 3].flatMap((id) => fill(made, to(id, 1, 'shared.example')));
  expect(places).toHaveLength(20);
});

test('an e-shop with a hundred webhooks takes half of all places, the next one half of the rest', () => {
  const { made } = rooms();
  const take = (eshopId: number) =>
    Array.from({ length: 100 }, (_, index) => fill(made, to(eshopId * 1_000 + index, eshopId)).length).reduce(
      (sum, count) => sum + count,
    );
  expect([take(1), take(2), take(3)]).toEqual([100, 50, 25]);
});

test('after ten e-shops that fill theirs, who comes next finds places', () => {
  const { made } = rooms();
  for (let eshopId = 1; eshopId <= 10; eshopId += 1) fill(made, to(eshopId, eshopId));
  expect(fill(made, to(11, 11)).length).toBeGreaterThan(1);
});

test('a destination that hangs is left one place, and gets the others back by what it accepts', () => {
  const { made, pass } = rooms();
  const places = fill(made, to(1));
  pass(15_000);
  for (const place of places) place.leave(false);
  const counts: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const found = fill(made, to(1));
    counts.push(found.length);
    for (const place of found) place.leave(true);
  }
  expect(counts).toEqual([1, 2, 4, 8, 16, 32]);
});

test('what is refused at once, or fails by an internal failure, tells nothing of how much a destination takes', () => {
  const { made, pass } = rooms();
  for (const place of fill(made, to(1))) place.leave(false);
  for (const place of fill(made, to(1))) {
    pass(15_000);
    place.leave(null);
  }
  expect(fill(made, to(1))).toHaveLength(20);
});

test('no destination gets more than 128 places, however much it accepts', () => {
  const { made } = rooms(10_000);
  for (let index = 0; index < 500; index += 1) {
    const place = made.enter(to(1));
    if (typeof place !== 'number') place.leave(true);
  }
  expect(fill(made, to(1))).toHaveLength(128);
});

test('those who find no place are told to come one after the other, as fast as places become free', () => {
  const { made, pass } = rooms();
  const places = fill(made, to(1));
  pass(15_000);
  for (const place of places) place.leave(false);
  fill(made, to(1));
  const waits = Array.from({ length: 100 }, () => made.enter(to(1))).map(Number);
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(waits[0]).toBeGreaterThanOrEqual(500);
  expect((waits[9] ?? 0) - (waits[8] ?? 0)).toBeGreaterThan(5_000);
  expect(waits.at(-1)).toBe(300_000);
});

test('those who ask a room in which nothing becomes free ask ever more seldom', () => {
  const { made, pass } = rooms();
  fill(made, to(1));
  const waits: number[] = [];
  for (let index = 0; index < 10; index += 1) {
    const wait = Number(made.enter(to(1)));
    waits.push(wait);
    pass(wait);
  }
  expect(waits.at(-1)).toBeGreaterThan(5_000);
});

test('the relay is told of those who hang, and that those who wait already go first', () => {
  const { made, pass } = rooms();
  expect(made.limits()).toEqual({
    webhook: 20,
    host: 20,
    eshop: 100,
    eshops: new Map(),
    webhooks: new Map(),
    hosts: new Map(),
  });
  const places = fill(made, to(7));
  pass(15_000);
  for (const place of places) place.leave(false);
  fill(made, to(7));
  expect(made.limits().webhooks).toEqual(new Map([[7, 0]]));
  pass(60_000);
  expect(made.limits()).toMatchObject({
    eshop: 99,
    eshops: new Map([[1, 100]]),
    webhooks: new Map([[7, 1]]),
    hosts: new Map([['shop7.example', 1]]),
  });
});

test('a batch is told whether it is worth waiting for a place: not where nothing is known, or nothing leaves', () => {
  const { made, pass } = rooms();
  const first = fill(made, to(1));
  expect(made.admit(to(1))).toBe('later');
  pass(10);
  for (const place of first) place.leave(true);
  const places = fill(made, to(1));
  expect(made.admit(to(1))).toBe('soon');
  pass(501);
  expect(made.admit(to(1))).toBe('later');
  for (const place of places) place.leave(true);
  expect(made.admit(to(1))).toMatchObject({});
});

test('who asks for a batch queues nowhere: nobody else waits longer for it', () => {
  const { made } = rooms();
  fill(made, to(1));
  for (let index = 0; index < 100; index += 1) made.admit(to(1));
  expect(made.enter(to(1))).toBe(500);
});

test('batches claim what begins within a moment: all that a prompt receiver takes, the places of a slow one', () => {
  const { made, pass } = rooms();
  const answers = (webhookId: number, ms: number) => {
    for (let round = 0; round < 5; round += 1) {
      const places = fill(made, to(webhookId));
      pass(ms);
      for (const place of places) place.leave(true);
    }
  };
  answers(2, 3_000);
  answers(1, 5);
  const { webhooks, hosts, webhook } = made.claimLimits();
  expect(webhook).toBe(20);
  expect(webhooks.get(1)).toBeGreaterThan(5_000);
  expect(hosts.get('shop1.example')).toBe(webhooks.get(1));
  answers(2, 3_000);
  expect(made.claimLimits().webhooks.get(2)).toBe(128);
});

test('batches claim nothing for a receiver that has all it takes under way and answers none of it', () => {
  const { made, pass } = rooms();
  for (const place of fill(made, to(1))) place.leave(true);
  const places = fill(made, to(1));
  pass(501);
  expect(made.claimLimits()).toMatchObject({
    webhooks: new Map([[1, 0]]),
    hosts: new Map([['shop1.example', 0]]),
  });
  places[0]?.leave(true);
  expect(made.claimLimits().webhooks.get(1)).toBeGreaterThan(0);
});

test('what a receiver takes is shared by batches and single attempts; how much of the slots an e-shop has is not', () => {
  const destinations = createDestinations();
  const [single, batches] = [
    createRooms(30, undefined, destinations),
    createRooms(30, undefined, destinations),
  ];
  expect(fill(single, to(1))).toHaveLength(15);
  expect(batches.claimLimits().eshop).toBe(15);
  const places = Array.from({ length: 5 }, () => batches.admit(to(1)));
  expect(places.filter((place) => typeof place === 'object')).toHaveLength(5);
  expect(batches.admit(to(1))).toBe('later');
});

test('where lookups are too many a webhook is closed for five seconds, however many say so, and its host is not', () => {
  const { made, pass } = rooms();
  const places = fill(made, to(1, 1, 'shared.example'));
  for (const place of places) {
    expect(place.crowded()).toBe(5_000);
    place.leave(null);
  }
  expect(made.limits().webhooks.get(1)).toBe(0);
  expect(made.claimLimits().webhooks.get(1)).toBe(0);
  expect(made.enter(to(1, 1, 'shared.example'))).toBe(5_000);
  expect(made.admit(to(1, 1, 'shared.example'))).toBe('later');
  expect(fill(made, to(2, 2, 'shared.example'))).toHaveLength(20);
  pass(5_000);
  expect(made.limits().webhooks.get(1)).toBeUndefined();
  expect(made.claimLimits().webhooks.get(1)).toBeUndefined();
});
