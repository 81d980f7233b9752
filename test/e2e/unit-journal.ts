// What a machine's journal says about its units, and what its kubelet runs beside what the stages rendered.

export interface JournalEntry {
  readonly atUs: number;
  readonly boot: string;
  readonly unit: string;
  /** systemd's own word for what happened to the unit, where the entry is systemd's. */
  readonly messageId: string;
  readonly message: string;
}

/** `journalctl --output=json`, oldest first. */
export function journalOf(text: string): readonly JournalEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map((raw) => ({
      atUs: Number(raw['__REALTIME_TIMESTAMP']),
      boot: textOf(raw['_BOOT_ID']),
      unit: textOf(raw['UNIT']) || textOf(raw['_SYSTEMD_UNIT']),
      messageId: textOf(raw['MESSAGE_ID']),
      message: textOf(raw['MESSAGE']),
    }));
}

/** Messages that are not text come as lists of bytes; none of ours are. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** "Starting …": SD_MESSAGE_UNIT_STARTING of sd-messages.h. */
const startingId = '7d4958e842da4a758f6c1cdc7b36dcc5';

export function starts(entries: readonly JournalEntry[], unit: string): readonly JournalEntry[] {
  return entries.filter((entry) => entry.unit === unit && entry.messageId === startingId);
}

/** Digests of the pods that run and of those that were rendered; and stage 13's answer to an altered byte. */
export async function installedPods(
  run: (script: string) => Promise<string>,
): Promise<{ readonly pods: string; readonly rendered: string; readonly refused: string }> {
  const sums = (files: string): string => `for f in ${files}; do echo "$(basename $f) $(sha256sum < $f)"; done | sort`;
  const render = '/opt/firstlight/render';
  const stages = ['07-etcd', '08-kube-apiserver', '09-controller-manager', '10-scheduler'];
  const pod = `${render}/07-etcd/etcd-pod.yaml`;
  return {
    pods: await run(sums('/etc/kubernetes/manifests/*-pod.yaml')),
    rendered: await run(sums(stages.map((stage) => `${render}/${stage}/*-pod.yaml`).join(' '))),
    refused: await run(
      [
        // The unit itself would notice the byte, too, and render the file anew.
        'systemctl stop bootkube.service',
        `cp ${pod} /run/kept && echo >> ${pod}`,
        'firstlight bootkube stage 13 2>&1',
        `cp /run/kept ${pod}`,
        'systemctl start --no-block bootkube.service',
      ].join('; '),
    ),
  };
}
