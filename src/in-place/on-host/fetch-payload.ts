// The payload of this machine on its disk: downloaded once per attempt, verified, unpacked 0700, and compared with its
// signed manifest again before every stage. Cut off anywhere, the next call goes on: what exists is complete.
import { posix } from 'node:path';
import { type AttemptSettings, attemptFiles } from '../../contract/in-place.ts';
import { isError } from '../../errors/firstlight-error.ts';
import { hostErrors } from '../../host/errors.ts';
import type { Host } from '../../host/host.ts';
import { digestOf } from '../../workflow/digest.ts';
import { retry } from '../../workflow/retry.ts';
import { payloadErrors } from '../payload/errors.ts';
import { type PayloadManifest, payloadManifestSchema, payloadPaths } from '../payload/payload-manifest.ts';
import { payloadExpectation, payloadRequest } from '../payload/payload-request.ts';
import { type PayloadVerdict, verifyPayload } from '../payload/verify-payload.ts';

export interface FetchedPayload {
  readonly folder: string;
  readonly manifest: PayloadManifest;
  /** SHA-256 of the manifest: part of every idempotency key. */
  readonly digest: string;
}

const downloadPolicy = { attempts: 8, firstPauseMs: 1_000, maxPauseMs: 30_000 };

/** Throws PAYLOAD_DOWNLOAD, PAYLOAD_REFUSED or PAYLOAD_DAMAGED; nothing of the machine is changed then. */
export async function fetchPayload(
  host: Host,
  settings: AttemptSettings,
  signal: AbortSignal,
): Promise<FetchedPayload> {
  const { payload } = attemptFiles(settings.attemptId);
  if ((await host.files.facts(payload)) === undefined) await unpackPayload(host, settings, signal);
  return readUnpacked(host, payload);
}

async function unpackPayload(host: Host, settings: AttemptSettings, signal: AbortSignal): Promise<void> {
  const { files } = host;
  const { archive, payload } = attemptFiles(settings.attemptId);
  const kept = await files.readIfPresent(archive);
  const bytes = kept ?? (await downloadPayload(host, settings, signal));
  const verdict = await verifyPayload(bytes, payloadExpectation(settings.grant.secret, host.clock.now()));
  if (verdict.status === 'refused') throw payloadErrors.REFUSED({ source: archiveSource(settings), ...verdict });
  if (kept === undefined) await files.write(archive, bytes, { mode: 0o600 });
  await writeTree(host, payload, verdict);
}

function archiveSource({ grant }: AttemptSettings): string {
  return `the payload from ${grant.secret['bootstrap-url'] ?? 'nowhere'}`;
}

async function downloadPayload(host: Host, settings: AttemptSettings, signal: AbortSignal): Promise<Uint8Array> {
  const request = payloadRequest(settings.grant.secret);
  const isWorthRetrying = (error: unknown): boolean =>
    isError(error, hostErrors.NETWORK) || (isError(error, payloadErrors.DOWNLOAD) && error.details.status >= 500);
  return retry({ host, policy: downloadPolicy, isWorthRetrying, signal }, async () => {
    const { status, body } = await host.network.request({ ...request, signal });
    if (status === 200) return body;
    throw payloadErrors.DOWNLOAD({ url: request.url, status });
  });
}

/** Beside its place first, so that the folder appears as a whole. */
async function writeTree(
  { files }: Host,
  folder: string,
  verdict: Extract<PayloadVerdict, { status: 'verified' }>,
): Promise<void> {
  const staged = `${folder}.new`;
  await files.remove(staged);
  await files.makeFolder(staged, { mode: 0o700 });
  for (const [name, bytes] of verdict.files) {
    const path = posix.join(staged, name);
    await files.makeFolder(posix.dirname(path), { mode: 0o700 });
    await files.write(path, bytes, { mode: verdict.manifest.files[name]?.mode ?? 0o600 });
  }
  await files.rename(staged, folder, { isDurable: true });
}

/** The signature was verified when it was unpacked; from then on the manifest's digests say whether it is whole. */
async function readUnpacked({ files }: Host, folder: string): Promise<FetchedPayload> {
  const bytes = await files.read(posix.join(folder, payloadPaths.manifest));
  const manifest = payloadManifestSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  for (const [name, { sha256 }] of Object.entries(manifest.files)) {
    const path = posix.join(folder, name);
    const content = await files.readIfPresent(path);
    if (content === undefined || digestOf(content) !== sha256) throw payloadErrors.DAMAGED({ path });
  }
  return { folder, manifest, digest: digestOf(bytes) };
}
