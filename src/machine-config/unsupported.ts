// What a MachineConfig may ask for and the machines of this cluster cannot give, whether they are new or not. Refused
// when a pool is rendered: a setting that is accepted and has no effect would be worse than none.
import type { ControllerConfig, MachineConfigSpec } from './machine-config.ts';
import type { SettingName, SpecProblem } from './reconcilable.ts';

/** From the ControllerConfig: what the platform says about its machines. */
export type MachineTraits = NonNullable<ControllerConfig['spec']['machines']>;

interface UnsupportedSetting {
  readonly name: SettingName;
  readonly isAsked: (spec: MachineConfigSpec, osImageURL: string) => boolean;
  readonly why: string;
}

const unsupportedSettings: readonly UnsupportedSetting[] = [
  {
    name: 'osImageURL',
    isAsked: (spec, osImageURL) => spec.osImageURL !== osImageURL,
    why: 'the release of the cluster decides which operating system machines have',
  },
  {
    name: 'kernelArguments',
    isAsked: ({ kernelArguments }) => kernelArguments.length > 0,
    why: 'the kernel is not started by anything that reads them',
  },
  {
    name: 'kernelType',
    isAsked: ({ kernelType }) => kernelType !== '' && kernelType !== 'default',
    why: 'machines have the kernel that they were made with',
  },
  {
    name: 'extensions',
    isAsked: ({ extensions }) => extensions.length > 0,
    why: 'the operating system of machines has no extensions',
  },
  {
    name: 'baseOSExtensionsContainerImage',
    isAsked: ({ baseOSExtensionsContainerImage }) => baseOSExtensionsContainerImage !== '',
    why: 'the operating system of machines has no extensions',
  },
  { name: 'fips', isAsked: ({ fips }) => fips, why: 'FIPS mode is decided when a machine is installed' },
];

const hostSections = ['disks', 'raid', 'filesystems', 'luks'] as const;

/** `osImageURL`: of the cluster. */
export function unsupportedProblems(
  spec: MachineConfigSpec,
  { sharesHost, osImageURL }: MachineTraits & { readonly osImageURL: string },
): readonly SpecProblem[] {
  const settings = unsupportedSettings
    .filter(({ isAsked }) => isAsked(spec, osImageURL))
    .map(({ name, why }): SpecProblem => {
      return { about: { kind: 'field', name }, message: `${name} cannot be honoured: ${why}` };
    });
  if (!sharesHost) return settings;
  const { storage = {}, kernelArguments } = spec.config;
  const disks = hostSections
    .filter((name) => (storage[name] ?? []).length > 0)
    .map((name): SpecProblem => {
      const message = `storage.${name} cannot be honoured: these machines have no disk of their own`;
      return { about: { kind: 'section', name }, message };
    });
  const { shouldExist = [], shouldNotExist = [] } = kernelArguments ?? {};
  if (shouldExist.length + shouldNotExist.length === 0) return [...settings, ...disks];
  const message = 'config.kernelArguments cannot be honoured: these machines share the kernel of their host';
  return [...settings, ...disks, { about: { kind: 'section', name: 'kernelArguments' }, message }];
}
