/** The program as it is shipped: the run's set-up builds it (`global-setup.ts`). */
import { fileURLToPath } from 'node:url';

const built = (path: string) => fileURLToPath(new URL(`../../../dist/${path}`, import.meta.url));

/** Node's argument for the program itself. */
export const builtMain = built('src/main.js');
/** The same for the `waybill` command. */
export const builtCli = built('src/cli/main.js');
/** For workers within a test's own process. */
export const builtWorkflows = { codePath: built('workflow-bundle.js') };
