/** The parts of a day: phases consist of stories, stories of steps. They are data; `runner.ts` plays them. */
import type { EventType } from '../src/domain/event-types.ts';
import type { Role } from '../src/domain/role.ts';

/** A request, and the events that it fires when it succeeds. */
export interface Call {
  /** The role of the user who sends it. */
  readonly by: Role;
  readonly method: 'POST' | 'PUT' | 'PATCH';
  /** Below `/v21`. */
  readonly path: string;
  /** The body; a function if it depends on the time. */
  readonly body: object | ((now: Date) => object);
  readonly fires: readonly EventType[];
}

/** Waiting for something that the service does by itself: until the order at this path has the status. */
export interface Wait {
  /** Below `/v21`. */
  readonly path: string;
  readonly untilStatus: string;
  readonly fires: readonly EventType[];
}

/** A single action. */
export type Step = Call | Wait;
/** Steps one after the other: the life of one order, receiving or product. */
export type Story = readonly Step[];

/** Stories side by side. The next phase begins when all of them have ended. */
export interface Phase {
  /** Shown while it runs. */
  readonly title: string;
  readonly stories: readonly Story[];
}

/** A request of the e-shop. */
export function shop(
  method: Call['method'],
  path: string,
  body: Call['body'],
  ...fires: readonly EventType[]
): Call {
  return { by: 'shop', method, path, body, fires };
}

/** A request of the warehouse. @param path below `/v21/warehouse` */
export function warehouse(
  method: Call['method'],
  path: string,
  body: Call['body'],
  ...fires: readonly EventType[]
): Call {
  return { by: 'warehouse', method, path: `/warehouse${path}`, body, fires };
}

/** How often these steps fire each event. */
export function firedBy(steps: Iterable<Step>): Map<EventType, number> {
  const fired = new Map<EventType, number>();
  for (const step of steps) for (const type of step.fires) fired.set(type, (fired.get(type) ?? 0) + 1);
  return fired;
}

/** All steps of a day. */
export function stepsOf(phases: readonly Phase[]): Step[] {
  return phases.flatMap(({ stories }) => stories.flat());
}
