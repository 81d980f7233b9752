// Everything that is taken of the cluster as a whole.
import type { ClusterCollector } from './cluster-collector.ts';
import { consolesCollector } from './collectors/consoles.ts';
import { diagnosisCollector } from './collectors/diagnosis.ts';
import { folderCollector } from './collectors/folder.ts';
import { resourcesCollector } from './collectors/resources.ts';
import { timelineCollector } from './collectors/timeline.ts';

export const clusterCollectors: readonly ClusterCollector[] = [
  diagnosisCollector,
  folderCollector,
  consolesCollector,
  timelineCollector,
  resourcesCollector,
];
