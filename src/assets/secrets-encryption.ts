// The first key that encrypts Secrets in etcd. kube-apiserver of the bootstrap machine uses it already, so no Secret is
// ever stored in clear. `firstlight secrets rotate-key` replaces it; nothing else reads this file after the bootstrap.
import {
  encryptionConfigurationSchema,
  encryptionConfigurationText,
  newEncryptionKey,
  secretsEncryptionFile,
} from '../contract/secrets-encryption.ts';
import { asset, textOf } from './asset.ts';
import { readAssetJson } from './checked-files.ts';

const path = `tls/${secretsEncryptionFile}`;

export const secretsEncryption = asset({
  name: 'secrets-encryption',
  why: 'Who gets hold of a disk or a backup of etcd must not read the Secrets in it, so kube-apiserver encrypts them.',
  neededUntil:
    'the key is replaced (firstlight secrets rotate-key), and with every backup of etcd from before that; held by: bootstrap machine, then every master, for kube-apiserver alone; a copy in the asset folder',
  inputs: {},
  outputs: [path],
  generate: (_inputs, { random, clock }) => [
    { path, content: encryptionConfigurationText([newEncryptionKey(random, clock.now())]), mode: 0o600 },
  ],
  read: (files) => readAssetJson(path, textOf(files), encryptionConfigurationSchema),
});
