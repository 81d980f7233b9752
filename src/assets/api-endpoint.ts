// Where the person who holds the folder reaches the API, when that is not by its name. Nothing derives it: the platform
// chooses it with the first machine, `create cluster` writes it down, and `destroy cluster` removes it. Without the
// file, and on platforms whose names the user's own DNS resolves, the API is reached by its name.
import { z } from 'zod';
import { apiEndpointPath } from '../contract/asset-folder.ts';
import { type Asset, asset, type NoInputs, textOf } from './asset.ts';
import { readAssetJson } from './checked-files.ts';

const schema = z.strictObject({ address: z.string(), port: z.int().min(1).max(65_535) });

export type ApiEndpoint = z.output<typeof schema>;

export const apiEndpoint: Asset<ApiEndpoint | undefined, NoInputs> = asset({
  name: 'api-endpoint',
  why: 'The kubeconfigs of administrators must lead to the API from where the administrator stands.',
  neededUntil: 'the cluster is destroyed',
  inputs: {},
  outputs: [apiEndpointPath],
  isCollection: true,
  generate: () => [],
  read: (files) => (files.size === 0 ? undefined : readAssetJson(apiEndpointPath, textOf(files), schema)),
});

export function apiEndpointText(endpoint: ApiEndpoint): string {
  return `${JSON.stringify(endpoint, null, 2)}\n`;
}
