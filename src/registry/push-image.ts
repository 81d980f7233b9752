// Pushes an image of an archive into a registry (OCI distribution-spec): blobs first, those that are there already are
// not sent again, then manifests by digest, and the name last. Killed anywhere, the next push goes on.
import type { Files } from '../host/files.ts';
import type { HttpAnswer, HttpClient, HttpRequest } from '../host/network.ts';
import type { ArchivedBlob, ArchivedImage, ArchivedManifest } from './archived-image.ts';
import { registryErrors } from './errors.ts';
import type { RepositoryTag } from './image-name.ts';

export interface RegistryAccess {
  readonly http: HttpClient;
  readonly files: Files;
  /** `https://127.0.0.1:15000` */
  readonly url: string;
  readonly authorityPem: string;
  readonly username: string;
  readonly password: string;
  readonly signal: AbortSignal;
}

export interface PushedImage extends RepositoryTag {
  readonly digest: string;
  readonly sentBytes: number;
  /** Of blobs that were there. */
  readonly keptBytes: number;
}

/** A part of a blob that is sent at a time: the whole of it need not fit into memory. */
const partBytes = 16 * 1024 * 1024;

export async function pushImage(
  access: RegistryAccess,
  image: ArchivedImage,
  { repository, tag }: RepositoryTag,
): Promise<PushedImage> {
  let [sentBytes, keptBytes] = [0, 0];
  const blobs = new Map(image.blobs.map((blob) => [blob.digest, blob]));
  for (const blob of blobs.values()) {
    const isThere = await hasBlob(access, repository, blob);
    if (!isThere) await sendBlob(access, repository, blob);
    sentBytes += isThere ? 0 : blob.size;
    keptBytes += isThere ? blob.size : 0;
  }
  for (const manifest of image.manifests)
    await putManifest(access, `${repository}/manifests/${manifest.digest}`, manifest);
  await putManifest(access, `${repository}/manifests/${tag}`, image.root);
  return { repository, tag, digest: image.root.digest, sentBytes, keptBytes };
}

async function hasBlob(access: RegistryAccess, repository: string, { digest }: ArchivedBlob): Promise<boolean> {
  const answer = await ask(access, { method: 'HEAD', url: urlOf(access, `${repository}/blobs/${digest}`) });
  if (answer.status === 404) return false;
  return accepted(answer, [200], 'say whether it has a blob').status === 200;
}

async function sendBlob(access: RegistryAccess, repository: string, blob: ArchivedBlob): Promise<void> {
  const what = `take blob ${blob.digest}`;
  const begun = await ask(access, { method: 'POST', url: urlOf(access, `${repository}/blobs/uploads/`) });
  let place = uploadPlace(access, accepted(begun, [202], what));
  let from = 0;
  for await (const part of partsOf(access.files.stream(blob.path))) {
    const range = `${from}-${from + part.length - 1}`;
    const headers = { 'content-type': 'application/octet-stream', 'content-range': range };
    const answer = await ask(access, { method: 'PATCH', url: place.href, headers, body: part });
    place = uploadPlace(access, accepted(answer, [202], what));
    from += part.length;
  }
  place.searchParams.set('digest', blob.digest);
  accepted(await ask(access, { method: 'PUT', url: place.href }), [201], what);
}

async function* partsOf(stream: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < partBytes) continue;
    yield Buffer.concat(chunks);
    [chunks, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(chunks);
}

async function putManifest(access: RegistryAccess, path: string, { mediaType, text }: ArchivedManifest): Promise<void> {
  const request = { method: 'PUT', url: urlOf(access, path), headers: { 'content-type': mediaType }, body: text };
  accepted(await ask(access, request), [201], `take ${path}`);
}

function urlOf({ url }: RegistryAccess, path: string): string {
  return `${url}/v2/${path}`;
}

/** Only on the registry itself: the password goes to nobody else. */
function uploadPlace({ url }: RegistryAccess, { status, headers }: HttpAnswer): URL {
  const place = new URL(headers['location'] ?? '', url);
  if (place.origin === new URL(url).origin) return place;
  throw registryErrors.REFUSED({ what: 'take blobs', status, reason: `it sends us to ${place.host}` });
}

function ask(
  { http, authorityPem, username, password, signal }: RegistryAccess,
  request: HttpRequest,
): Promise<HttpAnswer> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const headers = { ...request.headers, authorization };
  return http.request({ ...request, headers, ca: authorityPem, timeoutMs: 120_000, signal });
}

function accepted(answer: HttpAnswer, statuses: readonly number[], what: string): HttpAnswer {
  if (statuses.includes(answer.status)) return answer;
  const reason = Buffer.from(answer.body).toString('utf8').trim().slice(0, 300);
  throw registryErrors.REFUSED({ what, status: answer.status, reason });
}
