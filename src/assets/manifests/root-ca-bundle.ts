// The public half of root-ca, for whoever has to talk to a config server from inside the cluster.
import { rootCa } from '../signers.ts';
import { manifestAsset } from './manifest-asset.ts';
import { systemNamespace } from '../../contract/cluster-objects.ts';

export const rootCaManifest = manifestAsset({
  name: 'root-ca-bundle',
  why: 'A node that is bootstrapped again in place must know which config server to believe.',
  inputs: { rootCa },
  objects: ({ rootCa: { certificatePem } }) => [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'root-ca', namespace: systemNamespace },
      data: { 'ca.crt': certificatePem },
    },
  ],
});
