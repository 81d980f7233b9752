// The inventory inside the cluster: approvers and agents read it there, `node add` and `node remove` change it there.
import { inventoryConfigMap, inventoryKey } from '../../contract/cluster-objects.ts';
import { inventoryText } from '../../contract/inventory.ts';
import { inventory } from '../inventory.ts';
import { manifestAsset } from './manifest-asset.ts';

export const inventoryManifest = manifestAsset({
  name: 'machine-inventory',
  why: 'After the bootstrap machine is gone the masters decide who may join, by the same list.',
  inputs: { inventory },
  objects: ({ inventory: list }) => {
    const { apiVersion, kind, name, namespace } = inventoryConfigMap;
    const data = { [inventoryKey]: inventoryText(list) };
    return [{ apiVersion, kind, metadata: { name, namespace }, data }];
  },
});
