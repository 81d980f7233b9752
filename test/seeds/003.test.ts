// The document about the bootstrap process: what its lines ask for, in a few words of our own, and which tests prove it.
import { proveLines } from './seed-lines.ts';

proveLines([
  {
    lines: [225, 237],
    asks: 'etcd grows member by member, and the bootstrap member leaves last',
    provenBy: {
      'test/e2e/life/fresh-cluster.ts': ['etcd grew one voter at a time, and the bootstrap member left last'],
    },
  },
]);
