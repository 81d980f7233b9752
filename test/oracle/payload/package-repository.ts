// Repositories of packages, made by the tools of the distributions: a signed one for apt, one for dnf.
import { createReadStream, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';
import { mustRun } from './machine-tree.ts';

export interface SamplePackage {
  readonly name: string;
  readonly version: string;
  /** Path → contents. */
  readonly files?: Readonly<Record<string, string>>;
  /** A script that runs after the installation. */
  readonly afterwards?: string;
}

/** Makes `<folder>/<name>_<version>.deb` and returns its path. */
export function makeDeb(folder: string, { name, version, files = {}, afterwards }: SamplePackage): string {
  const work = join(folder, 'work', `${name}_${version}`);
  mkdirSync(join(work, 'DEBIAN'), { recursive: true });
  writeFileSync(
    join(work, 'DEBIAN/control'),
    `Package: ${name}\nVersion: ${version}\nArchitecture: all\nMaintainer: nobody\nDescription: a sample\n`,
  );
  if (afterwards !== undefined)
    writeFileSync(join(work, 'DEBIAN/postinst'), `#!/bin/sh\n${afterwards}\n`, { mode: 0o755 });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(work, path, '..'), { recursive: true });
    writeFileSync(join(work, path), content);
  }
  const target = join(folder, `${name}_${version}.deb`);
  mustRun('dpkg-deb', ['--build', '--root-owner-group', '-Znone', work, target], folder);
  return target;
}

/** Index and signature of all packages in the folder; the key that apt is to trust is `key.gpg` in it. */
export function signAptRepository(folder: string): void {
  const home = join(folder, 'work/gnupg');
  if (!existsSync(home)) {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    mustRun(
      'gpg',
      ['--homedir', home, '--batch', '--passphrase', '', '--quick-gen-key', 'repository', 'ed25519', 'sign'],
      folder,
    );
    mustRun('gpg', ['--homedir', home, '--batch', '--export', '-o', join(folder, 'key.gpg')], folder);
  }
  mustRun(
    'sh',
    ['-c', 'apt-ftparchive packages . > Packages && apt-ftparchive release . > Release.new && mv Release.new Release'],
    folder,
  );
  mustRun('gpg', ['--homedir', home, '--batch', '--yes', '--clearsign', '-o', 'InRelease', 'Release'], folder);
}

/** Makes an RPM in the folder; `createrepo_c` makes it a repository. */
export function makeRpm(folder: string, { name, version, files = {} }: SamplePackage): string {
  const work = join(folder, 'work');
  mkdirSync(work, { recursive: true });
  const lines = Object.entries(files).map(
    ([path, content]) => `mkdir -p $(dirname %{buildroot}${path})\necho '${content}' > %{buildroot}${path}`,
  );
  const spec = [
    `Name: ${name}\nVersion: ${version}\nRelease: 1\nSummary: sample\nLicense: none\nBuildArch: noarch`,
    '%description\nsample\n%install\nmkdir -p %{buildroot}',
    ...lines,
    '%files',
    ...Object.keys(files),
    '',
  ];
  writeFileSync(join(work, `${name}.spec`), spec.join('\n'));
  const define = ['--define', `_rpmdir ${folder}`, '--define', `_topdir ${work}/top`];
  mustRun('rpmbuild', ['-bb', '--quiet', ...define, `${name}.spec`], work);
  return join(folder, 'noarch', `${name}-${version}-1.noarch.rpm`);
}

export interface RunningRepository extends AsyncDisposable {
  readonly url: string;
  /** While false, every request is answered with 503. */
  setAvailable(isAvailable: boolean): void;
}

/** Serves a folder by HTTP. */
export async function serveRepository(folder: string, address = '127.0.0.1'): Promise<RunningRepository> {
  let isAvailable = true;
  const server = createServer((request, response) => {
    const path = join(folder, normalize(decodeURIComponent(request.url ?? '/')));
    if (!isAvailable) return response.writeHead(503).end();
    if (!existsSync(path) || !statSync(path).isFile()) return response.writeHead(404).end();
    response.writeHead(200, { 'content-length': statSync(path).size });
    return createReadStream(path).pipe(response);
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  const { port } = server.address() as { port: number };
  return {
    url: `http://${address}:${port}`,
    setAvailable: (value) => (isAvailable = value),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** The line of sources.list, and the key beside it. */
export function aptSource(url: string): string {
  return `deb [signed-by=/etc/apt/ipb.gpg] ${url} ./\n`;
}

export function aptKey(folder: string): Buffer {
  return readFileSync(join(folder, 'key.gpg'));
}
