// The document about the stages of bootkube: what its lines ask for, in a few words of our own, and which tests prove it.
import { nameDifferences, proveLines } from './seed-lines.ts';

const rendering = 'src/bootkube/render-stages.test.ts';
const checks = 'src/bootkube/stage-checks.test.ts';
const restarts = 'test/e2e/bootstrap-restarts.test.ts';
const byHand = 'src/cli/bootkube/stages-by-hand.test.ts';
const fresh = 'test/e2e/life/fresh-cluster.ts';

const containers = 'src/bootkube/render-container.test.ts';
const rendered = 'test/e2e/rendered-by-image.ts';

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
    lines: [71, 84],
    asks: 'stage 6 renders the version operator, and the manifests of the release in order',
    provenBy: {
      [rendering]: [
        'stage 6 has the files of the release image, with the values of this cluster, by who applies them first',
        'a capability that the install-config turns off is in the ClusterVersion, and nobody applies it at once',
      ],
      'src/operators/payload-files.test.ts': ['is read back as it was meant'],
    },
  },
  {
    lines: [86, 99],
    asks: 'stage 7 renders the pod of etcd, its certificates and how it scales',
    provenBy: {
      [rendering]: [
        'the etcd pod founds a cluster of one, at the address of this machine',
        'stage 7 has the certificates of etcd and of its clients, and the figures by which it grows',
        'killed anywhere, the next run ends with the same pods and keeps every certificate it had (part %i of 15)',
      ],
    },
  },
  {
    lines: [101, 129],
    asks: 'stages 8 to 10 render the pods of API server, controller manager and scheduler',
    provenBy: {
      [rendering]: [
        'every container runs an image by digest, add-ons included',
        'feature gates of the install-config are flags of all three that know them',
      ],
      [restarts]: ['is, byte for byte, what the kubelet runs'],
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
    provenBy: { [checks]: ['stage %i refuses a wrong output (case %#)', 'pass on what the stages themselves did'] },
  },
  {
    lines: [185, 195],
    asks: 'stage 15 waits until the API answers',
    provenBy: { [checks]: ['stage %i refuses a wrong output (case %#)', 'pass on what the stages themselves did'] },
  },
  {
    lines: [199, 210],
    asks: 'then bootkube waits for the masters: they join, etcd grows, they serve',
    provenBy: {
      'src/bootkube/handoff/control-planes.test.ts': [
        'one of three is not: the others are named with what they answer',
      ],
      [fresh]: ['etcd grew one voter at a time, and the bootstrap member left last'],
    },
  },
  {
    lines: [214, 221],
    asks: 'pods, certificates and the data of etcd are where the table says',
    provenBy: {
      'src/bootkube/stages/13-cluster-bootstrap.test.ts': ['pods and certificates are where the document says'],
      [restarts]: ['is, byte for byte, what the kubelet runs'],
    },
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
    lines: [34, 45],
    asks: 'a stage runs the render of the image that its variable names, with these arguments',
    provenBy: {
      [containers]: ['is called with the words of the original, and what it wrote is seeded into the API'],
      [rendered]: [
        'our own image in containers wrote the bytes that bootkube writes in its own process, in all twelve stages',
      ],
    },
  },
  {
    lines: [251, 261],
    asks: 'scripts of these names, one for each of these stages',
    provenBy: {
      'src/machine-software/bootstrap-scripts.test.ts': [
        'the scripts have the names of the document',
        '%s.sh calls the verb of its name with the words that were typed',
      ],
      [byHand]: [
        'render-all explains, runs and verifies all twelve that render',
        'every name of the document runs its stage: what it is for, the original, what was validated',
      ],
      [restarts]: ['has the scripts of the document, and each renders, explains, validates and shows what it changed'],
    },
  },
  {
    lines: [236, 241],
    asks: 'manifests come with the version of the image that renders them: version coupling',
    provenBy: {
      [containers]: ['is recorded by its digest, and rendered again when the release has another image'],
      'test/oracle/release-component.test.ts': [
        'names it by the digest that it had, as what renders the component',
        'keeps it when whoever makes a cluster looks the release up, also without the file',
      ],
      [rendered]: ['the image of the component rendered stage 11, and is recorded by its digest'],
    },
  },
  {
    lines: [242, 243],
    asks: 'what an operator renders is correct, or the bootstrap does not go on with it',
    provenBy: {
      [containers]: ['that %s fails the stage, which is tried again', 'must be one of the release'],
      [rendered]: ['an image that cannot render is named with its log, and leaves nothing behind'],
    },
  },
  {
    lines: [244, 245],
    asks: 'no component is templated a second time: whoever renders it, its objects are those of the image',
    provenBy: {
      [containers]: ['writes the same bytes as bootkube in its own process, in all twelve stages'],
      [rendered]: ['it had no network, no key, and nothing to write to but its output'],
    },
  },
  {
    lines: [263, 267],
    asks: 'each explains itself, shows the command of the original, validates its output and says what it does',
    provenBy: {
      'src/bootkube/stage-report.test.ts': [
        'has the command of the original in full, for each of the fifteen, and what is validated',
        'after another run it has the difference, and keys are never copied to compare them',
      ],
      [byHand]: ['every name of the document runs its stage: what it is for, the original, what was validated'],
    },
  },
  {
    lines: [271, 275],
    asks: 'each stage is verified before the next, and says why it exists',
    provenBy: {
      [checks]: ['there is at least one for each of the fifteen, and a wrong output for each here'],
      [rendering]: ['a check that fails stops the run, and the stage is not recorded as done'],
    },
  },
  {
    lines: [276],
    asks: 'a person runs each stage, and nothing runs by itself meanwhile',
    provenBy: {
      'src/bootkube/go-on.test.ts': [
        'before the stage of the pause, says so once, and goes on when the pause moves behind it',
        'lets one stage run, and ends when the bootstrap is held before the following one',
        'is set before the next stage, or a later one, never before one that has begun',
      ],
      'src/cluster/bootstrap-request.test.ts': [
        'the config of the bootstrap machine gets the images, and the pause only when somebody wants one',
      ],
      'src/bootkube/one-writer.test.ts': ['who waits too long is told which process writes, and what it does'],
      [byHand]: ['--step asks first, and runs nothing without a yes', '%s changes nothing and waits for nobody'],
      [restarts]: [
        'went on by one stage with each of fifteen `next`, and each said what it is for, what ran and what was validated',
        'says so on the screen, in status and in progress.json, and is no stall',
        'lets one process write at a time: two stages by hand, and one beside the service until that is killed',
      ],
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

nameDifferences(['004:71–84, 173–183, 210', '004:131–139', '004:203', '004:220', '004:34–155', '004:185–245']);
