// kube-proxy as kubeadm runs it is a pod, and calls nft: our kubernetes image is the program alone, so the benchmark adds
// an image of the same program with nft and its libraries, taken from the machine root.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Host } from '../src/host/host.ts';
import { goArchitecture } from '../src/release/build/builder.ts';
import { skeleton } from '../src/release/images/images.ts';
import { writeArchive } from '../src/release/images/oci-archive.ts';
import { writeImage, writeIndex } from '../src/release/images/oci-image.ts';
import type { LayerItem } from '../src/release/images/oci-layer.ts';
import { partPrograms } from '../src/release/machine-image.ts';
import { imageRepository, kubernetesVersion } from './kubeadm-config.ts';

/** Writes an archive for `ctr images import`. */
export async function writeProxyImage(host: Host, rootFolder: string, archive: string): Promise<void> {
  const layout = await host.files.makeTemporaryFolder('firstlight-bench-image-');
  try {
    const written = await writeImage(host.files, layout, {
      name: `${imageRepository}/kube-proxy`,
      tag: kubernetesVersion,
      config: {
        architecture: goArchitecture({ host }),
        entrypoint: [],
        command: ['kube-proxy'],
        environment: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/bin' },
      },
      layers: [{ ...skeleton, ...(await content(host, rootFolder)) }],
    });
    await writeIndex(host.files, layout, [written]);
    await writeArchive(host.files, layout, archive);
  } finally {
    await host.files.remove(layout);
  }
}

async function content(host: Host, rootFolder: string): Promise<Readonly<Record<string, LayerItem>>> {
  const copy = async (path: string): Promise<readonly [string, LayerItem]> => {
    const real = await host.files.realPath(join(rootFolder, path));
    return [path.replace(/^\//, ''), { kind: 'file', from: real, mode: 0o755 }];
  };
  const ldd = execFileSync('chroot', [rootFolder, 'ldd', '/usr/sbin/nft'], { encoding: 'utf8' });
  const libraries = [...ldd.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  const files = await Promise.all(['/usr/sbin/nft', '/etc/protocols', ...new Set(libraries)].map(copy));
  const kube = join(await partPrograms(host, 'kubernetes'), 'kube');
  return {
    ...Object.fromEntries(files),
    'usr/local/bin/kube': { kind: 'file', from: kube, mode: 0o755 },
    'usr/local/bin/kube-proxy': { kind: 'link', target: 'kube' },
  };
}
