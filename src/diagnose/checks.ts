// Every check, causes before effects: a finding may cause findings further down in this list, and never one further up.
// To add a check: a file with its value, and a line here.
import type { DiagnosisCheck } from './check.ts';
import { attemptStuck } from './checks/attempt-stuck.ts';
import { bootstrapHeld } from './checks/bootstrap-held.ts';
import { clockWrong } from './checks/clock-wrong.ts';
import { configDegraded } from './checks/config-degraded.ts';
import { configRefused } from './checks/config-refused.ts';
import { containerWaits } from './checks/container-waits.ts';
import { diskFull } from './checks/disk-full.ts';
import { drainBlocked } from './checks/drain-blocked.ts';
import { etcdAlarm, etcdMemberAway, etcdNoLeader } from './checks/etcd-members.ts';
import { etcdPortClosed } from './checks/etcd-port-closed.ts';
import { etcdSlowDisk } from './checks/etcd-slow-disk.ts';
import { firstBootFailed } from './checks/first-boot-failed.ts';
import { imageMissing } from './checks/image-missing.ts';
import { loadBalancer } from './checks/load-balancer.ts';
import { machineStopped } from './checks/machine-stopped.ts';
import { nameUnresolved } from './checks/name-unresolved.ts';
import { nobodyServes } from './checks/nobody-serves.ts';
import { nodeUnready } from './checks/node-unready.ts';
import { operatorUnwell } from './checks/operator-unwell.ts';
import { poolUnrendered } from './checks/pool-unrendered.ts';
import { portClosed } from './checks/port-closed.ts';
import { rollOutWaits } from './checks/roll-out-waits.ts';
import { somebodyWaits } from './checks/somebody-waits.ts';
import { unitFails } from './checks/unit-fails.ts';

export const checks: readonly DiagnosisCheck[] = [
  bootstrapHeld,
  machineStopped,
  diskFull,
  clockWrong,
  firstBootFailed,
  loadBalancer,
  nameUnresolved,
  portClosed,
  etcdPortClosed,
  configRefused,
  imageMissing,
  unitFails,
  etcdSlowDisk,
  etcdMemberAway,
  etcdAlarm,
  etcdNoLeader,
  nobodyServes,
  containerWaits,
  nodeUnready,
  poolUnrendered,
  configDegraded,
  drainBlocked,
  attemptStuck,
  operatorUnwell,
  somebodyWaits,
  rollOutWaits,
];
