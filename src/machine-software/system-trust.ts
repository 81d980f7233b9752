// Authorities that a machine trusts besides those of its system, put where Debian's update-ca-certificates looks.
// A program reads the system's trust once, when it starts. So containerd does not start before the trust was made: an
// order between units alone would let it start after a failed attempt.
import type { UnitDropin } from './ignition-unit.ts';
import { addedAuthorities, programs, systemTrust, systemTrustMade } from '../contract/machine-paths.ts';
import type { ServiceUnit } from './unit.ts';
import { dropinText } from './unit.ts';

export const systemTrustUnit: ServiceUnit = {
  // The name under which units of other systems wait for the same thing.
  name: 'update-ca-certificates.service',
  why:
    `Makes the system's trust anew from its own authorities and those in ${addedAuthorities}. Runs at every boot, ` +
    'before everything that talks to the world.',
  isEnabled: true,
  unit: {
    Description: 'Put the added authorities into the trust of this system',
    After: ['local-fs.target'],
    Before: ['containerd.service', 'kubelet.service', 'firstlight-agent.service'],
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

/** One file for each certificate: the tool makes a link for the first one in a file only. */
export function authorityFiles(bundle: string): readonly { readonly path: string; readonly text: string }[] {
  const certificates = bundle.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return certificates.map((text, index) => ({
    path: `${addedAuthorities}/firstlight-${index + 1}.crt`,
    text: `${text}\n`,
  }));
}

const dropin = '20-system-trust.conf';

/** containerd waits for the trust; `nodePrograms` are told of it, because Node brings a trust of its own. */
export function systemTrustDropins(nodePrograms: readonly string[]): readonly UnitDropin[] {
  const waits = dropinText({
    unit: { Wants: [systemTrustUnit.name], After: [systemTrustUnit.name] },
    service: { ExecStartPre: [{ program: programs.test, args: ['-e', systemTrustMade] }] },
  });
  const trusts = dropinText({ service: { Environment: { NODE_EXTRA_CA_CERTS: systemTrust } } });
  return [
    { unit: 'containerd.service', name: dropin, text: waits },
    ...nodePrograms.map((unit) => ({ unit, name: dropin, text: trusts })),
  ];
}
