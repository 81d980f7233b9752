// The document about the bootstrap process: what its lines ask for, in a few words of our own, and which tests prove it.
import { nameDifferences, proveLines } from './seed-lines.ts';

proveLines([
  {
    lines: [26],
    asks: 'the bootstrap machine runs the release that its config names, and changes to it where it booted another',
    provenBy: {
      'src/machine-boot/release-pivot/pivot-release.test.ts': [
        'from a layout: images, then programs, then the record; a second run has nothing to do',
        'from a registry, beside the release image and with the credentials of the machine',
        'killed at any change and before any call of a program, the next run continues',
      ],
      'test/e2e/release-pivot.test.ts': [
        'while it is not there, the pivot says what is missing and bootkube renders nothing',
        'through the mirror, with the authority and the pull secret of the install-config',
        'and bootkube goes on with it: stage 2 accepts the release, and what follows is rendered',
      ],
    },
  },
  {
    lines: [128, 143],
    asks: 'bootkube says its milestones in its journal, in this order, and ends with success',
    provenBy: { 'test/e2e/bootstrap-restarts.test.ts': ['the milestones are in the journal, in order'] },
  },
  {
    lines: [150, 175],
    asks: 'a machine boots with a pointer, and the config server gives it the configuration of its role',
    provenBy: {
      'test/oracle/config-server.test.ts': [
        'fetches the configuration of its pool and gets every file that makes it a node',
        'that comes before anything is rendered waits, and has its configuration as soon as it is',
        'metrics tell every answer, health what is missing',
      ],
    },
  },
  {
    lines: [225, 237],
    asks: 'etcd grows member by member, and the bootstrap member leaves last',
    provenBy: {
      'test/e2e/life/fresh-cluster.ts': ['etcd grew one voter at a time, and the bootstrap member left last'],
    },
  },
  {
    lines: [350, 367],
    asks: 'one command gathers journals, units and containers of a bootstrap, whatever state it is in',
    provenBy: {
      'test/e2e/stalls.test.ts': [
        'and the bundle that was made by itself has what the stages rendered, the records, and no secret',
        'a machine that is stopped is gathered from its disk, and its journal is read there',
      ],
      'test/e2e/life/gathering.ts': [
        'has journals, units, containers, etcd and system of every machine',
        'has objects and events of the API, the timeline, and a page that names every machine',
        'has no key and no token of the asset folder, of a machine or of the API',
      ],
      'test/e2e/in-place/adoption.ts': ['it is gathered from by SSH, and not where its host key is another one'],
      'src/gather/gather.test.ts': ['only when nothing at all could be taken is it an error'],
    },
  },
  {
    lines: [231, 232],
    asks: 'on the bootstrap machine etcdctl lists the members, as it is typed',
    provenBy: { 'test/e2e/stalls.test.ts': ['with the commands of the document, over ssh'] },
  },
  {
    lines: [297],
    asks: 'etcd has the masters and not the bootstrap machine',
    provenBy: { 'test/e2e/life/cluster-end.ts': ['status and wait-for agree that the cluster is complete'] },
  },
  {
    lines: [404, 406],
    asks: 'the bootstrap machine is made and removed by itself',
    provenBy: {
      'test/e2e/life/fresh-cluster.ts': ['has three masters and a worker, all Ready, and no bootstrap machine'],
    },
  },
  {
    lines: [304, 308],
    asks: 'the wait for the bootstrap says that its resources may go, and how long it took',
    provenBy: {
      'test/e2e/life/cluster-end.ts': ['status and wait-for agree that the cluster is complete'],
      'src/cli/cluster/wait-options.test.ts': ['a wait says its milestone and how long it took'],
    },
  },
  {
    lines: [318, 319],
    asks: 'whether etcd is healthy: its members, its leader, its network',
    provenBy: {
      'src/diagnose/etcd-checks.test.ts': [
        'whose port is closed between two masters is told by both names, and who else can connect',
        'without one of its voters names the machine, and without two also that nobody leads',
      ],
      'test/e2e/looking/masters.ts': ['a port of etcd that is blocked between two masters is found and named'],
    },
  },
  {
    lines: [320, 325],
    asks: 'whether API and config server can be reached by their names through the balancer',
    provenBy: {
      'test/e2e/stalls.test.ts': ['api-int does not resolve on a master', 'port 22623 is blocked'],
    },
  },
  {
    lines: [352, 360],
    asks: 'a person logs in on the bootstrap machine as core and reads its journal',
    provenBy: {
      'test/e2e/stalls.test.ts': [
        'with the commands of the document, over ssh',
        'over ssh, which accepts no other host key than that of the machine',
      ],
    },
  },
  {
    lines: [363, 364],
    asks: 'crictl shows the log of a container by its id',
    provenBy: { 'test/e2e/stalls.test.ts': ['with the commands of the document, over ssh'] },
  },
  {
    lines: [374, 378],
    asks: 'the logs of bootkube, kubelet, etcd, API server and config server are where the table says',
    provenBy: {
      'test/e2e/stalls.test.ts': [
        'with the commands of the document, over ssh',
        'by machine logs, of units and of containers',
      ],
    },
  },
  {
    lines: [385, 394],
    asks: 'control-plane machines reach both ports of etcd on each other; a closed one is named',
    provenBy: {
      'test/e2e/looking/masters.ts': ['a port of etcd that is blocked between two masters is found and named'],
      'src/diagnose/inside/look-at-etcd.test.ts': [
        'a member that does not run is no failure of the look, and both ports of every other machine are tried',
      ],
    },
  },
  {
    lines: [397, 399],
    asks: 'API and config server are reached through the balancer; a closed port is named',
    provenBy: { 'test/e2e/stalls.test.ts': ['port 22623 is blocked'] },
  },
  {
    lines: [256, 274],
    asks: 'the version operator deploys the operators, and each says how its part of the cluster is',
    provenBy: {
      'src/operators/payload-files.test.ts': [
        'has files whose names say run-level and operator, in the order in which they are applied',
        'marks every object as included, and with the capability of its operator',
      ],
      'src/operators/operators.test.ts': ['$operator: $title'],
    },
  },
  {
    lines: [299],
    asks: 'the bootstrap is complete when the version operator has been through the release',
    provenBy: {
      'src/bootkube/add-ons.test.ts': [
        'succeeds when names work and the version operator has been through the release',
        'fails while the version operator has not been through the release, and says why it does not run',
      ],
      'src/cluster/cluster-operators.test.ts': ['two operators are not well'],
    },
  },
  {
    lines: [298],
    asks: 'masters serve the API before the bootstrap machine leaves',
    provenBy: {
      'src/bootkube/handoff/control-planes.test.ts': [
        'two of three masters that serve the API and the config server are enough',
        'one of three is not: the others are named with what they answer',
      ],
      'test/e2e/life/handoff-client.ts': ['finds only masters behind the Service of the API'],
    },
  },
]);

nameDifferences(['003:249, 252', '003:256–274, 299', '003:298', '003:361', '003:408–410', '003:412–419']);
