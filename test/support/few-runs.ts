/** Properties with fewer examples: each mutant is judged by all of its tests, and one example in many finds it. */
import * as fc from 'fast-check';

fc.configureGlobal({ numRuns: 20 });
