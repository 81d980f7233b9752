// The certificate of root-ca, for programs inside the cluster that connect to a config server.
import { systemNamespace } from '../../contract/cluster-objects.ts';
import { rootCa } from '../signers.ts';
import { manifestAsset } from './manifest-asset.ts';

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
