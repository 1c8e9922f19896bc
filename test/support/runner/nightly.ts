/** Whether `.ci/nightly` runs the tests: then the checks that every change must pass are repeated with more cases. */
export const nightly = process.env.NIGHTLY !== undefined;
