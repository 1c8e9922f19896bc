/** Whether `.ci/nightly` runs the tests: then also those that repeat in breadth what every change must pass. */
export const nightly = process.env.NIGHTLY !== undefined;
