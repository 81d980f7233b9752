// `firstlight gather`
import { defineVerb } from '../frame/verb.ts';
import { gatherOptions, runGather } from './run-gather.ts';

export const gatherVerb = defineVerb({
  description: [
    'Takes journals, states of units, logs of containers, records and rendered manifests from every machine, objects and',
    'events from the API, members and health of etcd, the diagnosis and the timeline, and writes them into one file,',
    'log-bundle-<time>.tar.gz in the asset folder; index.html in it is the place to begin. It changes nothing, and the',
    'cluster need not work: of a machine that is stopped its disk is read. Secrets, keys and tokens are never taken. What',
    'could not be taken is listed with its reason; only when nothing at all could be taken is that an error.',
    'Machines elsewhere are reached by the ssh of this host; your ssh configuration is used.',
  ].join(' '),
  options: gatherOptions,
  examples: [
    'firstlight gather',
    'firstlight gather --dir lab -o json',
    'firstlight gather --master 10.0.0.5 --ssh-key id',
  ],
  run: (invocation) => runGather(invocation, 'all'),
});
