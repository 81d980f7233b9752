// The document about the node bootstrapping flow: what its lines ask for, in a few words of our own, and which tests prove it.
import { proveLines } from './seed-lines.ts';

proveLines([
  {
    lines: [44, 49],
    asks: 'the kubelet is started on every boot, and again whenever it fails',
    provenBy: {
      'src/machine-software/unit.test.ts': [
        'restart the kubelet always, and start it at every boot, with the environment file of the seed',
      ],
    },
  },
]);
