// A machine lacks an image that its pods need.
import type { DiagnosisCheck } from '../check.ts';

export const imageMissing: DiagnosisCheck = {
  name: 'image-missing',
  why: 'A pod whose image is not on the machine does not start, and nothing can fetch it where there is no registry.',
  looksAt: 'images that the static pods and the control plane of the machine need, against those in its containerd',
  certainty: 'measured',
  find: ({ machines }) =>
    machines.flatMap(({ name, inside }) =>
      (inside?.images?.missing ?? []).map((image) => ({
        machine: name,
        sentence: `the image ${shortReference(image)} is missing on ${name}`,
        seen: `containerd of ${name} has no ${image}`,
        next: { verb: 'machine exec', rest: `${name} -- ctr -n k8s.io images list -q` },
      })),
    ),
};

/** Shows the first twelve of the 64 digits of a digest. */
function shortReference(image: string): string {
  return image.replace(/@sha256:([0-9a-f]{12})[0-9a-f]+$/, '@sha256:$1…');
}
