// What Node needs of a Debian to start: the libraries and the loader that our image has, by which a copy of the program
// runs on a machine where nothing is installed.

interface LibraryPlace {
  /** Where Debian has the libraries, with the loader among them. */
  readonly folder: string;
  readonly loader: string;
  /** Where programs look for the loader. */
  readonly loaderFolder: string;
}

/** By the architecture that Node names. */
const libraryPlaces: Readonly<Record<string, LibraryPlace>> = {
  x64: { folder: '/usr/lib/x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2', loaderFolder: '/usr/lib64' },
  arm64: { folder: '/usr/lib/aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1', loaderFolder: '/usr/lib' },
};

/** An architecture that is not in the table gets paths where nothing is. */
export function libraryPlace(architecture: string): LibraryPlace {
  return libraryPlaces[architecture] ?? { folder: '/usr/lib', loader: 'ld.so', loaderFolder: '/usr/lib' };
}

/** The list of `readelf -d node`; without one of them the program does not start. */
export const programLibraries: readonly string[] = [
  'libatomic.so.1',
  'libc.so.6',
  'libdl.so.2',
  'libgcc_s.so.1',
  'libm.so.6',
  'libpthread.so.0',
  'libstdc++.so.6',
];
