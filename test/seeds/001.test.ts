// The document about the torcx bootstrapper: what its lines ask for, in a few words of our own, and which tests prove it.
import { proveLines } from './seed-lines.ts';

proveLines([
  {
    lines: [7, 10],
    asks: 'it runs at most once, before the node joins, as a service of its own',
    provenBy: {
      'src/torcx/node-bootstrap-unit.test.ts': ['the unit runs once, before the kubelet, and again after a failure'],
    },
  },
]);
