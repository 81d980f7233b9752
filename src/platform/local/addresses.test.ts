import { describe, expect, test } from 'vitest';
import { hardwareAddress, machineAddressMistake, nextAddress, parseMachineNetwork, portName } from './addresses.ts';

const network = parseMachineNetwork('10.99.0.0/24');

describe('a machine network', () => {
  test('has the switch at its first address and machines from the tenth on', () => {
    expect(network.switchAddress).toBe('10.99.0.1');
    expect(nextAddress(network, new Set())).toBe('10.99.0.10');
    expect(nextAddress(network, new Set(['10.99.0.10', '10.99.0.12']))).toBe('10.99.0.11');
  });

  test('counts across a byte', () => {
    const wide = parseMachineNetwork('172.16.0.0/12');
    const taken = new Set(Array.from({ length: 246 }, (_, n) => `172.16.0.${n + 10}`));
    expect(nextAddress(wide, taken)).toBe('172.16.1.0');
  });

  test('that is full says so', () => {
    const small = parseMachineNetwork('192.168.7.32/27');
    const taken = new Set(Array.from({ length: 21 }, (_, n) => `192.168.7.${42 + n}`));
    expect(() => nextAddress(small, taken)).toThrow('no free address');
  });

  test.each([
    ['10.99.0.1/24', 'bits behind the prefix'],
    ['10.99.0.0/28', 'smaller than /27'],
    ['fd00::/64', 'not an IPv4 network'],
    ['10.99.0.0', 'not an IPv4 network'],
    ['rubbish', 'not an IPv4 network'],
  ])('cannot be %s: %s', (cidr, reason) => {
    expect(() => parseMachineNetwork(cidr)).toThrow(reason);
  });

  test.each([
    ['10.99.0.2', undefined],
    ['10.99.0.1', 'the address of the switch'],
    ['10.99.0.0', 'the first or last address of 10.99.0.0/24'],
    ['10.99.0.255', 'the first or last address of 10.99.0.0/24'],
    ['10.98.0.9', 'outside of 10.99.0.0/24'],
  ])('%s as a machine: %s', (address, mistake) => {
    expect(machineAddressMistake(network, address)).toBe(mistake);
  });

  test('gives every address a port name that the kernel accepts', () => {
    expect(portName('10.99.0.10')).toBe('p0a63000a');
    expect(portName('255.255.255.255').length).toBeLessThan(16);
  });

  test('a machine that gets the address of another has its hardware address, too', () => {
    expect(hardwareAddress('10.99.0.12')).toBe('02:00:0a:63:00:0c');
    // Locally administered, and of one machine.
    expect(Number.parseInt(hardwareAddress('10.99.0.12').slice(0, 2), 16) & 0b11).toBe(0b10);
  });
});
