// What the asset folder says about the run and its cluster. The install-config is taken from the manifest that holds it
// without its secrets.
import { join } from 'node:path';
import { clusterConfigPath, clusterJournalPath, ownFolder } from '../../../contract/asset-folder.ts';
import { inventoryFile } from '../../../contract/inventory.ts';
import type { ClusterCollector } from '../cluster-collector.ts';

const taken: Readonly<Record<string, string>> = {
  [`${ownFolder}/log`]: 'folder/log.txt',
  [clusterJournalPath]: 'folder/cluster-journal.txt',
  [inventoryFile]: 'folder/inventory.json',
  'metadata.json': 'folder/metadata.json',
  [clusterConfigPath]: 'folder/cluster-config.yaml',
};

export const folderCollector: ClusterCollector = {
  name: 'folder',
  takes: 'log and journal of the commands on this host, inventory, metadata, the install-config without its secrets',
  collect: async ({ host, dir }, contents) => {
    for (const [from, to] of Object.entries(taken)) {
      contents.add(to, (await host.files.readIfPresent(join(dir, from))) ?? '');
    }
  },
};
