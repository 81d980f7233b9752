// Which images this machine needs, and which of them its containerd does not have. Needed are the images of its static
// pods, the sandbox image, and on a master the images of its future control plane.
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { containerdConfig, containerdSocket, controlPlanePki, staticPodFolder } from '../../contract/machine-paths.ts';
import { readReleaseFacts } from '../../contract/release-facts.ts';
import { FirstlightError } from '../../errors/firstlight-error.ts';
import type { Host } from '../../host/host.ts';
import type { InsideFacts } from './inside-facts.ts';

export async function lookAtImages(host: Host): Promise<InsideFacts['images']> {
  const present = await presentImages(host);
  if (present === undefined) return undefined;
  const lists = await Promise.all([sandboxImage(host), staticPodImages(host), controlPlaneImages(host)]);
  const needed = [...new Set(lists.flat())];
  return { needed, missing: needed.filter((image) => !present.has(image)) };
}

async function presentImages(host: Host): Promise<ReadonlySet<string> | undefined> {
  const args = [
    '--address',
    containerdSocket,
    '--connect-timeout',
    '2s',
    '--namespace',
    'k8s.io',
    'images',
    'list',
    '-q',
  ];
  const result = await orElse(undefined, () => host.processes.run('ctr', args, { timeoutMs: 5_000 }));
  if (result?.code !== 0) return undefined;
  return new Set(result.stdout.split('\n').filter((line) => line !== ''));
}

const pinned = z.object({
  plugins: z.object({
    'io.containerd.cri.v1.images': z.object({ pinned_images: z.object({ sandbox: z.string() }) }),
  }),
});

async function sandboxImage(host: Host): Promise<readonly string[]> {
  return orElse([], async () => {
    const read = pinned.safeParse(parseToml(await host.files.readText(containerdConfig)));
    return read.success ? [read.data.plugins['io.containerd.cri.v1.images'].pinned_images.sandbox] : [];
  });
}

const pod = z.object({ spec: z.object({ containers: z.array(z.object({ image: z.string() })) }) });

async function staticPodImages(host: Host): Promise<readonly string[]> {
  const names = await orElse([], async () => (await host.files.list(staticPodFolder)) ?? []);
  const images = names.map((name) =>
    orElse([], async () => {
      const read = pod.safeParse(parseYaml(await host.files.readText(join(staticPodFolder, name))));
      return read.success ? read.data.spec.containers.map(({ image }) => image) : [];
    }),
  );
  return (await Promise.all(images)).flat();
}

/** A machine that has keys of a control plane is going to run one. */
async function controlPlaneImages(host: Host): Promise<readonly string[]> {
  if ((await host.files.facts(controlPlanePki)) === undefined) return [];
  return orElse([], async () => {
    const { etcdImage, kubernetesImage } = await readReleaseFacts(host);
    return [etcdImage, kubernetesImage];
  });
}

/** A file that cannot be read is no fact about images; disks and units are looked at separately. */
async function orElse<T>(instead: T, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof FirstlightError || error instanceof SyntaxError) return instead;
    throw error;
  }
}
