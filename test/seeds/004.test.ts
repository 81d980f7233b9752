// The document about the stages of bootkube: what its lines ask for, in a few words of our own, and which tests prove it.
import { proveLines } from './seed-lines.ts';

proveLines([
  {
    lines: [14, 20],
    asks: 'fifteen stages, in this order and under these names',
    provenBy: {
      'src/bootkube/stages.test.ts': [
        'the stages have the names and numbers that others read in the timeline and in progress.json',
      ],
    },
  },
]);
