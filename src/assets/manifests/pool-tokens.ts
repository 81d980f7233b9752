// The digests of the pool tokens, for the config servers of masters. Applying a newer one is how a join key is rotated in
// a living cluster. A Secret although nothing can be joined with a digest: who may join is nobody else's business.
import { joinKeys, poolTokenDigests } from '../join-keys.ts';
import { manifestAsset } from './manifest-asset.ts';
import { poolTokensSecret } from '../../contract/cluster-objects.ts';

export const poolTokensManifest = manifestAsset({
  name: 'pool-tokens',
  why: 'Machines that join later are asked by masters whether they belong to us.',
  inputs: { joinKeys },
  objects: ({ joinKeys: keys }) => {
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
