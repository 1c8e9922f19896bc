/** Property tests with fewer examples: each mutant runs all its tests, and one example among many finds it. */
import * as fc from 'fast-check';

fc.configureGlobal({ numRuns: 20 });
