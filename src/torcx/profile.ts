// Profile manifests: which image of which version a boot unpacks. Edited the way torcx does: the kind of the file is
// kept, an empty file counts as v1, other entries stay where they are, the result is compact.
import { z } from 'zod';

const boxes = {
  'profile-manifest-v0': z.object({ name: z.string(), reference: z.string() }),
  'profile-manifest-v1': z.object({ name: z.string(), reference: z.string(), remote: z.string().optional() }),
} as const;
type Kind = keyof typeof boxes;

export interface Profile {
  readonly kind: Kind;
  readonly images: readonly {
    readonly name: string;
    readonly reference: string;
    readonly remote?: string | undefined;
  }[];
}

const box = <K extends Kind>(kind: K) =>
  z.object({ kind: z.literal(kind), value: z.object({ images: z.array(boxes[kind]).nullable() }) });
const schema = z.union([box('profile-manifest-v1'), box('profile-manifest-v0')]);

/** Throws a plain Error where the text is no profile. */
export function parseProfile(text: string): Profile {
  if (text.trim() === '') return { kind: 'profile-manifest-v1', images: [] };
  const result = schema.safeParse(JSON.parse(text));
  if (!result.success) throw new Error('it is not a profile manifest of version 0 or 1');
  return { kind: result.data.kind, images: result.data.value.images ?? [] };
}

export function formatProfile({ kind, images }: Profile): string {
  return JSON.stringify({ kind, value: { images } });
}

export const emptyProfile: Profile = { kind: 'profile-manifest-v0', images: [] };

/** The profile with that image; an entry of the same name is replaced in place. An edit drops a remote, as torcx does. */
export function withImage(profile: Profile, name: string, reference: string): Profile {
  const entry = profile.kind === 'profile-manifest-v1' ? { name, reference, remote: '' } : { name, reference };
  const isThere = profile.images.some((image) => image.name === name);
  const images = isThere
    ? profile.images.map((image) => (image.name === name ? entry : image))
    : [...profile.images, entry];
  return { ...profile, images };
}
