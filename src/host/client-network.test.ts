import { expect, test } from 'vitest';
import { clientNetwork } from './client-network.ts';

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['2001:db8::1', '2001:db8::/64'],
  ['2001:DB8:0:0:ffff::2', '2001:db8::/64'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['nonsense', 'nonsense'],
])('%s counts as %s', (address, network) => expect(clientNetwork(address)).toBe(network));
