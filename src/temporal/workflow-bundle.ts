/** The workflow code as one bundle: built by `npm run build`, or at the start from the sources. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

const prebuilt = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));

/** The bundle for a worker. Bundling from the sources takes about two seconds. */
export async function loadWorkflowBundle(): Promise<WorkflowBundleOption> {
  return existsSync(prebuilt) ? { codePath: prebuilt } : await buildWorkflowBundle();
}

/** Bundles the workflows that belong to this build, or those of another entry file. */
export async function buildWorkflowBundle(entry?: URL): Promise<{ code: string }> {
  const source = new URL('../../workflows/index.ts', import.meta.url);
  const workflowsPath = fileURLToPath(
    entry ?? (existsSync(source) ? source : new URL('../../workflows/index.js', import.meta.url)),
  );
  return await bundleWorkflowCode({
    workflowsPath,
    // Every workflow evaluates our modules again, and one module is faster than thirty.
    webpackConfigHook: (config) => ({
      ...config,
      optimization: { ...config.optimization, concatenateModules: { commonjs: false }, usedExports: true },
    }),
    logger: { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error },
  });
}
