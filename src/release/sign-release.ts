// Signs the current release and keeps the signature in the cache, named by the release's digest.
import { dirname, join } from 'node:path';
import type { Host } from '../host/host.ts';
import { currentRelease } from './current.ts';
import { blobFolder } from './images/oci-image.ts';
import { signaturePath, signRelease } from './signature.ts';

/** The path of the signature. */
export async function signCurrentRelease(host: Host, keyPath: string): Promise<string> {
  const { cache, digest, release } = await currentRelease(host);
  const manifest = await host.files.read(join(release.content, blobFolder, digest));
  const passphrase = host.environment.variables['FIRSTLIGHT_SIGN_PASSPHRASE'];
  const options = { manifest, keyPath, ...(passphrase === undefined ? {} : { passphrase }) };
  const signature = await signRelease(host, options);
  const path = signaturePath(cache.folder, digest);
  await host.files.makeFolder(dirname(path));
  await host.files.write(path, signature);
  return path;
}
