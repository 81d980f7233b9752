import { sign } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { packTar, unpackTar } from 'modern-tar';
import { describe, expect, test } from 'vitest';
import { payloadPaths } from './payload-manifest.ts';
import { sampleExpectation, sampleIds, samplePayload, sampleServing, sampleSigner } from './sample-payload.ts';
import { type PayloadExpectation, verifyPayload } from './verify-payload.ts';

type Entries = Awaited<ReturnType<typeof unpackTar>>;

/** The payload with another tar archive in it. */
async function repacked(archive: Uint8Array, change: (entries: Entries) => Entries): Promise<Uint8Array> {
  return gzipSync(await packTar(change(await unpackTar(gunzipSync(archive)))));
}

const entry = (name: string, text: string): Entries[number] => {
  const data = new TextEncoder().encode(text);
  return { header: { name, size: data.length, type: 'file' }, data };
};

async function refusal(archive: Uint8Array, changes: Partial<PayloadExpectation> = {}): Promise<string> {
  const verdict = await verifyPayload(archive, { ...sampleExpectation, ...changes });
  return verdict.status === 'refused' ? `${verdict.check}: ${verdict.reason}` : verdict.status;
}

describe('a payload', () => {
  test('is verified with its manifest, its ids and every file', async () => {
    const archive = await samplePayload();
    const verdict = await verifyPayload(archive, sampleExpectation);
    if (verdict.status !== 'verified') throw new Error(verdict.reason);
    expect(verdict.manifest).toMatchObject({ ...sampleIds, pool: 'worker', config: 'rendered-worker-1' });
    expect([...verdict.files.keys()]).toEqual(expect.arrayContaining([payloadPaths.script, payloadPaths.variables]));
  });

  test('is verified by a later certificate of the same authority, and by its address', async () => {
    const other = await samplePayload({ signer: sampleSigner(sampleServing('other.firstlight.test')) });
    expect(await refusal(other, { serverName: 'other.firstlight.test' })).toBe('verified');
    expect(await refusal(other)).toMatch(/^signature: the certificate of CN=config-server is not for api-int/);
  });

  test('is refused for another worker, cluster or region, by name', async () => {
    const archive = await samplePayload();
    const of = (id: Partial<typeof sampleIds>) => refusal(archive, { ids: { ...sampleIds, ...id } });
    expect(await of({ workerId: 'worker-1' })).toBe('ids: payload is for worker worker-0, and this is worker worker-1');
    expect(await of({ clusterId: 'c' })).toBe('ids: payload is for cluster demo-x7k2p, and this is cluster c');
    expect(await of({ region: 'r' })).toBe('ids: payload is for region local, and this is region r');
  });

  test('is refused when its certificate has ended, or an authority that nobody named signed it', async () => {
    const archive = await samplePayload();
    expect(await refusal(archive, { now: new Date('2026-02-15T00:00:00Z') })).toMatch(/is expired$/);
    const stranger = sampleServing().certificatePem;
    expect(await refusal(archive, { caPem: stranger })).toMatch(/no authority of the Secret vouches/);
    const leaf = sampleServing();
    const chainless = { certificatePem: leaf.certificatePem, keyPem: leaf.key.privatePem };
    expect(await refusal(await samplePayload({ signer: chainless }))).toMatch(/no authority of the Secret vouches/);
    expect(await refusal(await samplePayload({ signer: chainless }), { caPem: sampleSigner().certificatePem })).toBe(
      'verified',
    );
  });

  test('is refused when a key of another certificate signed it', async () => {
    const [one, other] = [sampleServing(), sampleServing()];
    const signer = { ...sampleSigner(one), keyPem: other.key.privatePem };
    expect(await refusal(await samplePayload({ signer }))).toBe('signature: the signature is not that of its manifest');
  });

  test('is refused when one byte of one file differs, wherever it is', async () => {
    const archive = await samplePayload();
    const names = (await unpackTar(gunzipSync(archive))).map(({ header }) => header.name);
    expect(names.length).toBeGreaterThan(15);
    for (const name of names) {
      const altered = await repacked(archive, (entries) =>
        entries.map(({ header, data }) => {
          if (header.name !== name || data === undefined) return { header, ...(data === undefined ? {} : { data }) };
          const bytes = new Uint8Array(data);
          bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1;
          return { header, data: bytes };
        }),
      );
      expect.soft(await refusal(altered), name).not.toBe('verified');
    }
  });

  test('is refused with a file too many, one too few, one twice, a link or a path outside', async () => {
    const archive = await samplePayload();
    const added = (more: Entries) => repacked(archive, (entries) => [...entries, ...more]);
    expect(await refusal(await added([entry('extra.sh', 'x')]))).toBe('files: extra.sh is not in its manifest');
    expect(await refusal(await added([entry('bootstrap.sh', 'x')]))).toBe('archive: bootstrap.sh is in it twice');
    expect(await refusal(await added([entry('../etc/passwd', 'x')]))).toMatch(/is no path inside of it$/);
    expect(await refusal(await added([entry('/etc/passwd', 'x')]))).not.toBe('verified');
    const link = { header: { name: 'link', size: 0, type: 'symlink' as const, linkname: '/etc/passwd' } };
    expect(await refusal(await added([link]))).toBe('archive: link is no plain file');
    const fewer = await repacked(archive, (entries) => entries.filter(({ header }) => header.name !== 'bootstrap.sh'));
    expect(await refusal(fewer)).toBe('files: bootstrap.sh is missing');
    for (const name of [payloadPaths.manifest, payloadPaths.signature, payloadPaths.certificate]) {
      const without = await repacked(archive, (entries) => entries.filter(({ header }) => header.name !== name));
      expect.soft(await refusal(without)).toBe(`archive: ${name} is missing`);
    }
  });

  test('is refused when it is no archive at all, or one that swells beyond measure', async () => {
    expect(await refusal(new Uint8Array())).toMatch(/^archive: /);
    expect(await refusal(Buffer.from('<html>'))).toMatch(/^archive: it is no gzip file/);
    expect(await refusal(gzipSync('no tar archive at all'))).toMatch(/^archive: /);
    expect(await refusal(gzipSync(Buffer.alloc(257 * 1024 * 1024)))).toBe('archive: it is no gzip file, or too large');
  });

  test('is refused when a rightful signer signed a manifest of another form', async () => {
    const serving = sampleServing();
    const manifest = Buffer.from('{"format":"other"}');
    const signature = sign('sha256', manifest, serving.key.privatePem.reveal()).toString('base64');
    const archive = gzipSync(
      await packTar([
        entry(payloadPaths.manifest, manifest.toString()),
        entry(payloadPaths.signature, signature),
        entry(payloadPaths.certificate, sampleSigner(serving).certificatePem),
      ]),
    );
    expect(await refusal(archive)).toMatch(/^files: its manifest has another form/);
  });
});
