/** This process as `waybill status`, Temporal, the metrics and the log name it. */
import { hostname } from 'node:os';

/** `4711@host`: its id and its machine. */
export const processIdentity = `${process.pid}@${hostname()}`;
