/** Property tests with fewer examples: all its tests judge each mutant, and one example of many finds it. */
import * as fc from 'fast-check';

fc.configureGlobal({ numRuns: 20 });
