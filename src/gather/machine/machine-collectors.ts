// Everything that is taken from a machine, the most telling first: what could not be taken in time comes last.
import { containersCollector } from './collectors/containers.ts';
import { etcdCollector } from './collectors/etcd.ts';
import { journalsCollector } from './collectors/journals.ts';
import { networkCollector } from './collectors/network.ts';
import { recordsCollector } from './collectors/records.ts';
import { renderedCollector } from './collectors/rendered.ts';
import { systemCollector } from './collectors/system.ts';
import { unitsCollector } from './collectors/units.ts';
import type { MachineCollector } from './machine-collector.ts';

export const machineCollectors: readonly MachineCollector[] = [
  recordsCollector,
  unitsCollector,
  journalsCollector,
  containersCollector,
  networkCollector,
  etcdCollector,
  systemCollector,
  renderedCollector,
];
