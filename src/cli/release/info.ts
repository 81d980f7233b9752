// `firstlight release info`
import { capabilitySets } from '../../contract/cluster-version.ts';
import { alignColumns } from '../frame/columns.ts';
import { defineVerb } from '../frame/verb.ts';

export const releaseInfoVerb = defineVerb({
  examples: ['firstlight release info', 'firstlight release info -o json'],
  run: async ({ host }) => {
    const { currentRelease } = await import('../../release/current.ts');
    const { megabytes } = await import('../../release/build/recipe-stage.ts');
    const { manifest, digest } = await currentRelease(host);
    const text = [
      titled('Release', [
        ['version', manifest.version],
        ['digest', `sha256:${digest}`],
        ['kubernetes', manifest.kubernetes ?? 'none'],
        ['architecture', manifest.architecture],
        [
          'debian',
          manifest.debian === undefined
            ? 'none'
            : `${manifest.debian.suite}, ${Object.keys(manifest.debian.packages).length} packages`,
        ],
      ]),
      titled(
        'Parts',
        manifest.parts.map((part) => [
          part.name,
          part.version,
          megabytes(part.sizeBytes),
          part.licence,
          part.made,
          part.digest.slice(0, 12),
        ]),
      ),
      titled(
        'Images',
        manifest.images.map((image) => [image.name, megabytes(image.sizeBytes), image.reference]),
      ),
      titled(
        'Image variables',
        Object.entries(manifest.imageVariables).map(([name, row]) => [name, row.image, rendererWord(row), row.why]),
      ),
      ...(manifest.operators === undefined ? [] : [operatorText(manifest.operators), capabilityText()]),
    ].join('\n');
    return { data: { digest: `sha256:${digest}`, ...manifest, capabilities: capabilitySets }, text };
  },
});

interface OperatorRow {
  readonly name: string;
  readonly level: number;
  readonly capability?: string | undefined;
  readonly files: readonly string[];
}

/** In the order in which they are applied. */
function operatorText(operators: readonly OperatorRow[]): string {
  const rows = operators.map(({ name, level, capability, files }) => [
    String(level).padStart(2, '0'),
    name,
    capability === undefined ? 'always' : `with capability ${capability}`,
    files.length === 0 ? 'only looks' : `${files.length} ${files.length === 1 ? 'file' : 'files'}`,
  ]);
  return titled('Operators, by run-level', rows);
}

function capabilityText(): string {
  const rows = Object.entries(capabilitySets).map(([set, names]) => [set, names.join(', ') || 'none']);
  return titled('Sets of capabilities', rows);
}

/** Who renders the component: the image itself, or bootkube with the function of ours. */
function rendererWord({ component, renders }: { readonly component?: string | undefined; readonly renders: string }) {
  if (component === undefined) return '';
  return `${component}: ${renders === 'image' ? 'this image renders it' : 'built in'}`;
}

function titled(title: string, rows: readonly (readonly string[])[]): string {
  return `${title}\n${alignColumns(rows, '  ')}`;
}
