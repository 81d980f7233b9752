// The document about the bootstrap process: what its lines ask for, in a few words of our own, and which tests prove it.
import { proveLines } from './seed-lines.ts';

proveLines([
  {
    lines: [26],
    asks: 'the bootstrap machine runs the release that its config names, and changes to it where it booted another',
    provenBy: {
      'src/machine-boot/release-pivot/pivot-release.test.ts': [
        'from a layout: images, then programs, then the record; a second run has nothing to do',
        'from a registry, beside the release image and with the credentials of the machine',
        'killed at any change and before any call of a program, the next run continues',
      ],
    },
  },
  {
    lines: [225, 237],
    asks: 'etcd grows member by member, and the bootstrap member leaves last',
    provenBy: {
      'test/e2e/life/fresh-cluster.ts': ['etcd grew one voter at a time, and the bootstrap member left last'],
    },
  },
  {
    lines: [350, 367],
    asks: 'one command gathers journals, units and containers of a bootstrap, whatever state it is in',
    provenBy: {
      'test/e2e/stalls.test.ts': [
        'and the bundle that was made by itself has what the stages rendered, the records, and no secret',
        'async function bundleOfStopped',
      ],
      'test/e2e/life/gathering.ts': [
        'has journals, units, containers, etcd and system of every machine',
        'has objects and events of the API, the timeline, and a page that names every machine',
        'has no key and no token of the asset folder, of a machine or of the API',
      ],
      'test/e2e/in-place/adoption.ts': ['it is gathered from by SSH, and not where its host key is another one'],
      'src/gather/gather.test.ts': ['only when nothing at all could be taken is it an error'],
    },
  },
]);
