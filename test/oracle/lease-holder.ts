// A process that holds a Lease until it is killed. Prints one line when it leads.
import { realHost } from '../../src/host/real/real-host.ts';
import { connectKubernetes } from '../../src/kubernetes/client.ts';
import { type LeaseTimes, leadWhile } from '../../src/kubernetes/lease.ts';

const [path = '', identity = '', times = ''] = process.argv.slice(2);
const host = realHost();
const client = await connectKubernetes(host, { path });
await leadWhile(
  {
    client,
    host,
    namespace: 'default',
    name: 'one',
    identity,
    times: JSON.parse(times) as LeaseTimes,
    signal: new AbortController().signal,
  },
  async ({ signal }) => {
    process.stdout.write('leading\n');
    for (;;) await host.clock.sleep(1_000, signal);
  },
);
