// The unit that runs the bootstrapper on a new node, and the drop-in of the kubelet, as values for an Ignition config.
// systemd starts units that only want a failed unit, so the drop-in makes the kubelet itself fail and retry without
// kubelet.env or while a reboot is owed.
import { unitNames } from '../contract/unit-names.ts';
import { nodePaths } from './context.ts';

export interface UnitFile {
  readonly name: string;
  readonly enabled?: boolean;
  readonly contents?: string;
  readonly dropins?: readonly { readonly name: string; readonly contents: string }[];
}

export interface NodeBootstrapOptions {
  /** Absolute path of the program on the node. */
  readonly program: string;
  readonly upgradesOs: boolean;
  readonly skipsSetup: boolean;
  /** Empty or absent: the public bucket. */
  readonly manifestUrl?: string;
  /** Further flags, one per entry. */
  readonly flags?: readonly string[];
}

export const nodeBootstrapUnitName = 'k8s-node-bootstrap.service';

const proxyVariables = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];

export function nodeBootstrapUnit(options: NodeBootstrapOptions): UnitFile {
  const flags = [
    `--upgrade-os=${options.upgradesOs}`,
    `--torcx-skip-setup=${options.skipsSetup}`,
    ...(options.manifestUrl ? [`--torcx-manifest-url=${options.manifestUrl}`] : []),
    '--verbose=debug',
    ...(options.flags ?? []),
  ];
  const command = [options.program, 'torcx', 'bootstrap', ...flags].map(unitWord).join(' ');
  const contents = `[Unit]
Description=Prepare this node for its kubelet: runtime add-on, OS update, kubelet.env
Wants=network-online.target update-ca-certificates.service
After=network-online.target update-ca-certificates.service dbus.service
Before=kubelet.service
ConditionPathExists=|!${nodePaths.kubeletEnv}
ConditionPathExists=|${nodePaths.rebootOwed}

[Service]
Type=oneshot
RemainAfterExit=yes
Restart=on-failure
RestartSec=10
TimeoutStartSec=1h
PassEnvironment=${proxyVariables.join(' ')}
ExecStart=${command}

[Install]
WantedBy=multi-user.target kubelet.service
`;
  return { name: nodeBootstrapUnitName, enabled: true, contents };
}

/** To be merged into the node's kubelet.service, which must have Restart=always and a RestartSec of a few seconds. */
export const kubeletGate: UnitFile = {
  name: unitNames.kubelet,
  dropins: [
    {
      name: '10-node-bootstrap.conf',
      contents: `[Unit]
Wants=${nodeBootstrapUnitName}
After=${nodeBootstrapUnitName}

[Service]
ExecStartPre=/usr/bin/test ! -e ${nodePaths.rebootOwed}
EnvironmentFile=${nodePaths.kubeletEnv}
`,
    },
  ],
};

/** The units for a `ControllerConfig.spec.nodeBootstrap` that names torcx. */
export function nodeBootstrapUnits(options: NodeBootstrapOptions): readonly UnitFile[] {
  return [nodeBootstrapUnit(options), kubeletGate];
}

/** One word of a command line, escaped: systemd expands % and $, and splits at spaces outside quotes. */
function unitWord(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /[\s"'\\]/.test(escaped) ? `"${escaped.replace(/["\\]/g, '\\$&')}"` : escaped;
}
