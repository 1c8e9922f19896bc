/** Whether `.ci/nightly` runs the tests, which then have more cases than in the checks of every change. */
export const nightly = process.env.NIGHTLY !== undefined;
