// Rules about the proxy, additional certificates, capabilities, mirrors, feature gates and the torcx bootstrapper.
import { type CapabilitiesSpec, type CapabilityName, capabilitySets } from '../contract/cluster-version.ts';
import { mirrorBase, repositoryPath } from './image-mirror.ts';
import type { ConfigRule } from './rule.ts';

export const optionRules: readonly ConfigRule[] = [
  {
    name: 'proxy-has-url',
    says: 'proxy has httpProxy, httpsProxy or both.',
    severity: 'mistake',
    reads: [['proxy']],
    find: ({ config: { proxy } }) => {
      if (proxy === undefined || proxy.httpProxy !== undefined || proxy.httpsProxy !== undefined) return [];
      return [{ path: ['proxy'], message: 'proxy has neither httpProxy nor httpsProxy' }];
    },
  },
  {
    name: 'trust-bundle-is-used',
    says: 'With additionalTrustBundlePolicy Proxyonly, machines trust additionalTrustBundle only where a proxy is set.',
    severity: 'warning',
    reads: [['additionalTrustBundle'], ['additionalTrustBundlePolicy'], ['proxy']],
    find: ({ config }) => {
      const isUsed = config.additionalTrustBundlePolicy === 'Always' || config.proxy !== undefined;
      if (config.additionalTrustBundle === undefined || isUsed) return [];
      const message =
        'additionalTrustBundle is not used: no proxy is set, and additionalTrustBundlePolicy is Proxyonly, not Always';
      return [{ path: ['additionalTrustBundle'], message }];
    },
  },
  {
    name: 'capability-on-or-off',
    says: 'No capability is in additionalEnabledCapabilities and in disabledCapabilities.',
    severity: 'mistake',
    reads: [['capabilities']],
    find: ({ config: { capabilities } }) =>
      capabilities.disabledCapabilities.flatMap((name, i) =>
        capabilities.additionalEnabledCapabilities.includes(name)
          ? [{ path: ['capabilities', 'disabledCapabilities', i], message: `${name} is enabled and disabled at once` }]
          : [],
      ),
  },
  {
    name: 'capability-changes-something',
    says: 'What is enabled is not in the baseline set already, and what is disabled is in it.',
    severity: 'warning',
    reads: [['capabilities']],
    find: ({ config: { capabilities } }) => {
      const { baselineCapabilitySet: set, additionalEnabledCapabilities, disabledCapabilities } = capabilities;
      const has = (name: CapabilityName): boolean => capabilitySets[set].some((each) => each === name);
      const about = (list: keyof CapabilitiesSpec, i: number) => ['capabilities', list, i] as const;
      return [
        ...additionalEnabledCapabilities.flatMap((name, i) =>
          has(name)
            ? [{ path: about('additionalEnabledCapabilities', i), message: `${name} is in the set ${set} already` }]
            : [],
        ),
        ...disabledCapabilities.flatMap((name, i) =>
          has(name)
            ? []
            : [{ path: about('disabledCapabilities', i), message: `${name} is not in the set ${set} anyway` }],
        ),
      ];
    },
  },
  {
    name: 'mirror-keeps-path',
    says: 'The path of a mirror ends with the whole path of its source.',
    severity: 'mistake',
    reads: [['imageDigestSources']],
    find: ({ config }) =>
      config.imageDigestSources.flatMap(({ source, mirrors }, i) =>
        mirrors.flatMap((mirror, j) => {
          if (mirrorBase(source, mirror) !== undefined) return [];
          const [host = ''] = mirror.split('/');
          const wanted = repositoryPath(source);
          const message =
            `${mirror} cannot mirror ${source}: containerd asks a mirror for the path in the image’s name, ` +
            `so the path of the mirror must end with /${wanted}`;
          const path = ['imageDigestSources', i, 'mirrors', j];
          return [{ path, message, allowed: `${host}/${wanted} or ${host}/<any path>/${wanted}` }];
        }),
      ),
  },
  {
    name: 'feature-gates-need-feature-set',
    says: 'featureGates are given only with featureSet CustomNoUpgrade.',
    severity: 'mistake',
    reads: [['featureGates'], ['featureSet']],
    find: ({ config }) => {
      if (config.featureGates.length === 0 || config.featureSet === 'CustomNoUpgrade') return [];
      return [{ path: ['featureGates'], message: 'featureGates need featureSet: CustomNoUpgrade' }];
    },
  },
  {
    name: 'feature-gates-once',
    says: 'Each feature gate is given once.',
    severity: 'mistake',
    reads: [['featureGates']],
    find: ({ config }) => {
      const names = config.featureGates.map((gate) => gate.split('=')[0] ?? '');
      return names.flatMap((name, i) =>
        names.indexOf(name) === i
          ? []
          : [{ path: ['featureGates', i], message: `the feature gate ${name} is given twice` }],
      );
    },
  },
  {
    name: 'torcx-settings-are-used',
    says: 'torcx is read only with nodeBootstrap: torcx.',
    severity: 'warning',
    reads: [['torcx'], ['nodeBootstrap']],
    find: ({ config }) => {
      if (config.torcx === undefined || config.nodeBootstrap === 'torcx') return [];
      return [{ path: ['torcx'], message: 'torcx is not used: nodeBootstrap is none, not torcx' }];
    },
  },
  {
    name: 'torcx-keyring-is-given',
    says: 'With nodeBootstrap: torcx and platform none, torcx.keyring is given.',
    severity: 'warning',
    reads: [['torcx'], ['nodeBootstrap'], ['platform']],
    find: ({ config: { nodeBootstrap, torcx, platform } }) => {
      if (nodeBootstrap !== 'torcx' || platform.none === undefined || torcx?.keyring !== undefined) return [];
      const message =
        'torcx.keyring is missing: a machine whose system has torcx packages accepts no list and does not join';
      return [{ path: ['nodeBootstrap'], message }];
    },
  },
];
