// The bill of materials of a release as CycloneDX 1.6 JSON: parts with their linked Go modules, npm packages of our
// bundle, Debian packages of the machines. The same release gives the same bytes: there is no time and no serial
// number, and every component has a reference, because the library makes random references for those without.
import { join } from 'node:path';
import { ComponentType, HashAlgorithm } from '@cyclonedx/cyclonedx-library/Enums';
import {
  Bom,
  Component,
  ComponentRepository,
  HashDictionary,
  LicenseRepository,
  Metadata,
  NamedLicense,
  SpdxLicense,
} from '@cyclonedx/cyclonedx-library/Models';
import { JSON as CycloneJson, JsonSerializer } from '@cyclonedx/cyclonedx-library/Serialize';
import { isSupportedSpdxId } from '@cyclonedx/cyclonedx-library/SPDX';
import { Spec1dot6 } from '@cyclonedx/cyclonedx-library/Spec';
import { z } from 'zod';
import type { ReleaseBuilder } from './build/builder.ts';
import type { CacheEntry } from './cache/cache.ts';
import type { GoModule } from './parts/go.ts';
import type { ReleaseContent, ReleaseManifest } from './release-manifest.ts';

export interface SbomSubject {
  readonly manifest: ReleaseManifest;
  readonly content: ReleaseContent;
}

export async function billOfMaterials(builder: ReleaseBuilder, { manifest, content }: SbomSubject): Promise<string> {
  const subject = new Component(ComponentType.Application, 'firstlight-release', {
    bomRef: 'release',
    version: manifest.version,
  });
  const bom = new Bom({ metadata: new Metadata({ component: subject }) });
  for (const part of manifest.parts) {
    const entry = content.parts.find((candidate) => candidate.manifest.name === part.name);
    const component = partComponent(part);
    for (const module of modulesOf(entry)) component.components.add(moduleComponent(part.name, module));
    if (part.name === 'firstlight') for (const found of await npmPackages(builder)) component.components.add(found);
    bom.components.add(component);
  }
  for (const [name, version] of Object.entries(manifest.debian?.packages ?? {})) {
    bom.components.add(debianComponent(name, version, manifest.debian?.suite ?? ''));
  }
  const serializer = new JsonSerializer(new CycloneJson.Normalize.Factory(Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function partComponent(part: ReleaseManifest['parts'][number]): Component {
  return new Component(ComponentType.Application, part.name, {
    bomRef: `part:${part.name}`,
    version: part.version,
    description: `from ${part.source} by ${part.made}`,
    licenses: licences(part.licence),
    hashes: new HashDictionary([[HashAlgorithm['SHA-256'], part.digest]]),
    components: new ComponentRepository(part.files.map((file) => fileComponent(part.name, file))),
  });
}

function fileComponent(part: string, file: { readonly path: string; readonly sha256: string }): Component {
  return new Component(ComponentType.File, file.path, {
    bomRef: `file:${part}/${file.path}`,
    hashes: new HashDictionary([[HashAlgorithm['SHA-256'], file.sha256]]),
  });
}

function modulesOf(entry: CacheEntry | undefined): readonly GoModule[] {
  return (entry?.manifest.facts['modules'] as readonly GoModule[] | undefined) ?? [];
}

function moduleComponent(part: string, { path, version, sum }: GoModule): Component {
  const hex = Buffer.from(sum.replace(/^h1:/, ''), 'base64').toString('hex');
  return new Component(ComponentType.Library, path, {
    bomRef: `go:${part}/${path}`,
    version,
    purl: `pkg:golang/${path}@${version}`,
    // The hash of go.sum, which covers the module's file list and not an archive.
    ...(hex === '' ? {} : { description: `go.sum h1 ${hex}` }),
  });
}

function debianComponent(name: string, version: string, suite: string): Component {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?distro=${suite}`;
  return new Component(ComponentType.Library, name, { bomRef: `deb:${name}`, version, purl });
}

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
    }),
  ),
});

async function npmPackages({ host, projectFolder }: ReleaseBuilder): Promise<readonly Component[]> {
  const lock = lockSchema.parse(JSON.parse(await host.files.readText(join(projectFolder, 'package-lock.json'))));
  return Object.entries(lock.packages)
    .filter(([path, found]) => path.startsWith('node_modules/') && found.dev !== true && found.optional !== true)
    .map(([path, { version = '', license = '' }]) => {
      const name = path.replace(/^.*node_modules\//, '');
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
      return new Component(ComponentType.Library, name, {
        bomRef: `npm:${path}`,
        version,
        purl,
        licenses: licences(license),
      });
    });
}

function licences(id: string): LicenseRepository {
  if (id === '') return new LicenseRepository();
  return new LicenseRepository([isSupportedSpdxId(id) ? new SpdxLicense(id) : new NamedLicense(id)]);
}
