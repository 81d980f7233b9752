// The upstream parts, read from the table beside their Go modules. The table is the only place with a version, a flag
// or a licence of a part; this file owns its schema.
import { join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../../host/host.ts';
import { type Digest, digestOf, digestOfRecord } from '../../workflow/digest.ts';
import { releaseErrors } from '../errors.ts';

const fileName = z.string().regex(/^[a-z0-9][a-z0-9.-]*$/);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower case');

const binarySchema = z.strictObject({
  file: fileName,
  /** The argument of `go build`: a package of the part's module or of a required module. */
  package: z.string().min(1),
  /** Other names of the binary, which behaves by the name under which it is called. */
  links: z.array(fileName),
});

const partSchema = z
  .strictObject({
    name: fileName,
    /** Installed by a release, only compared in benchmarks, or only used by tests. */
    use: z.enum(['release', 'benchmark', 'test']),
    /** The folder of its Go module beside the table. */
    module: fileName,
    source: z.string(),
    version: z.string(),
    licence: z.string(),
    binaries: z.array(binarySchema).min(1),
    cgo: z.boolean(),
    ldflags: z.array(z.string()),
    tags: z.array(z.string()),
    debianPackages: z.array(z.string()),
    estimateSeconds: z.number().nonnegative(),
    order: z.number(),
    /** SHA-256 of what upstream publishes of this version: architecture → name of the file → digest. */
    published: z.record(z.string(), z.record(z.string(), sha256)).optional(),
  })
  .refine((part) => part.binaries.length === 1 || part.binaries.every((b) => b.package.split('/').at(-1) === b.file), {
    message: 'a part with several binaries names each after the last word of its package',
  });
export type Part = z.infer<typeof partSchema>;

const tableSchema = z.strictObject({
  $schema: z.string().optional(),
  /** The oldest Go that builds every part. */
  go: z.string().regex(/^\d+\.\d+(\.\d+)?$/),
  /** Flags of every `go build`. */
  flags: z.array(z.string()),
  parts: z.array(partSchema).min(1),
});

export interface PartsTable extends z.infer<typeof tableSchema> {
  /** The folder with the table and the modules, absolute. */
  readonly folder: string;
}

export async function readParts(host: Host, folder: string): Promise<PartsTable> {
  const path = join(folder, 'parts.json');
  const bytes = await host.files.readIfPresent(path);
  if (bytes === undefined) throw releaseErrors.NO_SOURCES({ path });
  const table = tableSchema.safeParse(parseJson(path, bytes));
  if (!table.success) throw releaseErrors.BAD_TABLE({ path, reason: z.prettifyError(table.error) });
  const parts = [...table.data.parts].sort((a, b) => a.order - b.order);
  return { ...table.data, parts, folder };
}

function parseJson(path: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch (error) {
    throw releaseErrors.BAD_TABLE({ path, reason: (error as Error).message }, { cause: error });
  }
}

/** Digest of a part's module: go.mod, go.sum and our sources, without tests and notes, which change no binary. */
export async function digestOfModule(host: Host, folder: string): Promise<Digest> {
  const found: Record<string, string> = {};
  const visit = async (path: string): Promise<void> => {
    for (const name of (await host.files.list(join(folder, path))) ?? []) {
      const inner = join(path, name);
      const facts = await host.files.facts(join(folder, inner));
      if (facts?.kind === 'folder') await visit(inner);
      else if (!/(_test\.go|\.md)$/.test(name)) found[inner] = digestOf(await host.files.read(join(folder, inner)));
    }
  };
  await visit('');
  return digestOfRecord(found);
}
