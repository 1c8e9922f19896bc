/**
 * The maximum size of a record. Each event carries the whole record to each webhook, so without a limit a small
 * request would send megabytes.
 */
import { badRequest } from './problem.ts';

/** The maximum size of a record, as the JSON of its v2 form, in bytes. */
export const MAX_RECORD_BYTES = 256 * 1024;
/** The bytes that other writes must leave free, so that the status of a full record can still change. */
export const HISTORY_BYTES = 8 * 1024;

/**
 * @param noun such as "order"
 * @param record after the write, or its JSON text
 * @throws Problem 400
 */
export function assertRecordSize(noun: string, record: object | string, movesStatus: boolean): void {
  const bytes = Buffer.byteLength(typeof record === 'string' ? record : JSON.stringify(record));
  const maxBytes = movesStatus ? MAX_RECORD_BYTES : MAX_RECORD_BYTES - HISTORY_BYTES;
  if (bytes <= maxBytes) return;
  throw badRequest(
    `The ${noun} would be ${Math.ceil(bytes / 1024)} KiB as JSON, but may be at most ${maxBytes / 1024} KiB: send shorter lists or texts.`,
  );
}

/**
 * The maximum size of the records of a list, in bytes: a page of 30 fits, however large they are. Six pages of a
 * hundred of the largest at once took a process from 340 to 890 MB.
 */
export const MAX_LIST_BYTES = 8 * 1024 * 1024;
/** This many records fit, however large. */
export const MAX_FULL_RECORDS = 30;

/**
 * @param bytes of the records so far, as JSON
 * @throws Problem 400
 */
export function assertListSize(bytes: number): void {
  if (bytes <= MAX_LIST_BYTES) return;
  throw badRequest(
    `items: the records of this page are more than ${MAX_LIST_BYTES / 1024 / 1024} MiB as JSON: ask for fewer; ${MAX_FULL_RECORDS} always fit.`,
  );
}
