// The cluster's names as data: CoreDNS's configuration and the one zone that it serves. It answers at once that other
// names do not exist: a resolver that waits for an answer stalls kubelet for seconds.
import { digestOf } from '../../workflow/digest.ts';
import type { LocalMachine } from './local-machine.ts';

export interface ZoneInput {
  readonly domain: string;
  readonly switchAddress: string;
  readonly machines: readonly Pick<LocalMachine, 'name' | 'address'>[];
}

export function nameServerConfig(input: ZoneInput & { readonly zoneFile: string }): string {
  return [
    `${input.domain}:53 {`,
    `  bind ${input.switchAddress}`,
    '  errors',
    `  file ${input.zoneFile} {`,
    // How soon a new machine is known to the others.
    '    reload 500ms',
    '  }',
    '}',
    '.:53 {',
    `  bind ${input.switchAddress}`,
    '  errors',
    '  template ANY ANY {',
    '    rcode NXDOMAIN',
    '  }',
    '}',
    '',
  ].join('\n');
}

/** CoreDNS reads the file again when the serial differs, so the serial is made from the content. */
export function zoneFile({ domain, switchAddress, machines }: ZoneInput): string {
  const records = [
    `switch IN A ${switchAddress}`,
    `api IN A ${switchAddress}`,
    `api-int IN A ${switchAddress}`,
    `*.apps IN A ${switchAddress}`,
    ...machines.map((machine) => `${machine.name} IN A ${machine.address}`),
  ];
  const serial = Number.parseInt(digestOf(records.join('\n')).slice(0, 7), 16);
  const authority = `@ IN SOA switch hostmaster ${serial} 60 60 600 1`;
  return [`$ORIGIN ${domain}.`, '$TTL 5', authority, '@ IN NS switch', ...records, ''].join('\n');
}
