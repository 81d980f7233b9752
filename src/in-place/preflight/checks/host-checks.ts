// P01 to P06: the Secret and the host itself. What is wrong here stays wrong until somebody changes one of them.
import { attemptSecretName } from '../../../contract/in-place.ts';
import { runtimeUnitFolder } from '../../../contract/machine-paths.ts';
import { missingSecretKeys } from '../../attempt-secret.ts';
import { isEnd } from '../../phases.ts';
import { judged, type PreflightCheck, type PreflightVerdict } from '../check.ts';
import type { HostFacts, OperatingSystem, PreflightFacts } from '../facts.ts';

function judgeSecret({ node, secret, now }: PreflightFacts): PreflightVerdict {
  const name = attemptSecretName(node);
  const missing = missingSecretKeys(secret);
  const notAfter = secret['not-after'] ?? '';
  const mistakes = [
    ...(missing.length === 0 ? [] : [`lacks ${missing.join(', ')}`]),
    ...(notAfter !== '' && !(Date.parse(notAfter) > now.getTime()) ? [`expired at ${notAfter}`] : []),
  ];
  return mistakes.length === 0
    ? judged.ok(`secret ${name} is complete until ${notAfter}`)
    : judged.permanent(`secret ${name} ${mistakes.join(' and ')}`);
}

const packageFamilies = {
  dnf: { ids: ['rhel', 'centos', 'rocky', 'almalinux', 'fedora'], oldest: { rhel: 8 } },
  apt: { ids: ['debian', 'ubuntu'], oldest: { debian: 12, ubuntu: 22 } },
} as const;
const oldestMajors: Readonly<Record<string, number>> = { ...packageFamilies.dnf.oldest, ...packageFamilies.apt.oldest };

/** The package manager of a system; undefined where it is none that the route by payload knows. */
export function packageManagerOf({ id, like }: OperatingSystem): 'apt' | 'dnf' | undefined {
  const names = [id, ...like];
  if (names.some((name) => (packageFamilies.dnf.ids as readonly string[]).includes(name))) return 'dnf';
  return names.some((name) => (packageFamilies.apt.ids as readonly string[]).includes(name)) ? 'apt' : undefined;
}

function isSupported(system: OperatingSystem, os: string | undefined): boolean {
  const major = Number.parseInt(system.version, 10);
  if (os === 'rhcos') return (system.id === 'rhcos' && major >= 4) || system.isFirstlightImage;
  const manager = os === 'rhel' ? packageManagerOf(system) : undefined;
  // Debian's testing has no version.
  return manager !== undefined && !(major < (oldestMajors[system.id] ?? 0));
}

function judgeSystem({ host: { system }, secret }: PreflightFacts): PreflightVerdict {
  const seen = `host is ${system.id} ${system.version}`.trimEnd();
  return isSupported(system, secret.os)
    ? judged.ok(`${seen}${system.isFirstlightImage ? ', an image of a release' : ''}`)
    : judged.permanent(`${seen}, secret is for ${secret.os ?? 'no system'}`);
}

function judgeNode({ attemptId, isAdoption, host: { attempt }, nodeObject }: PreflightFacts): PreflightVerdict {
  if (attempt !== undefined && attempt.attemptId !== attemptId && !isEnd(attempt.phase)) {
    return judged.permanent(`attempt ${attempt.attemptId} in phase ${attempt.phase}`);
  }
  if (isAdoption || nodeObject === undefined) return judged.ok('the machine is no node yet, and no attempt is active');
  if (nodeObject.status === 'unseen') {
    return judged.warning(`whether the node is cordoned cannot be seen from here: ${nodeObject.reason}`);
  }
  if (!nodeObject.isCordoned) return judged.permanent('node is schedulable');
  // The daemon ends its change or undoes it, and then it is the turn of this attempt.
  if (nodeObject.configState === 'Working') return judged.transient('the configuration of the node is being changed');
  return judged.ok('node is cordoned, no other attempt is active');
}

/** Tools that some host may need, for whoever looks which of them it has. */
export const lookedForTools = ['systemctl', 'rpm-ostree', 'dnf', 'apt-get', 'bash', 'tar'] as const;

/** ansible is installed by the package manager where it is missing. */
function neededTools({ system }: HostFacts, os: string | undefined): readonly string[] {
  if (os !== 'rhel') return ['systemctl', ...(system.id === 'rhcos' ? ['rpm-ostree'] : [])];
  return ['systemctl', 'bash', 'tar', packageManagerOf(system) === 'apt' ? 'apt-get' : 'dnf'];
}

function judgeTools({ host, secret }: PreflightFacts): PreflightVerdict {
  const missing = [
    ...(host.isRoot ? [] : ['the rights of root']),
    ...(host.hasSystemd ? [] : [runtimeUnitFolder]),
    ...neededTools(host, secret.os).filter((tool) => !host.tools.includes(tool)),
  ];
  return missing.length === 0
    ? judged.ok('root, systemd and the tools of the route are there')
    : judged.permanent(`missing ${missing.join(', ')}`);
}

const skewMaxMs = 60_000;

function judgeClock({ payload, now }: PreflightFacts): PreflightVerdict {
  const date = payload?.answer.status === 'answered' ? payload.answer.value.date : undefined;
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return judged.skipped('no server said what time it is');
  const seconds = Math.round((now.getTime() - theirs) / 1000);
  return Math.abs(now.getTime() - theirs) <= skewMaxMs
    ? judged.ok(`clock skew ${seconds}s`)
    : judged.permanent(`clock skew ${seconds}s`);
}

const mib = 2 ** 20;
const gib = 2 ** 30;
/** `/boot` counts where it is a disk of its own. */
export const neededBytes: Readonly<Record<string, number>> = {
  '/': 10 * gib,
  '/var': 10 * gib,
  '/boot': 150 * mib,
};

function judgeSpace({ host: { space } }: PreflightFacts): PreflightVerdict {
  const tight = space.filter(({ path, freeBytes }) => freeBytes < (neededBytes[path] ?? 0));
  // The change goes to the disk that has the space: of `/` and `/var` one is enough.
  const isRoomy = space.some(({ path, freeBytes }) => path !== '/boot' && freeBytes >= (neededBytes[path] ?? 0));
  const short = tight.filter(({ path }) => path === '/boot' || !isRoomy);
  return short.length === 0
    ? judged.ok(space.map(({ path, freeBytes }) => `${path} has ${sizeText(freeBytes)}`).join(', '))
    : judged.permanent(
        short
          .map(({ path, freeBytes }) => `${path} has ${sizeText(freeBytes)}, needs ${sizeText(neededBytes[path] ?? 0)}`)
          .join('; '),
      );
}

function sizeText(bytes: number): string {
  return bytes >= gib ? `${(bytes / gib).toFixed(1)} GiB` : `${Math.floor(bytes / mib)} MiB`;
}

export const hostChecks: readonly PreflightCheck[] = [
  {
    id: 'P01',
    title: 'the Secret is complete and has not expired',
    why: 'An attempt that finds a credential missing in its middle would leave the machine half changed.',
    judge: judgeSecret,
  },
  {
    id: 'P02',
    title: 'the operating system is the one of the Secret',
    why: 'Each route knows its own systems, and none of the others.',
    judge: judgeSystem,
  },
  {
    id: 'P03',
    title: 'the node is cordoned and nobody else changes it',
    why: 'Two changes of one machine at the same time have no order, and a schedulable node still gets pods.',
    judge: judgeNode,
  },
  {
    id: 'P04',
    title: 'root, systemd and the tools of the route',
    why: 'The work is done by a unit of the host with the programs of the host.',
    judge: judgeTools,
  },
  {
    id: 'P05',
    title: 'the clock is right',
    why: 'Certificates are refused by a machine whose clock is wrong, and only after it was changed.',
    judge: judgeClock,
  },
  {
    id: 'P06',
    title: 'free space',
    why: 'A change that fills the disk can neither be finished nor be undone.',
    judge: judgeSpace,
  },
];
