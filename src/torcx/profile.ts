// Profile manifests: the images and versions that a boot unpacks. Edits follow torcx: the kind of the file is kept, an
// empty file counts as v1, other entries keep their place, the JSON is compact.
import { z } from 'zod';

const imageSchemas = {
  'profile-manifest-v0': z.object({ name: z.string(), reference: z.string() }),
  'profile-manifest-v1': z.object({ name: z.string(), reference: z.string(), remote: z.string().optional() }),
} as const;
type Kind = keyof typeof imageSchemas;

export interface Profile {
  readonly kind: Kind;
  readonly images: readonly {
    readonly name: string;
    readonly reference: string;
    readonly remote?: string | undefined;
  }[];
}

const manifestSchema = <K extends Kind>(kind: K) =>
  z.object({ kind: z.literal(kind), value: z.object({ images: z.array(imageSchemas[kind]).nullable() }) });
const schema = z.union([manifestSchema('profile-manifest-v1'), manifestSchema('profile-manifest-v0')]);

/** Throws a plain Error if the text is not a profile. */
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

/**
 * The profile with that image; an entry of the same name is replaced in place. Like torcx, an edit drops the remote.
 */
export function withImage(profile: Profile, name: string, reference: string): Profile {
  const entry = profile.kind === 'profile-manifest-v1' ? { name, reference, remote: '' } : { name, reference };
  const isThere = profile.images.some((image) => image.name === name);
  const images = isThere
    ? profile.images.map((image) => (image.name === name ? entry : image))
    : [...profile.images, entry];
  return { ...profile, images };
}
