/** Where Temporal's UI is. */
import type { Settings } from '../config/variables.ts';
import { instanceOf } from './open-database.ts';

/** Its address; null where nothing says so. */
export async function uiUrlOf(settings: Settings): Promise<string | null> {
  if (settings.TEMPORAL_UI_URL !== undefined) return settings.TEMPORAL_UI_URL;
  // The instance's own server is not the one at TEMPORAL_ADDRESS.
  if (settings.TEMPORAL_ADDRESS !== undefined) return null;
  return (await instanceOf(settings)).temporalUiUrl ?? null;
}
