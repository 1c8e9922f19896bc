/**
 * Loaded before everything else (`NODE_OPTIONS=--import`), it shifts a Waybill's calendar clock by the milliseconds
 * in CLOCK_SHIFT_FILE, which may change at any time. Timers and the monotonic clock go on, as when NTP sets a clock.
 */
import { readFileSync } from 'node:fs';

const { CLOCK_SHIFT_FILE } = process.env;
const RealDate = Date;
let shiftMs = 0;

function read() {
  try {
    shiftMs = Number(readFileSync(CLOCK_SHIFT_FILE, 'utf8')) || 0;
  } catch {
    shiftMs = 0;
  }
}

if (CLOCK_SHIFT_FILE !== undefined) {
  read();
  setInterval(read, 50).unref();
  globalThis.Date = class ShiftedDate extends RealDate {
    constructor(...args) {
      if (args.length === 0) super(RealDate.now() + shiftMs);
      else super(...args);
    }
    static now() {
      return RealDate.now() + shiftMs;
    }
  };
}
