// `firstlight machine-facts`: what `firstlight diagnose` runs inside a machine.
import { configServerPort } from '../../contract/ports.ts';
import { cliErrors } from '../frame/errors.ts';
import { option, portNumber, repeatableOption, text } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const machineFactsVerb = defineVerb({
  options: {
    name: repeatableOption('--name <name>', 'a name that must resolve here', text),
    balancer: option('--balancer <address>', 'where the load balancer is', text),
    port: repeatableOption('--port <port>', 'a port of the load balancer', portNumber),
    etcdPeer: repeatableOption('--etcd-peer <address>', 'another control-plane machine', text),
  },
  examples: [`firstlight machine-facts --name api-int.demo.test --balancer 10.99.0.1 --port ${configServerPort}`],
  run: async ({ host, options: { name: names, balancer, port: ports, etcdPeer: etcdPeers } }) => {
    if (balancer === undefined) {
      throw cliErrors.USAGE({ command: 'firstlight machine-facts', reason: '--balancer ADDRESS is missing' });
    }
    const { lookInside } = await import('../../diagnose/inside/look-inside.ts');
    const facts = await lookInside(host, { names, balancer, ports, etcdPeers });
    return { data: facts, text: `${JSON.stringify(facts, null, 2)}\n` };
  },
});
