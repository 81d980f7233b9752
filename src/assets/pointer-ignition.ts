// master.ign and worker.ign hold only the address of the config server, the authority that signed it, and a pool token.
// Spec 3.2 has all of it, so that any Ignition since 2.7 can boot from these files.
import { poolToken, poolTokenHeader, poolTokenHeaderValue } from '../admission/pool-token.ts';
import type { IgnitionConfig } from '../ignition/config.ts';
import { dataUrl } from '../ignition/data-url.ts';
import { serialize } from '../ignition/serialize.ts';
import { asset } from './asset.ts';
import { readAssetIgnition } from './checked-files.ts';
import { clusterNames } from './cluster-names.ts';
import { joinKeys, masterJoinKeys } from './join-keys.ts';
import { rootCa } from './signers.ts';

interface Pointer {
  readonly why: string;
  readonly neededUntil: string;
  readonly keys: typeof joinKeys | typeof masterJoinKeys;
}

function pointerAsset(pool: 'master' | 'worker', { why, neededUntil, keys: joinKeysOfPool }: Pointer) {
  const path = `${pool}.ign`;
  return asset({
    name: `${pool}-ignition`,
    why,
    neededUntil,
    inputs: { names: clusterNames, rootCa, joinKeys: joinKeysOfPool },
    outputs: [path],
    generate: ({ names, rootCa: ca, joinKeys: keys }) => {
      const token = poolToken(Buffer.from(keys.current.key, 'base64'), pool);
      const pointer: IgnitionConfig = {
        ignition: {
          version: '3.2.0',
          config: {
            merge: [
              {
                source: `${names.configServerUrl}/config/${pool}`,
                httpHeaders: [{ name: poolTokenHeader, value: poolTokenHeaderValue(token) }],
              },
            ],
          },
          security: { tls: { certificateAuthorities: [{ source: dataUrl(ca.certificatePem) }] } },
        },
      };
      return [{ path, content: serialize(pointer), mode: 0o600 }];
    },
    read: (files) => readAssetIgnition(path, files),
  });
}

export const masterIgnition = pointerAsset('master', {
  why: 'A master is born knowing only whom to ask for its configuration, so that the answer can change after it was made.',
  neededUntil: 'the masters have joined; its token ends after a day, and node add makes one for each later master',
  keys: masterJoinKeys,
});
export const workerIgnition = pointerAsset('worker', {
  why: 'A worker is born knowing only whom to ask for its configuration; the same file serves workers of the next months.',
  neededUntil: 'no worker joins with it any more; it serves later machines as well as the first',
  keys: joinKeys,
});
