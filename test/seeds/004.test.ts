// The document about the stages of bootkube: what its lines ask for, in a few words of our own, and which tests prove it.
import { nameDifferences, proveLines } from './seed-lines.ts';

const rendering = 'src/bootkube/render-stages.test.ts';
const checks = 'src/bootkube/stage-checks.test.ts';
const restarts = 'test/e2e/bootstrap-restarts.test.ts';
const fresh = 'test/e2e/life/fresh-cluster.ts';

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
  {
    lines: [24, 30],
    asks: 'stage 2 learns the digest of the release image',
    provenBy: {
      'src/bootkube/stages/02-release-info.test.ts': [
        'stage 2 writes the digest of the release image, and every image by its digest',
      ],
    },
  },
  {
    lines: [32, 45],
    asks: 'stage 3 renders the pod of the API server, its secret mounts and its TLS configuration',
    provenBy: {
      [rendering]: [
        'the API server is begun in stage 3, with its secrets and its TLS, and stage 8 adds the program alone',
      ],
    },
  },
  {
    lines: [59, 69],
    asks: 'stage 5 renders the configuration of the cluster as resources',
    provenBy: {
      [rendering]: ['what the install-config asks for is in the configuration objects of stage 5, without credentials'],
      [fresh]: ['the API has the configuration of the cluster, and what machines were given, for people to read'],
    },
  },
  {
    lines: [86, 99],
    asks: 'stage 7 renders the pod of etcd, its certificates and how it scales',
    provenBy: {
      [rendering]: [
        'the etcd pod founds a cluster of one, at the address of this machine',
        'stage 7 has the certificates of etcd and of its clients, and the figures by which it grows',
        'keeps every certificate it had',
      ],
    },
  },
  {
    lines: [131, 139],
    asks: 'stage 11 is for ingress; what it has nothing for, it does not claim',
    provenBy: { [rendering]: ['only stage 11 has nothing to render'] },
  },
  {
    lines: [141, 155],
    asks: 'stage 12 renders MachineConfigs, pools and a rendered config for each role',
    provenBy: {
      [rendering]: ['each pool has a rendered configuration'],
      [fresh]: ['the API has the configuration of the cluster, and what machines were given, for people to read'],
    },
  },
  {
    lines: [157, 171],
    asks: 'stage 13 starts the control plane and puts everything into the API',
    provenBy: {
      'src/bootkube/stages/13-cluster-bootstrap.test.ts': [
        'what was applied is counted, and all of it is in the API',
        'an object of an unknown kind fails the stage in seconds, with its file, its name and the reason',
        'once the manifest is corrected, the next run goes on and ends',
      ],
      [restarts]: [
        'is, byte for byte, what the kubelet runs',
        'fails stage 13 with its file, its object and the reason',
      ],
    },
  },
  {
    lines: [173, 183],
    asks: 'stage 14 puts the overrides of the user into the ClusterVersion',
    provenBy: { [checks]: ['stage %i refuses a wrong output', 'pass on what the stages themselves did'] },
  },
  {
    lines: [225, 234],
    asks: 'Ignition sets the release image and one variable for each component, and the stages use them',
    provenBy: {
      'src/bootkube/stages/02-release-info.test.ts': [
        'the images that the config names are those that later stages use',
      ],
      [rendering]: ['every component has its image variable, by digest'],
    },
  },
  {
    lines: [263, 273],
    asks: 'each stage validates its output, and nothing goes on before that',
    provenBy: {
      [checks]: ['there is at least one for each of the fifteen, and a wrong output for each here'],
      [rendering]: ['a check that fails stops the run, and the stage is not recorded as done'],
    },
  },
  {
    lines: [47, 57],
    asks: 'stage 4 renders how people log in, and the API servers use it',
    provenBy: {
      'src/bootkube/stages/04-authentication.test.ts': [
        'renders the issuers of the ControllerConfig, from which masters get the same',
        'its check refuses %s',
      ],
      'test/e2e/login/token-login.ts': [
        'is who the token says, and may do what the role of their group says',
        'every API server got the same file, the one of the bootstrap machine included',
      ],
    },
  },
]);

nameDifferences(['004:71–84, 173–183, 210', '004:131–139']);
