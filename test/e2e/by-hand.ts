// A bootstrap that a person runs stage by stage: what they are shown, stages by hand beside the service, and the scripts
// of the document. For the test that disturbs a bootstrap (bootstrap-restarts.test.ts).
import { namedStages } from '../../src/contract/bootstrap-stages.ts';
import { type CliOutcome, eventually, startCli } from './machine-lab.ts';

export interface HeldBootstrap {
  readonly dir: string;
  /** Runs a shell command on the bootstrap machine. */
  readonly run: (script: string) => Promise<string>;
}

const render = '/opt/firstlight/render';

/** Until bootkube itself has said so this many times: once per start of its service. */
export async function pausedBefore({ run }: HeldBootstrap, point: string, times = 1): Promise<void> {
  await eventually(`the pause before ${point}`, 180, async () => {
    const said = await run('journalctl --no-pager --quiet --unit=bootkube').catch(() => '');
    return said.split(`paused before ${point}:`).length > times ? true : undefined;
  });
}

/** `bootkube next` from the asset folder: what it explained, and what it said at the end. */
export async function nextStage({ dir }: HeldBootstrap): Promise<string> {
  const { code, stdout, stderr } = await startCli(['bootkube', 'next', '--dir', dir]).outcome;
  if (code !== 0) throw new Error(`bootkube next ended with ${code}\n${stderr}${stdout}`);
  return `${stderr}${stdout}`;
}

export interface ScriptRun {
  readonly name: string;
  readonly said: string;
}

/** Every script of the document, each after a line was added to what it renders; and whether all is as it was then. */
export async function runScripts({ run }: HeldBootstrap): Promise<{
  readonly scripts: readonly ScriptRun[];
  readonly isSame: boolean;
}> {
  const digest = `cd ${render} && find . -type f | sort | xargs sha256sum | sha256sum`;
  const before = await run(digest);
  const scripts: ScriptRun[] = [];
  for (const [name, number] of Object.entries(namedStages)) {
    if (number > 12) continue;
    const folder = `${render}/${String(number).padStart(2, '0')}-*`;
    const said = await run(
      `echo '# by hand' >> $(ls ${folder}/*.yaml ${folder}/*/*.yaml 2>/dev/null | head -1); ${name}.sh 2>&1`,
    );
    scripts.push({ name, said });
  }
  scripts.push({ name: 'render-all', said: await run('render-all.sh 2>&1') });
  return { scripts, isSame: (await run(digest)) === before };
}

/** The same stage twice at once, after a line was added to its output: both must succeed, one after the other. */
export function twoAtOnce({ run }: HeldBootstrap): Promise<string> {
  const stage = 'firstlight bootkube stage 8 2>&1';
  const file = `${render}/08-kube-apiserver/kube-apiserver-pod.yaml`;
  return run(`echo '# twice' >> ${file}; ${stage} > /run/one & ${stage} > /run/two; wait; cat /run/one /run/two`);
}

/**
 * Stage 13 cannot end while the kubelet is stopped. A stage by hand waits for the service meanwhile and names it; when
 * the service is killed, the stage by hand has its turn. Then the kubelet runs again, and the service goes on.
 */
export async function besideTheService(
  held: HeldBootstrap,
): Promise<{ readonly byHand: string; readonly next: CliOutcome }> {
  const { dir, run } = held;
  await run('systemctl stop kubelet.service');
  const next = startCli(['bootkube', 'next', '--dir', dir]);
  await eventually('the start of the API', 120, async () => {
    const said = await run('journalctl --no-pager --quiet --unit=bootkube');
    return said.includes('Starting kube-apiserver-bootstrap') ? true : undefined;
  });
  const waits = `grep -q 'waits for process' /run/by-hand`;
  await run(`(firstlight bootkube stage 7; echo "ended with $?") > /run/by-hand 2>&1 &
for i in $(seq 1 300); do ${waits} && break; sleep 0.1; done
systemctl kill --signal=KILL bootkube.service
for i in $(seq 1 300); do grep -q 'ended with' /run/by-hand && break; sleep 0.1; done
systemctl start kubelet.service`);
  return { byHand: await run('cat /run/by-hand'), next: await next.outcome };
}
