// What the process was started with: variables, folders, identity. Read once, never changed.
export interface Environment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly workingFolder: string;
  readonly homeFolder: string;
  readonly temporaryFolder: string;
  readonly hostname: string;
  readonly pid: number;
  readonly uid: number;
  /** `x64` or `arm64`, as Node names them. */
  readonly architecture: string;
  readonly cpuCount: number;
  readonly memoryBytes: number;
  /** The Node binary and the program file, with which another process of Firstlight can be started. */
  readonly nodePath: string;
  readonly programPath: string;
}
