// `firstlight ssh-relay`: the ProxyCommand of ssh, which runs in the network of a cluster.
import { argument } from '../frame/option.ts';
import { defineVerb } from '../frame/verb.ts';

export const sshRelayVerb = defineVerb({
  args: { address: argument('where to connect to'), port: argument('its port') },
  examples: ['firstlight ssh-relay 10.99.0.2 22'],
  run: async ({ host, args: { address, port }, signal }) => {
    await host.network.relay(address, Number(port), signal);
    return { data: null, text: '' };
  },
});
