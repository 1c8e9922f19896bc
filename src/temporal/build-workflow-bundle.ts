/** Part of `npm run build`: writes `dist/workflow-bundle.js`. */
import { writeFile } from 'node:fs/promises';
import { buildWorkflowBundle } from './workflow-bundle.ts';

const { code } = await buildWorkflowBundle();
await writeFile(new URL('../../workflow-bundle.js', import.meta.url), code);
