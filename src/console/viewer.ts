/** The person who views a page, for all of its components. */
import { createContext, useContext } from 'hono/jsx';
import type { Viewer } from './deps.ts';

/** Set by `respond`; absent on pages without a session. */
export const ViewerOfPage = createContext<Viewer | undefined>(undefined);

export function useViewer(): Viewer {
  const viewer = useContext(ViewerOfPage);
  if (viewer === undefined) throw new Error('This page is for persons who are signed in.');
  return viewer;
}
