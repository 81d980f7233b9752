// A machine and a client of the API that write control characters where an administrator will read them: what our verbs
// print shows them, on every output format, and no line of theirs passes for one of ours.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { firstBootStatusPath } from '../../../src/contract/first-boot-status.ts';
import { eventually, inside, startCli } from '../machine-lab.ts';
import { type TrustCluster, trustKubectl } from './trust-cluster.ts';

/** Clears the screen, sets the title, paints by C1, turns the direction and forges a line of ours. */
const hostile = 'no\u001B[2J\u001B]0;owned\u0007\u009B31m\u202Edisk\r\nmaster-0  master  10.0.0.9  running';
const shown = 'no\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u202edisk\\r\\nmaster-0  master  10.0.0.9  running';
const obeyed = /[\p{Cf}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/u;

/** What the verb prints about it: as text a shown line, as data the very text that was sent. */
async function expectShown(verb: readonly string[]): Promise<void> {
  const text = await startCli(verb).outcome;
  expect(text.stdout, text.stderr).toContain(shown);
  const json = await startCli([...verb, '-o', 'json']).outcome;
  expect(JSON.stringify(JSON.parse(json.stdout))).toContain(JSON.stringify(hostile).slice(1, -1));
  const yaml = await startCli([...verb, '-o', 'yaml']).outcome;
  for (const { stdout, stderr } of [text, json, yaml]) expect(`${stdout}${stderr}`).not.toMatch(obeyed);
}

export function terminalOutputTopic(cluster: TrustCluster): void {
  const worker = 'worker-0';

  test('root on a worker writes control characters into its state: every verb shows them', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const lie = JSON.stringify({ phase: 'failed', startedAt: at, updatedAt: at, reason: hostile });
    const encoded = Buffer.from(lie).toString('base64');
    await inside(cluster.infraId(), worker, `cp -p ${firstBootStatusPath} /run/kept.json`);
    try {
      await inside(cluster.infraId(), worker, `echo ${encoded} | base64 -d > ${firstBootStatusPath}`);
      await expectShown(['machine', 'list', '--cluster', cluster.infraId()]);
      await expectShown(['status', '--dir', cluster.dir]);
      await expectShown(['diagnose', '--dir', cluster.dir]);
    } finally {
      await inside(cluster.infraId(), worker, `mv /run/kept.json ${firstBootStatusPath}`);
    }
  });

  test('a line of a machine’s journal that turns the direction of text is shown on a terminal', async () => {
    await inside(cluster.infraId(), worker, "printf 'evil\\342\\200\\256drow\\n' | systemd-cat -t trust-terminal");
    const words = ['machine', 'logs', '--cluster', cluster.infraId(), worker, '-n', '200'];
    const command = [process.execPath, 'src/main.ts', ...words].join(' ');
    const look = async (): Promise<true | undefined> => {
      const seen = execFileSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' });
      expect(seen).not.toContain('\u202E');
      return seen.includes('evil\\u202edrow') ? true : undefined;
    };
    await eventually('the line in the journal', 10, look);
  });

  describe('a pod whose status carries control characters', () => {
    const pod = ['-n', 'kube-system', 'pod/trust-terminal'];
    const object = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'trust-terminal', namespace: 'kube-system' },
      // No kubelet answers to this name, so the status stays as it is written here.
      spec: { nodeName: 'nobody', containers: [{ name: 'one', image: 'none.invalid/none:1' }] },
    };
    const one = { name: 'one', image: '', imageID: '', ready: false, restartCount: 0 };
    const waiting = { reason: 'ImagePullBackOff', message: hostile };
    const status = { status: { containerStatuses: [{ ...one, state: { waiting } }] } };

    test('diagnose shows them', async () => {
      const file = `${cluster.folder}/terminal-pod.json`;
      writeFileSync(file, JSON.stringify(object));
      await trustKubectl(cluster, 'create', '-f', file);
      try {
        await trustKubectl(
          cluster,
          'patch',
          ...pod,
          '--subresource=status',
          '--type=merge',
          '-p',
          JSON.stringify(status),
        );
        await expectShown(['diagnose', '--dir', cluster.dir]);
      } finally {
        await trustKubectl(cluster, 'delete', ...pod, '--force', '--grace-period=0', '--ignore-not-found');
      }
    });
  });
}
