// Cuts between machines, by packet filters in the machines' own network namespaces: whoever is cut off cannot tell it from a
// broken wire. A cut is in force until it is lifted, or its machine is rebooted.
import { execFileSync } from 'node:child_process';
import { machineNamespace, namespacePath } from '../../../src/platform/local/cluster-folder.ts';

let cuts = 0;

export interface Cut {
  readonly lift: () => void;
}

/** `rules` are matches of nft; whatever they match is dropped, in both directions. */
export function cut(infraId: string, machine: string, rules: readonly string[]): Cut {
  // Several cuts may be in force at once.
  cuts += 1;
  const table = `firstlight_fire_cut_${cuts}`;
  const chain = (hook: string): readonly string[] => [
    `  chain ${hook} {`,
    `    type filter hook ${hook} priority -200;`,
    ...rules.map((rule) => `    ${rule} drop`),
    '  }',
  ];
  nft(infraId, machine, [`table inet ${table} {`, ...chain('input'), ...chain('output'), '}', ''].join('\n'));
  return { lift: () => nft(infraId, machine, `delete table inet ${table}\n`) };
}

/** All packets between two machines. */
export function cutOff(infraId: string, machine: string, addresses: readonly string[]): Cut {
  return cut(
    infraId,
    machine,
    addresses.flatMap((address) => [`ip saddr ${address}`, `ip daddr ${address}`]),
  );
}

function nft(infraId: string, machine: string, text: string): void {
  const namespace = `--net=${namespacePath(machineNamespace(infraId, machine))}`;
  execFileSync('nsenter', [namespace, 'nft', '-f', '-'], { input: text });
}
