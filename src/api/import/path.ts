/** The path of imports, whose bodies are streamed and may take an hour to arrive. */
export const IMPORT_PATH = '/v21/warehouse/events/import';
