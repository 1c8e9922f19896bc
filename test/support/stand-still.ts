/** Blocks the event loop, as a large body or a stopped process does, without keeping a processor busy. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
