import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { payloadAnnotations } from '../contract/cluster-version.ts';
import { referenceOf, referenceText } from '../kubernetes/object.ts';
import { operators } from './operators.ts';
import { payloadManifests, payloadTexts, type ReleasePayload } from './payload-files.ts';
import { payloadValues } from './payload-values.ts';

const names = [...new Set(operators.flatMap(({ images }) => images))];
const images = names.map((name) => ({ name, reference: `release.test/${name}@sha256:${'0'.repeat(64)}` }));
const payload: ReleasePayload = { version: '1.2.3', images, operators };
const files = payloadManifests(payload);
const texts = payloadTexts(payload);

describe('the payload of a release', () => {
  test('has files whose names say run-level and operator, in the order in which they are applied', () => {
    for (const { name } of files) expect(name).toMatch(/^0000_\d\d_[a-z0-9-]+_[a-z0-9_-]+\.yaml$/);
    expect(files.map(({ name }) => name)).toEqual(files.map(({ name }) => name).toSorted());
    expect(files.map(({ name }) => name)).toContain('0000_70_dns_coredns.yaml');
  });

  test('marks every object as included, and with the capability of its operator', () => {
    for (const { operator, objects } of files) {
      const { capability } = operators.find(({ name }) => name === operator) ?? {};
      for (const { metadata } of objects) {
        expect(metadata.annotations).toMatchObject({ [payloadAnnotations.include]: 'true' });
        expect(metadata.annotations?.[payloadAnnotations.capability]).toBe(capability);
      }
    }
  });

  test('has every object once, and only places that have a value', () => {
    const references = files.flatMap(({ objects }) => objects.map((object) => referenceText(referenceOf(object))));
    expect(new Set(references).size).toBe(references.length);
    const places = Object.values(texts).flatMap((text) =>
      [...text.matchAll(/\{\{([A-Z_]+)\}\}/g)].map(([, name]) => name),
    );
    expect(places.filter((name) => !(String(name) in payloadValues))).toEqual([]);
    expect(places).toContain('DNS_ADDRESS');
  });

  test('is read back as it was meant', () => {
    for (const { name, objects } of files) {
      const documents = parseAllDocuments(texts[`release-manifests/${name}`] ?? '', { version: '1.1' });
      expect(Array.isArray(documents) ? documents.map((each) => each.toJS() as unknown) : []).toEqual(objects);
    }
  });

  test('says which images belong to it, and which version it is, in two files beside the manifests', () => {
    expect(JSON.parse(texts['release-manifests/image-references'] ?? '')).toMatchObject({
      kind: 'ImageStream',
      metadata: { name: '1.2.3' },
      spec: {
        tags: expect.arrayContaining([
          {
            name: 'coredns',
            from: { kind: 'DockerImage', name: images.find(({ name }) => name === 'coredns')?.reference },
          },
        ]) as unknown,
      },
    });
    expect(JSON.parse(texts['release-manifests/release-metadata'] ?? '')).toMatchObject({
      kind: 'cincinnati-metadata-v0',
      version: '1.2.3',
    });
  });

  test('has the same bytes in whatever order the images come', () => {
    expect(payloadTexts({ ...payload, images: images.toReversed() })).toEqual(texts);
  });

  test('leaves out an operator whose image the release does not have', () => {
    const few = payloadManifests({ ...payload, images: images.filter(({ name }) => name !== 'coredns') });
    expect(few.map(({ operator }) => operator)).not.toContain('dns');
    expect(few.map(({ operator }) => operator)).toContain('machine-config');
  });
});
