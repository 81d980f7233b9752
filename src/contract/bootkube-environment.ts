// bootkube.env: which release the config of a bootstrap machine names, and one image per component, all by digest.
// Ignition writes it; bootkube.service and whoever prepares the machine for it read it.
import type { Environment } from '../host/environment.ts';
import type { Files } from '../host/files.ts';
import { bootkubeEnvironmentFile } from './machine-paths.ts';

/** The release image, as `<name>@sha256:<digest>`. */
export const releaseImageVariable = 'RELEASE_IMAGE';

/** The image with this program: what runs where a pod or a machine runs us, and what renders our components. */
export const ownImageVariable = 'FIRSTLIGHT_IMAGE';

/** An OCI layout on the machine, a folder or an archive, with the images of RELEASE_IMAGE. Without it: a registry. */
export const releaseLayoutVariable = 'RELEASE_LAYOUT';

/** Image references by variable. */
export type BootkubeEnvironment = Readonly<Record<string, string>>;

const variableName = /^[A-Z][A-Z0-9_]*_IMAGE$/;

/** Without quotes: a reference contains no character that systemd would need quotes for. */
export function bootkubeEnvironmentText(variables: BootkubeEnvironment): string {
  return Object.entries(variables)
    .map(([name, reference]) => `${name}=${reference}\n`)
    .join('');
}

export function parseBootkubeEnvironment(text: string): BootkubeEnvironment {
  const pairs = text.split('\n').map((line) => {
    const [name = '', ...reference] = line.split('=');
    return [
      name.trim(),
      reference
        .join('=')
        .trim()
        .replace(/^(["'])(.*)\1$/, '$2'),
    ] as const;
  });
  return Object.fromEntries(pairs.filter(([name, reference]) => variableName.test(name) && reference !== ''));
}

/** The variables of this process; for a person who runs a stage in a shell, those of the file. */
export async function readBootkubeEnvironment(host: {
  readonly files: Pick<Files, 'readIfPresent'>;
  readonly environment: Pick<Environment, 'variables'>;
}): Promise<BootkubeEnvironment> {
  const content = await host.files.readIfPresent(bootkubeEnvironmentFile);
  const fromFile = content === undefined ? {} : parseBootkubeEnvironment(Buffer.from(content).toString('utf8'));
  const own = Object.entries(host.environment.variables).filter(([name]) => variableName.test(name));
  return { ...fromFile, ...parseBootkubeEnvironment(own.map(([name, value = '']) => `${name}=${value}`).join('\n')) };
}

/** RELEASE_LAYOUT of this process, or of the file. */
export async function readReleaseLayout(host: {
  readonly files: Pick<Files, 'readIfPresent'>;
  readonly environment: Pick<Environment, 'variables'>;
}): Promise<string | undefined> {
  const content = Buffer.from((await host.files.readIfPresent(bootkubeEnvironmentFile)) ?? '').toString('utf8');
  const line = new RegExp(`^${releaseLayoutVariable}=(["']?)(.+)\\1$`, 'm');
  return host.environment.variables[releaseLayoutVariable] ?? line.exec(content)?.[2];
}

/** The digest in a reference, with its `sha256:`; undefined for a reference by tag. */
export function digestOfReference(reference: string): string | undefined {
  return /@(sha256:[0-9a-f]+)$/.exec(reference)?.[1];
}
