/** Where imports go: the only body that is streamed, and may take an hour to arrive. */
export const IMPORT_PATH = '/v21/warehouse/events/import';
