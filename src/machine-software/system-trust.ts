// Authorities that a machine trusts besides those of its system, put where Debian's update-ca-certificates looks. A
// program reads the system's trust once, when it starts. So containerd must not start before the trust store is
// written: an order between units alone would let it start after a failed attempt.

import { addedAuthorities, programs, systemTrust, systemTrustMade } from '../contract/machine-paths.ts';
import { unitNames } from '../contract/unit-names.ts';
import type { UnitDropin } from './ignition-unit.ts';
import type { ServiceUnit } from './unit.ts';
import { dropinText } from './unit.ts';

export const systemTrustUnit: ServiceUnit = {
  // Units of other systems wait for the same work by this name.
  name: unitNames.systemTrust,
  why:
    `Makes the system's trust anew from its own authorities and those in ${addedAuthorities}. Runs at every boot, ` +
    'before everything that talks to the world.',
  isEnabled: true,
  unit: {
    Description: 'Put the added authorities into the trust of this system',
    After: ['local-fs.target'],
    Before: [unitNames.containerd, unitNames.kubelet, unitNames.agent],
    StartLimitIntervalSec: 0,
  },
  service: {
    Type: 'oneshot',
    RemainAfterExit: true,
    ExecStart: { program: programs.updateCaCertificates, args: [] },
    ExecStartPost: [{ program: programs.touch, args: [systemTrustMade] }],
    Restart: 'on-failure',
    RestartSec: 1,
  },
  install: { WantedBy: ['multi-user.target'] },
};

/** One file per certificate: update-ca-certificates makes a link only for the first certificate of a file. */
export function authorityFiles(bundle: string): readonly { readonly path: string; readonly text: string }[] {
  const certificates = bundle.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return certificates.map((text, index) => ({
    path: `${addedAuthorities}/firstlight-${index + 1}.crt`,
    text: `${text}\n`,
  }));
}

const dropin = '20-system-trust.conf';

/** containerd waits for the trust store; `nodePrograms` get its path, because Node uses its own store by default. */
export function systemTrustDropins(nodePrograms: readonly string[]): readonly UnitDropin[] {
  const waits = dropinText({
    unit: { Wants: [systemTrustUnit.name], After: [systemTrustUnit.name] },
    service: { ExecStartPre: [{ program: programs.test, args: ['-e', systemTrustMade] }] },
  });
  const trusts = dropinText({ service: { Environment: { NODE_EXTRA_CA_CERTS: systemTrust } } });
  return [
    { unit: unitNames.containerd, name: dropin, text: waits },
    ...nodePrograms.map((unit) => ({ unit, name: dropin, text: trusts })),
  ];
}
