// `firstlight release info`
import { currentRelease } from '../../release/current.ts';
import { megabytes } from '../../release/build/recipe-stage.ts';
import type { CommandBody } from '../frame/verb.ts';

export const releaseInfoCommand: CommandBody = async ({ host }) => {
  const { manifest, digest } = await currentRelease(host);
  const rows = (title: string, table: readonly (readonly string[])[]): string => {
    const widths = (table[0] ?? []).map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
    const line = (row: readonly string[]): string => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
    return `${title}\n${table.map((row) => `  ${line(row).trimEnd()}\n`).join('')}`;
  };
  const text = [
    rows('Release', [
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
    rows(
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
    rows(
      'Images',
      manifest.images.map((image) => [image.name, megabytes(image.sizeBytes), image.reference]),
    ),
    rows(
      'Image variables',
      Object.entries(manifest.imageVariables).map(([name, row]) => [name, row.image, row.why]),
    ),
  ].join('\n');
  return { data: { digest: `sha256:${digest}`, ...manifest }, text };
};
