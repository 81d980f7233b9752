// The URL template of the package list. Of Go's template language only the two documented variables are supported.
// Everything else is refused when the flags are read, before anything on the node is changed.
import { torcxErrors } from './errors.ts';

export const defaultManifestUrl =
  'https://tectonic-torcx.release.core-os.net/manifests/{{.Board}}/{{.OSVersion}}/torcx_manifest.json';

const action = /\{\{-?\s*(.*?)\s*-?\}\}/g;
const variables = ['.Board', '.OSVersion'] as const;

export function checkManifestUrl(template: string): string {
  for (const [text, inner = ''] of template.matchAll(action)) {
    if (!variables.some((variable) => variable === inner)) {
      throw torcxErrors.USAGE({
        reason: `--torcx-manifest-url: ${text} is not known; {{.Board}} and {{.OSVersion}} are`,
      });
    }
  }
  if (/\{\{|\}\}/.test(template.replace(action, ''))) {
    throw torcxErrors.USAGE({ reason: '--torcx-manifest-url: a {{ has no matching }}' });
  }
  const example = renderManifestUrl(template, { board: 'board', osVersion: '1.2.3' });
  if (!URL.canParse(example) || !/^https?:$/.test(new URL(example).protocol)) {
    throw torcxErrors.USAGE({ reason: '--torcx-manifest-url must be an http or https URL' });
  }
  return template;
}

export function renderManifestUrl(template: string, values: { readonly board: string; readonly osVersion: string }) {
  return template.replace(action, (_text, inner: string) =>
    encodeURIComponent(inner === '.Board' ? values.board : values.osVersion),
  );
}
