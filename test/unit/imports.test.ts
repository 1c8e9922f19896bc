/** What an import's deliveries may take while the import goes on. */
import { expect, test } from 'vitest';
import { type InFlightLimits, UNBOUNDED } from '../../src/db/outbox/claim.ts';
import { createIdleShare, type ProcessorTime } from '../../src/relay/idle-share.ts';
import { createImports } from '../../src/relay/imports.ts';

const [IMPORTS, OTHER] = [1, 2];
/** What it may have in flight while it has not had its share. */
const AT_ONCE = 250;
const batchOf = (count: number, eshopId = IMPORTS) => Array.from({ length: count }, () => ({ eshopId }));

/** An import under way on a machine with so much time to spare, and a clock that stands until it is moved. */
function importing(idle: () => number = () => 0) {
  let now = 0;
  const imports = createImports(idle, () => now);
  imports.heard(IMPORTS);
  return {
    imports,
    limitOf: (eshopId: number) => imports.bounded(UNBOUNDED).inFlight.eshops.get(eshopId),
    /** The import goes on meanwhile. */
    pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 100) {
        now += Math.min(100, ms - passed);
        imports.heard(IMPORTS);
        imports.bounded(UNBOUNDED);
      }
    },
    silence(ms: number) {
      now += ms;
    },
  };
}

/** It gets nothing until so many milliseconds have passed, and then its share again. */
function expectShareAfter(ms: number, { limitOf, pass }: ReturnType<typeof importing>): void {
  pass(ms - 1);
  expect(limitOf(IMPORTS)).toBe(0);
  pass(1);
  expect(limitOf(IMPORTS)).toBe(AT_ONCE);
}

/** How many deliveries a relay makes within so many milliseconds that looks every 50 and claims batches of a hundred. */
function madeIn(ms: number, { imports, limitOf, pass }: ReturnType<typeof importing>): number {
  let made = 0;
  for (let at = 0; at < ms; at += 50) {
    if (limitOf(IMPORTS) !== 0) {
      imports.claimed(batchOf(100));
      made += 100;
    }
    pass(50);
  }
  return made;
}

test('without an import nothing is bounded', () => {
  const imports = createImports(
    () => 0,
    () => 0,
  );
  imports.claimed(batchOf(500));
  expect(imports.bounded(UNBOUNDED)).toEqual({ inFlight: UNBOUNDED, gaveWay: false });
});

test('an e-shop that imports gets nothing once it has had its share, and others what they had', () => {
  const machine = importing();
  const { imports, limitOf } = machine;
  expect(limitOf(IMPORTS)).toBe(AT_ONCE);
  imports.claimed([...batchOf(600), ...batchOf(600, OTHER)]);
  expect(limitOf(IMPORTS)).toBe(0);
  expect(limitOf(OTHER)).toBeUndefined();
  expectShareAfter(1000, machine);
});

test('where it may have less in flight, it gets no more than that', () => {
  const { imports } = importing();
  const eshopsOf = (limits: Partial<InFlightLimits>) =>
    imports.bounded({ ...UNBOUNDED, ...limits }).inFlight.eshops;
  expect(eshopsOf({ eshop: 100 }).get(IMPORTS)).toBe(100);
  expect(
    eshopsOf({
      eshops: new Map([
        [IMPORTS, 20],
        [OTHER, 30],
      ]),
    }),
  ).toEqual(
    new Map([
      [IMPORTS, 20],
      [OTHER, 30],
    ]),
  );
});

test('it is said whether anything gives way', () => {
  const { imports } = importing();
  expect(imports.bounded(UNBOUNDED).gaveWay).toBe(false);
  imports.claimed(batchOf(250));
  expect(imports.bounded(UNBOUNDED).gaveWay).toBe(true);
});

test('of two that import each has half of the share, and neither waits for what the other has had', () => {
  const machine = importing();
  const { imports, limitOf } = machine;
  imports.heard(OTHER);
  imports.claimed(batchOf(150));
  expect(limitOf(IMPORTS)).toBe(0);
  expect(limitOf(OTHER)).toBe(AT_ONCE);
  expectShareAfter(500, machine);
});

test('who sends something else on the channel imports nothing', () => {
  const { imports } = importing();
  imports.heard(Number('everything'));
  expect([...imports.bounded(UNBOUNDED).inFlight.eshops.keys()]).toEqual([IMPORTS]);
});

test('what a claim takes of other e-shops is no part of the share', () => {
  const { imports, limitOf } = importing();
  imports.claimed(batchOf(600, OTHER));
  expect(limitOf(IMPORTS)).toBe(AT_ONCE);
});

test('six hundred per second while the machine has no time to spare', () => {
  const made = madeIn(
    10_000,
    importing(() => 0.2),
  );
  expect(Math.abs(made - 6_000)).toBeLessThan(300);
});

test('more and more while it has, up to more than a worker makes, and fewer again when it has not', () => {
  let idle = 0.5;
  const machine = importing(() => idle);
  const rates = [madeIn(2_000, machine), madeIn(2_000, machine)];
  expect(rates[0]).toBeGreaterThan(1_200);
  expect(rates[1]).toBeGreaterThan(rates[0] ?? 0);
  machine.pass(60_000);
  idle = 0.1;
  machine.pass(6_000);
  expect(Math.abs(madeIn(10_000, machine) - 6_000)).toBeLessThan(300);
});

test('an import that is over bounds nothing any more', () => {
  const { imports, limitOf, silence } = importing();
  imports.claimed(batchOf(5_000));
  silence(1_500);
  expect(limitOf(IMPORTS)).toBe(0);
  silence(1);
  expect(imports.bounded(UNBOUNDED)).toEqual({ inFlight: UNBOUNDED, gaveWay: false });
});

test('what the next import may take does not depend on the last one, nor on how idle the machine was between them', () => {
  const asked: string[] = [];
  const machine = importing(() => {
    asked.push('idle');
    return 0.9;
  });
  const { imports, limitOf, pass, silence } = machine;
  pass(60_000);
  imports.claimed(batchOf(5_000));
  silence(3_600_000);
  asked.length = 0;
  imports.heard(IMPORTS);
  expect(asked).toHaveLength(1);
  expect(limitOf(IMPORTS)).toBe(AT_ONCE);
  imports.claimed(batchOf(300));
  expectShareAfter(500, machine);
});

test('the share of idle time since it was last asked for, once that is long enough to say something', () => {
  let time: ProcessorTime = { processors: 2, idle: 1_000, all: 2_000 };
  const idleShare = createIdleShare(() => time);
  expect(idleShare()).toBe(1);
  time = { processors: 2, idle: 1_150, all: 2_500 };
  expect(idleShare()).toBe(0.3);
  time = { processors: 2, idle: 1_550, all: 2_900 };
  expect(idleShare()).toBe(0.3);
  time = { processors: 2, idle: 1_650, all: 3_000 };
  expect(idleShare()).toBe(1);
});

test('of this machine', () => {
  expect(createIdleShare()()).toBe(1);
});
