// The document about the in-place bootstrapper, line by line: what each line asks for, in a few words of our own, and
// which tests prove it.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { attemptSecretKeys, inPlaceSystems, scheduledValue, scheduleLabels } from '../../src/contract/in-place.ts';
import { phaseTable } from '../../src/in-place/phases.ts';
import { proveLines, type SeedLine } from './seed-lines.ts';

const wreckedNode = 'test/e2e/in-place/wrecked-node.ts';
const poolRun = 'test/e2e/in-place/pool-run.ts';
const payloadRoute = 'test/e2e/in-place/payload-route.ts';
const payloadOracle = 'test/oracle/payload/payload.test.ts';
const hostUnit = 'src/in-place/on-host/run-attempt.test.ts';
const attemptSteps = 'src/in-place/controller/next-attempt-step.test.ts';
const preflight = 'src/in-place/preflight/run-preflight.test.ts';
const preflightChecks = 'src/in-place/preflight/checks.test.ts';
const start = 'src/cluster/in-place/start-attempt.test.ts';
const foreign = 'src/in-place/reporting/foreign-reports.test.ts';
const routes = 'src/in-place/reporting/progress-routes.test.ts';

const seed: readonly SeedLine[] = [
  {
    lines: [1, 3],
    asks: 'machines of two kinds of system are upgraded in place, and there is a picture',
    provenBy: {
      [poolRun]: ['every worker has the new configuration and is in use again, and what the former one had is gone'],
      'tools/phase-picture.test.ts': [
        'the picture of the phases in docs is drawn from the table as it is; node tools/phase-picture.ts draws it anew',
      ],
    },
  },
  {
    lines: [5, 8],
    asks: 'a person cordons the node, then sets the label',
    provenBy: {
      [start]: ['starts the attempt of the Secret'],
      'src/in-place/controller/next-attempts.test.ts': [
        'that is cordoned and has a Secret gets an attempt',
        'gets none, and the reason is said, without cordon, without Secret, or while its configuration changes',
      ],
    },
  },
  {
    lines: [10, 15],
    asks: 'a Secret with URL, token and authority of the Ignition config',
    provenBy: {
      [start]: ['for the Ignition route leads to the config of the pool, by the target that the pool has now'],
    },
  },
  {
    lines: [17, 20],
    asks: 'a Secret with URL and token of the payload, and the ids that it is made for when it is asked for',
    provenBy: {
      [start]: ['for the route by payload carries the ids that the payload is made for, and what a person says wins'],
      [routes]: ['is made for the worker of the token, with the ids of its Secret'],
      'src/in-place/payload/verify-payload.test.ts': ['is refused for another worker, cluster or region, by name'],
    },
  },
  {
    lines: [22],
    asks: 'more data: where progress is reported to, and by which credential',
    provenBy: { [foreign]: ['gets the same reports, by its own path, token, authority and proxy'] },
  },
  {
    lines: [25],
    asks: 'a DaemonSet puts a pod on the labelled node, which checks the dependencies with the Secret',
    provenBy: {
      [wreckedNode]: ['all five are reported, each with its id, and no other'],
      [preflight]: ['passes on a machine that has what it needs, and says so for each check'],
    },
  },
  {
    lines: [27, 29],
    asks: 'the Ignition config can be downloaded, and the registry answers',
    provenBy: {
      [wreckedNode]: ['all five are reported, each with its id, and no other'],
      'src/in-place/preflight/look-at-registry.test.ts': ['asks for the manifest alone'],
    },
  },
  {
    lines: [31, 34],
    asks: 'registry, package mirrors by the package manager itself, and the payload by its token',
    provenBy: {
      'src/in-place/preflight/look-at-repositories.test.ts': [
        'names the repositories that apt cannot reach',
        'names the repositories that dnf cannot reach, each once',
      ],
      [routes]: ['is not for another token, nor after the end of the attempt, nor after the time of the Secret'],
    },
  },
  {
    lines: [36],
    asks: 'the API that progress is reported to is tried as well',
    provenBy: { [preflightChecks]: ['P13 is a warning where a foreign report URL is not required'] },
  },
  {
    lines: [38],
    asks: 'the automation begins when all checks have passed, and not before',
    provenBy: {
      [wreckedNode]: ['no file and no unit of the host has changed, and its kubelet runs on'],
      [attemptSteps]: ['is drained while the machine waits, and released when it is empty'],
    },
  },
  {
    lines: [40, 42],
    asks: 'the config is downloaded and kept; the daemon comes from the release that the config names',
    provenBy: {
      [hostUnit]: ['an attempt goes through its phases, and the machine has the new configuration and nothing else'],
      [poolRun]: ['the daemon that applied it came out of the image that the configuration names'],
    },
  },
  {
    lines: [43, 44],
    asks: 'two files are added: the kubeconfig and the annotations of the node',
    provenBy: {
      'src/in-place/on-host/fetch-ignition.test.ts': [
        'what the server added for this machine is put into the config that it serialised before',
      ],
    },
  },
  {
    lines: [45],
    asks: 'the daemon completes the first boot: it persists the config and reboots',
    provenBy: {
      'src/config-daemon/complete-first-boot.test.ts': [
        'applies a whole config to a machine without any, and sets the file aside',
        'ends in the same state when the power is cut at any moment',
      ],
      [wreckedNode]: ['everything that was wrecked is as the configuration says, and no drift is left'],
    },
  },
  {
    lines: [46],
    asks: 'the node boots with the new config and is complete',
    provenBy: { [wreckedNode]: ['it runs through every phase once and succeeds'] },
  },
  {
    lines: [48, 50],
    asks: 'the payload is downloaded; its script and its playbooks are run',
    provenBy: {
      [payloadOracle]: ['are accepted by ansible-playbook and, with the strictest profile, by ansible-lint'],
      'src/in-place/on-host/route-payload.test.ts': [
        'runs its steps in their order, reports each, and runs none a second time',
      ],
    },
  },
  {
    lines: [51, 55],
    asks: 'the base without Kubernetes: packages and kernel, CIS settings, logrotate and syslog, sysctls',
    provenBy: {
      [payloadRoute]: [
        'packages and the kernel are those of the repository, and the settings of the base are in force',
      ],
      [payloadOracle]: [
        'stage A updates packages and the kernel from a signed repository, and hardens; a second run does nothing',
        'packages come by dnf from its repository; repositories that do not answer mean exit code 75',
      ],
    },
  },
  {
    lines: [56],
    asks: 'a reboot makes the base take effect',
    provenBy: {
      [payloadRoute]: ['stage A ran before the one reboot, stage B after it, each step once and in its order'],
      'src/in-place/on-host/route-payload.test.ts': [
        'B is refused while the label is on the node, and in the boot of stage A',
      ],
    },
  },
  {
    lines: [57],
    asks: 'then the components of Kubernetes with kubeconfigs and settings of the kubelet',
    provenBy: {
      [payloadRoute]: ['the kubelet ran in no moment of the new boot before the last step of stage B'],
      [payloadOracle]: [
        'stage B makes a wrecked machine a node without drift, and removes what the former configuration had',
      ],
    },
  },
  {
    lines: [58],
    asks: 'in the end the node is a member that works',
    provenBy: { [payloadRoute]: ['the machine has the configuration of its pool, and shows no drift'] },
  },
  {
    lines: [60],
    asks: 'progress is reported throughout',
    provenBy: {
      'src/in-place/reporting/reporter.test.ts': [
        'are recorded in their order, each phase with its first time, each check with its result',
        'wait on the disk while no server answers, and are sent by the next process in their order',
      ],
      [foreign]: ['that is away delays nothing, and gets everything in order when it is back, also from a new process'],
    },
  },
  {
    lines: [62],
    asks: 'labels and taints are applied again; the label is gone before the new kubelet starts',
    provenBy: {
      [wreckedNode]: [
        'the label was gone before the first sign of life of the new boot, by the versions of the API',
        'labels and taints are those of before, with what others changed meanwhile',
        'the cordon went last, with the taint that keeps workloads away until then',
      ],
      'test/e2e/in-place/failures.ts': [
        '25: is waited for while the kubelet is held, and ends as LabelClearTimeout with the kubelet as before',
      ],
      [attemptSteps]: ['is removed once the kubelet is stopped, and not before'],
    },
  },
  {
    lines: [64],
    asks: 'they are kept in a record of their own, and a service with the rights of an administrator applies them',
    provenBy: {
      [attemptSteps]: ['is the claim, then the snapshot'],
      'src/in-place/controller/merge-node.test.ts': [
        'whatever the snapshot had is there again, by name',
        'whatever somebody added or changed meanwhile is there as it was left',
      ],
    },
  },
];

proveLines(seed);

test('no line is left out', () => {
  const asked = seed.flatMap(({ lines: [first, last = first] }) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
  const blank = [2, 4, 6, 8, 9, 11, 16, 21, 23, 24, 26, 30, 35, 37, 39, 47, 59, 61, 63];
  const everyLine = Array.from({ length: 64 }, (_, index) => index + 1);
  expect(everyLine.filter((line) => !asked.includes(line) && !blank.includes(line))).toEqual([]);
});

describe('what the document fixes by name:', () => {
  test('the label and its value, beside a neutral one', () => {
    expect([...scheduleLabels]).toContain('ibm-cloud.kubernetes.io/ipb-schedule');
    expect(scheduledValue).toBe('true');
  });

  test('each system needs its own keys in the Secret, and not those of the other', () => {
    const neededBy = (system: (typeof inPlaceSystems)[number]) =>
      Object.entries(attemptSecretKeys)
        .filter(([, { needed }]) => needed.length === 1 && needed.some((one) => one === system))
        .map(([key]) => key);
    expect(neededBy('rhcos')).toEqual(['ignition-url', 'ignition-token', 'ignition-ca.crt']);
    expect(neededBy('rhel')).toEqual([
      'bootstrap-url',
      'bootstrap-token',
      'bootstrap-ca.crt',
      'worker-id',
      'cluster-id',
      'region',
    ]);
  });

  test('no kubelet runs from the moment it is stopped until the machine has its new configuration', () => {
    const held = Object.entries(phaseTable).filter(([, { holdsKubelet }]) => holdsKubelet);
    expect(held.map(([phase]) => phase)).toEqual([
      'KubeletStopped',
      'LabelCleared',
      'Applying',
      'BaseDone',
      'Rebooting2',
      'KubeApplying',
      'Rebooting',
    ]);
  });

  test('the command that completes a first boot has the name and the flag of the document’s daemon', () => {
    const verbs = readFileSync('src/cli/on-machine/on-machine-verbs.ts', 'utf8');
    expect(verbs).toContain("'machine-config-daemon firstboot-complete-machineconfig'");
    expect(readFileSync('src/cli/on-machine/complete-first-boot.ts', 'utf8')).toContain('--root-mount');
  });
});
