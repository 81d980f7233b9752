// `firstlight backup`
import { option, text } from '../frame/option.ts';
import { shownPath, typedPath } from '../frame/paths.ts';
import { defineVerb } from '../frame/verb.ts';

export const backupVerb = defineVerb({
  description: [
    'Takes a snapshot of etcd from a master that is well, verifies it, and writes it into one file with all that a',
    'restore must know. One master with a living etcd is enough. Secrets are in it as in etcd, encrypted; the keys that',
    'open them are in it too, sealed by tls/root-ca.key of the asset folder. Keep the file and a copy of the asset',
    'folder in two places that are not lost together: firstlight restore needs both.',
  ].join(' '),
  options: {
    to: option('--to <file>', 'the file to write; a new one in backups/ of the asset folder if not given', text),
  },
  examples: ['firstlight backup', 'firstlight backup --dir lab --to /mnt/safe/lab.tar.gz', 'firstlight backup -o json'],
  run: async (invocation) => {
    const { host, global, options, emit, signal } = invocation;
    const { inMegabytes, takeBackup } = await import('../../cluster/recovery/take-backup.ts');
    const to = options.to === undefined ? undefined : typedPath(host, options.to);
    const { file, sizeBytes, manifest } = await takeBackup({ host, dir: global.dir, to, emit, signal });
    const { encryption, ...facts } = manifest;
    const { revision, keys, member } = manifest.etcd;
    const shown = options.to ?? shownPath(invocation, file.slice(global.dir.length));
    const about = `revision ${revision}, ${keys} keys, from ${member}, verified`;
    return {
      data: { file, sizeBytes, ...facts, encryptionKeys: encryption.keys },
      text: `${shown}  (${inMegabytes(sizeBytes)}: ${about})\n`,
    };
  },
});
