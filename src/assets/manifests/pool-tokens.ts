// The digests of the pool tokens, for the config servers of masters. To rotate the join key of a running cluster, apply
// a newer one. It is a Secret, although no machine can join with a digest: other users need not know who may join.
import { poolTokensSecret } from '../../contract/cluster-objects.ts';
import { joinKeys, masterJoinKeys, poolTokenDigests } from '../join-keys.ts';
import { manifestAsset } from './manifest-asset.ts';

export const poolTokensManifest = manifestAsset({
  name: 'pool-tokens',
  why: 'Machines that join later are asked by masters whether they belong to us.',
  inputs: { joinKeys, masterJoinKeys },
  objects: (keys) => {
    const { name, namespace, key } = poolTokensSecret;
    const text = `${JSON.stringify(poolTokenDigests(keys), null, 2)}\n`;
    return [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace },
        type: 'Opaque',
        data: { [key]: Buffer.from(text).toString('base64') },
      },
    ];
  },
});
