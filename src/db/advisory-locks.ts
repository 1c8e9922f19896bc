/** The advisory locks in the database: arbitrary fixed numbers, no two alike. */

/** For changes to tables. */
export const SCHEMA_LOCK = 715_021;
/** For deciding whom to warn or to notify. */
export const DECISION_LOCK = 715_022;
/** Of the sequence of webhook ids: transactions that take the next id share it. */
export const WEBHOOK_ID_LOCK = 7_240_512;
/** For imports of e-shops. */
export const IMPORT_LOCK = 7_240_513;
